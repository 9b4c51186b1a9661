"""A Prometheus on loopback, for as long as a block lasts; it needs no cluster."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.cluster.lab import packages
from tests.cluster.lab.build import CACHE
from tests.cluster.lab.prometheus import Prometheus
from tests.cluster.lab.shell import ClusterError, die_with_parent, wait
from tests.fakes.ports import free_port
from tests.monitoring.rules import rules

PROGRAMS = ("prometheus", "promtool")
SELECTOR = re.compile(r"\b(?:agentbench|process|scrape)_\w+(?:\{[^}]*\})?")
_WORDS = {"$__rate_interval": "5s"} | dict.fromkeys(
    ("$campaign_namespace", "$campaign", "$stack", "$agent"), ".*"
)


def find_programs() -> dict[str, Path]:
    """Prometheus and promtool: those of the machine, or Debian's, unpacked into the cache.

    Raises:
        pytest.skip.Exception: there are none, and none can be had; CLUSTER=required fails instead.
    """
    found = {name: Path(path) for name in PROGRAMS if (path := shutil.which(name))}
    if len(found) == len(PROGRAMS):
        return found
    try:
        folder = packages.unpack("prometheus", CACHE)
    except (ClusterError, OSError) as error:
        if os.environ.get("CLUSTER") == "required":
            pytest.fail(f"no Prometheus: {error}", pytrace=False)
        pytest.skip(f"no Prometheus: {error}")
    return {Path(program).name: folder / program for program in packages.UNPACKED["prometheus"]}


def filled(query: str) -> str:
    """A dashboard's query as Grafana sends it with All chosen everywhere."""
    for word, value in _WORDS.items():
        query = query.replace(word, value)
    return query


@contextmanager
def prometheus(
    programs: Mapping[str, Path], folder: Path, target: str, interval: str = "200ms"
) -> Iterator[Prometheus]:
    """Run Prometheus with the chart's rules; it scrapes one `host:port`."""
    port = free_port()
    config = {
        "global": {"scrape_interval": interval, "evaluation_interval": "1s"},
        "rule_files": [str(folder / "alerts.yaml")],
        "scrape_configs": [
            {"job_name": "agent-bench", "static_configs": [{"targets": [target]}]},
        ],
    }
    (folder / "alerts.yaml").write_text(rules())
    (folder / "prometheus.yml").write_text(json.dumps(config))  # JSON is YAML
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [
                programs["prometheus"], f"--config.file={folder}/prometheus.yml",
                f"--storage.tsdb.path={folder}/data", f"--web.listen-address=127.0.0.1:{port}",
            ],
            stdout=log, stderr=log, preexec_fn=die_with_parent,
        )  # fmt: skip
    one = Prometheus(f"http://127.0.0.1:{port}")
    try:
        wait("Prometheus", one.ready, 60, hint=f"see {folder}/log")
        wait("the first scrape", lambda: bool(one.query("agentbench_build_info")), 30)
        yield one
    finally:
        process.kill()
        process.wait(10)
