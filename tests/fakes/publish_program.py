"""Publishes a campaign and is killed at a write.

    python -m tests.fakes.publish_program ENDPOINT BUCKET WRITE

`WRITE` counts from 0; the process dies before it, as by a power cut. The count of all writes is
printed by a process that lives.
"""

import os
import signal
import sys
import threading
from datetime import UTC, datetime

from tests.cluster.lab import stores
from tests.fakes.published import NAME

from agentbench.app.publishing import Publisher
from agentbench.store.port import Put
from agentbench.store.s3 import S3Store, connect


class Mortal(S3Store):
    """A store whose caller does not live to see a certain write."""

    writes = 0
    last = -1
    lock = threading.Lock()

    def create_only(self, key: str, content: bytes) -> Put:
        self._count()
        return super().create_only(key, content)

    def compare_and_swap(self, key: str, content: bytes, expected: str | None) -> str:
        self._count()
        return super().compare_and_swap(key, content, expected)

    def _count(self) -> None:
        with self.lock:
            if self.writes == self.last:
                os.kill(os.getpid(), signal.SIGKILL)
            self.writes += 1


def main(endpoint: str, bucket: str, write: str) -> None:
    store = connect(
        bucket=bucket,
        endpoint=endpoint,
        access_key=stores.ACCESS_KEY,
        secret_key=stores.SECRET_KEY,
    )
    store.__class__ = Mortal
    assert isinstance(store, Mortal)
    store.last = int(write)
    Publisher(store, NAME, "1", lambda: datetime.now(tz=UTC)).publish()
    print(store.writes)


if __name__ == "__main__":
    main(*sys.argv[1:])
