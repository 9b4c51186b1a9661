"""The S3 stores of the cluster: versitygw, and SeaweedFS as the second opinion."""

from __future__ import annotations

import json
import os
import signal
import urllib.error
import urllib.request
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.lab import cgroups
from tests.cluster.lab.kube import Programs
from tests.cluster.lab.network import within
from tests.cluster.lab.shell import alive, wait, write
from tests.cluster.lab.slot import Slot

ACCESS_KEY = "agentbench-test"
SECRET_KEY = "not-a-secret-of-anyone"
VERSITYGW, SEAWEEDFS = "versitygw", "seaweedfs"


@dataclass(frozen=True)
class Store:
    """An S3 server of the cluster.

    Attributes:
        name: `versitygw` or `seaweedfs`.
        ip: its address, by which NetworkPolicies name it.
        port: its port.
    """

    slot: Slot
    name: str
    ip: str
    port: int

    @property
    def endpoint(self) -> str:
        """The URL that S3 clients take, inside the cluster and on the machine."""
        return f"http://{self.ip}:{self.port}"

    @property
    def folder(self) -> Path:
        """Where it keeps its objects."""
        return self.slot.folder / self.name

    def start(self, programs: Programs) -> None:
        """Start it, or start it again with what it had, and wait until it takes connections."""
        data = self.folder / "data"
        data.mkdir(parents=True, exist_ok=True)
        pid = cgroups.start(
            self.slot,
            "store",
            self.name,
            within(self.slot.store_netns),
            *self._command(programs, data),
        )
        write(self.folder / "pid", str(pid))
        log = f"see {self.slot.logs}/{self.name}.log"
        wait(f"the S3 store {self.name}", self.answers, seconds=90, hint=log)

    def kill(self) -> None:
        """Kill it at once, as a crash would; what it acknowledged must be there afterwards."""
        pid = int((self.folder / "pid").read_text())
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        wait(f"the end of {self.name}", lambda: not alive(pid), seconds=10)

    def answers(self) -> bool:
        """Whether it answers HTTP requests."""
        try:
            with urllib.request.urlopen(self.endpoint, timeout=2):
                return True
        except urllib.error.HTTPError as error:
            return error.code < 500
        except (TimeoutError, OSError):
            return False

    def _command(self, programs: Programs, data: Path) -> list[object]:
        address = f"{self.ip}:{self.port}"
        if self.name == VERSITYGW:
            return [
                programs["versitygw"], "--access", ACCESS_KEY, "--secret", SECRET_KEY,
                "--port", address, "--quiet", "posix", data,
            ]  # fmt: skip
        keys = [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}]
        actions = ["Admin", "Read", "Write", "List", "Tagging"]
        identity = {"name": "test", "credentials": keys, "actions": actions}
        config = write(self.folder / "s3.json", json.dumps({"identities": [identity]}))
        # Each bucket takes several volumes: the default of 8 would do for one bucket.
        return [
            programs["weed"], "server", "-volume.max=2000", "-s3", f"-dir={data}", f"-ip={self.ip}",
            f"-s3.port={self.port}", f"-s3.config={config}", "-master.volumeSizeLimitMB=64",
        ]  # fmt: skip


def versitygw(slot: Slot) -> Store:
    """The store that is always there."""
    return Store(slot, VERSITYGW, slot.store_ip, 9000)


def seaweedfs(slot: Slot) -> Store:
    """The second store, with CLUSTER_SEAWEEDFS=on."""
    return Store(slot, SEAWEEDFS, slot.store_ip, 8333)
