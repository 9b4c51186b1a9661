"""One engine on one store at a time."""

import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class EngineBusy(RuntimeError):
    """Another engine works on this store; the message names it."""


@contextmanager
def engine_lock(path: Path, campaign: str, started_at: str) -> Iterator[None]:
    """Hold the store for this engine.

    The kernel lets go of the lock when its owner dies, however it dies: no lock is ever stale.

    Raises:
        EngineBusy: a living engine holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise EngineBusy(_busy(path)) from None
        owner = {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "campaign": campaign,
            "startedAt": started_at,
        }
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(owner).encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _busy(path: Path) -> str:
    try:
        owner = json.loads(path.read_bytes())
        who = (
            f"process {owner['pid']} on {owner['host']}, campaign {owner['campaign']}, "
            f"since {owner['startedAt']}"
        )
    except (OSError, ValueError, KeyError, TypeError):
        who = "another process"
    return (
        f"another engine works on the store of {path}: {who}. Wait until it has ended, or use "
        "another store"
    )
