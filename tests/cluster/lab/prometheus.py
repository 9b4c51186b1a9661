"""Debian's Prometheus and promtool, unpacked beside the cluster."""

from __future__ import annotations

import json
import os
import signal
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cluster.lab import cgroups, kube
from tests.cluster.lab.shell import alive, run, wait, write
from tests.cluster.lab.slot import Slot

PORT = 9090


@dataclass(frozen=True)
class Prometheus:
    """A running Prometheus."""

    url: str

    def query(self, expression: str) -> list[dict[str, Any]]:
        """The result of an instant query."""
        found: list[dict[str, Any]] = self._get("query", query=expression)["result"]
        return found

    def alerts(self) -> list[dict[str, Any]]:
        """The alerts that are pending or firing."""
        found: list[dict[str, Any]] = self._get("alerts")["alerts"]
        return found

    def rules(self) -> list[dict[str, Any]]:
        """Every rule that it has loaded, with the error of its last evaluation."""
        groups: list[dict[str, Any]] = self._get("rules")["groups"]
        return [rule for group in groups for rule in group["rules"]]

    def ready(self) -> bool:
        """Whether it answers."""
        try:
            with urllib.request.urlopen(f"{self.url}/-/ready", timeout=2) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def _get(self, what: str, **words: str) -> Any:
        query = urllib.parse.urlencode(words)
        with urllib.request.urlopen(f"{self.url}/api/v1/{what}?{query}", timeout=10) as answer:
            return json.load(answer)["data"]


def promtool(slot: Slot, *words: object) -> str:
    """Run promtool and return what it printed.

    Raises:
        CommandError: it found something wrong.
    """
    return run(kube.linked_programs(slot)["promtool"], *words)


@contextmanager
def prometheus(
    slot: Slot,
    targets: Sequence[str],
    rules: Sequence[Path] = (),
    scrape: Mapping[str, object] | None = None,
) -> Iterator[Prometheus]:
    """Run Prometheus on the machine while the block lasts, scraping `host:port` targets.

    It reaches pods by their addresses and processes of the machine, once a second.
    """
    folder = slot.folder / "prometheus"
    job = {
        "job_name": "agent-bench",
        "static_configs": [{"targets": list(targets)}],
        **(scrape or {}),
    }
    config = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(path.resolve()) for path in rules],
        "scrape_configs": [job],
    }
    # JSON is YAML.
    path = write(folder / "prometheus.yml", config)
    promtool(slot, "check", "config", path)
    address = f"{slot.host_ip}:{PORT}"
    pid = cgroups.start(
        slot, "tests", "prometheus", [], kube.linked_programs(slot)["prometheus"],
        f"--config.file={path}", f"--storage.tsdb.path={folder}/data",
        f"--web.listen-address={address}",
    )  # fmt: skip
    try:
        one = Prometheus(f"http://{address}")
        wait("Prometheus", one.ready, 60, hint=f"see {slot.logs}/prometheus.log")
        yield one
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(pid, 0)
        wait("the end of Prometheus", lambda: not alive(pid), 10)
        run("rm", "-rf", folder)
