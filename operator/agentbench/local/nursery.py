"""The nursery: a process with everything loaded, from which keepers are forked in milliseconds.

    python -m agentbench.local.nursery

Its standard input is a stream socket; each line asks for one keeper, and is answered with its pid:

    {"folder": "/…/attempts/R1.1", "key": "…"}   ->   {"pid": 4711}

It ends when the socket closes; the keepers stay.
"""

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Any

from agentbench.local.keeper import become_keeper


class NurseryError(RuntimeError):
    """The nursery did not start a keeper; the message has its last words."""


class Nursery:
    """The engine's end of a nursery."""

    def __init__(self, process: asyncio.subprocess.Process, sock: socket.socket) -> None:
        self._process = process
        self._sock = sock
        self._lock = asyncio.Lock()

    @classmethod
    async def start(cls) -> "Nursery":
        """Start a nursery; it needs a moment until the first keeper."""
        ours, theirs = socket.socketpair()
        with theirs:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "agentbench.local.nursery"),
                stdin=theirs.fileno(),
                stdout=asyncio.subprocess.DEVNULL,
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )
        ours.setblocking(False)
        return cls(process, ours)

    async def keeper(self, folder: Path, key: str) -> int:
        """Start the keeper of an attempt and return its pid; NurseryError if that fails."""
        loop = asyncio.get_running_loop()
        line = json.dumps({"folder": str(folder), "key": key}).encode() + b"\n"
        async with self._lock:
            answer = b""
            try:
                await loop.sock_sendall(self._sock, line)
                while not answer.endswith(b"\n"):
                    chunk = await loop.sock_recv(self._sock, 4096)
                    if not chunk:
                        break
                    answer += chunk
            except OSError as error:
                raise NurseryError(f"the nursery is gone: {error.strerror}") from error
        if not answer:
            raise NurseryError("the nursery ended by itself: see what it printed above")
        return int(json.loads(answer)["pid"])

    async def close(self) -> None:
        """End the nursery; its keepers stay."""
        self._sock.close()
        await self._process.wait()


def _fork_keeper(asked: dict[str, Any], sock: socket.socket) -> int:
    """Fork twice, so that the keeper descends from no engine; returns its pid."""
    report, told = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        keeper = os.fork()
        if keeper == 0:
            become_keeper(Path(asked["folder"]), str(asked["key"]))
        os.write(told, str(keeper).encode())
        os._exit(0)
    os.close(told)
    with os.fdopen(report, "rb") as reading:
        pid = int(reading.read())
    os.waitpid(child, 0)
    return pid


def main() -> None:
    """Serve until the socket closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A keeper that is told to stop before it can listen must not miss it, nor die of it.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    with socket.socket(fileno=0) as sock, contextlib.suppress(ConnectionError):
        requests = sock.makefile("rb")
        while line := requests.readline():
            pid = _fork_keeper(json.loads(line), sock)
            sock.sendall(json.dumps({"pid": pid}).encode() + b"\n")
        requests.close()


if __name__ == "__main__":
    main()
