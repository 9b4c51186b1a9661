"""The programs that are built beside other tests: ended early, they leave nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.cluster.lab import slot
from tests.cluster.lab.ahead import Ahead
from tests.cluster.lab.handle import Cluster
from tests.cluster.lab.shell import wait


def test_a_build_that_nobody_waits_for_leaves_no_process_and_no_folder(
    real_cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLUSTER_CACHE", str(tmp_path))  # nothing is there yet: all is to be built
    ahead = Ahead()
    folder = slot.ROOT / f"build-{ahead.pid}"
    try:
        wait("a compiler", lambda: len(members(ahead.pid)) > 1 and folder.exists(), 60)
    finally:
        ahead.end()
    wait("every process to be gone", lambda: not members(ahead.pid), 10)
    assert not folder.exists()


def members(group: int) -> list[int]:
    """The processes of a group."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if os.getpgid(int(path.name)) == group:
                found.append(int(path.name))
        except ProcessLookupError:
            continue
    return found
