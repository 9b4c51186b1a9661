"""Builds the cluster's programs while other tests run, out of the time that they leave over."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from tests.cluster.lab import kube, slot
from tests.cluster.lab.shell import die_with_parent

_LEAST = 19
"""The weakest claim to a processor: no test waits for a compiler."""


class Ahead:
    """A build that goes on beside the tests; it tells nothing, for the cluster's start does."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            ["nice", "-n", str(_LEAST), sys.executable, "-m", "tests.cluster.lab.cli", "build"],
            cwd=slot.SOURCE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True, preexec_fn=die_with_parent,
        )  # fmt: skip

    @property
    def pid(self) -> int:
        """Its process, which leads the group of its compilers."""
        return self._process.pid

    def wait(self) -> None:
        """Return when it has ended, however it did."""
        self._process.wait()

    def end(self) -> None:
        """End it with its compilers, and remove what it was at."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        kube.discard(slot.ROOT / f"build-{self._process.pid}")
