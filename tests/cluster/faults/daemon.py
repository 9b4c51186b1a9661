"""Fault proxies: processes in the cluster's network that are told over HTTP what to do."""

from __future__ import annotations

import json
import os
import signal
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from tests.cluster.lab import cgroups
from tests.cluster.lab.network import within
from tests.cluster.lab.shell import ClusterError, alive, wait
from tests.cluster.lab.slot import SOURCE, Slot

ADMIN_PORT = 9999


@dataclass(frozen=True)
class Remote:
    """A running fault proxy, as the tests see it."""

    slot: Slot
    name: str
    ip: str
    pid: int

    def order(self, verb: str, /, **words: object) -> Any:
        """Tell the proxy something and return its answer.

        Raises:
            ClusterError: it does not answer, or does not understand.
        """
        url = f"http://{self.ip}:{ADMIN_PORT}/{verb}"
        request = urllib.request.Request(url, json.dumps(words).encode(), method="POST")
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return json.load(answer)
        except (OSError, ValueError) as error:
            log = self.slot.logs / f"{self.name}.log"
            raise ClusterError(f"{self.name} does not obey: {error}; see {log}") from error

    def answers(self) -> bool:
        """Whether the proxy takes orders."""
        try:
            self.order("ping")
        except ClusterError:
            return False
        return True


@contextmanager
def running(slot: Slot, module: str, ip: str, **settings: str | int) -> Iterator[Remote]:
    """Run `tests.cluster.MODULE` in the cluster's network while the block lasts."""
    name = module.rpartition(".")[2]
    words: Mapping[str, str | int] = {"listen": ip, "admin_port": ADMIN_PORT, **settings}
    pid = cgroups.start(
        slot, "tests", name, within(slot.store_netns), sys.executable,
        "-m", f"tests.cluster.{module}", json.dumps(words), cwd=SOURCE,
    )  # fmt: skip
    remote = Remote(slot, name, ip, pid)
    try:
        log = slot.logs / f"{name}.log"
        wait(f"{module}", remote.answers, 30, hint=f"see {log}")
        yield remote
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(pid, 0)
        wait(f"the end of {module}", lambda: not alive(pid), 10)
