"""What a failed test shows of the cluster."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.cluster.lab import slot
from tests.cluster.lab.handle import Cluster

_CONFTEST = "from tests.cluster.conftest import *\n"
_TEST = """
def test_that_fails(real_cluster, namespace):
    labels = {"app.kubernetes.io/name": "agent-bench"}
    script = ["sh", "-c", "echo the-operators-own-words; exec sleep 600"]
    real_cluster.run(namespace, "operator", script, "busybox", labels=labels)
    real_cluster.wait_phase(namespace, "operator", "Running")
    assert False, "planted"
"""


def test_a_failure_shows_pods_events_and_the_operators_log(
    real_cluster: Cluster, tmp_path: Path
) -> None:
    (tmp_path / "conftest.py").write_text(_CONFTEST)
    (tmp_path / "test_planted.py").write_text(_TEST)
    words = [
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
        "-c", "pyproject.toml", "--rootdir", ".", str(tmp_path / "test_planted.py"),
    ]  # fmt: skip
    env = {**os.environ, "PYTHONPATH": str(slot.SOURCE), "CLUSTER": "required"}
    done = subprocess.run(
        words, cwd=slot.SOURCE, env=env, text=True, capture_output=True, check=False, timeout=200
    )
    assert "1 failed" in done.stdout
    for shown in ("the cluster", "pod/operator", "Started container", "the-operators-own-words"):
        assert shown in done.stdout, shown
    assert real_cluster.kubectl("get", "--raw", "/readyz") == "ok"
