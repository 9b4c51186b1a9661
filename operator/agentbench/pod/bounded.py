"""What a process prints, kept within bounds however much it is."""

import asyncio
import contextlib
import os
from collections import deque

HEAD = 64 * 1024
TAIL = 192 * 1024
_CHUNK = 1 << 16


class BoundedLog:
    """The first 64 KiB and the last 192 KiB of what was printed; what lies between is counted."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self.total = 0

    def add(self, chunk: bytes) -> None:
        """Take what was printed next."""
        self.total += len(chunk)
        room = HEAD - len(self._head)
        self._head += chunk[:room]
        rest = chunk[room:] if room < len(chunk) else b""
        if rest:
            self._tail.append(rest)
            self._tail_size += len(rest)
        while self._tail_size - len(self._tail[0] if self._tail else b"") > TAIL:
            self._tail_size -= len(self._tail.popleft())

    def content(self) -> bytes:
        """What is kept, with a line that says how much is not."""
        tail = b"".join(self._tail)[-TAIL:]
        left_out = self.total - len(self._head) - len(tail)
        gap = b"\n[%d bytes left out]\n" % left_out if left_out else b""
        return bytes(self._head) + gap + tail

    def text(self, last: int = 4000) -> str:
        """The last characters of what is kept, for an error message."""
        return self.content()[-last:].decode("utf-8", "replace").strip()


class LogPipe:
    """A pipe that a process writes to and that is read into a BoundedLog."""

    def __init__(self, log: BoundedLog) -> None:
        self.log = log
        self._read_end, self.write_end = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._read_end, False)
        asyncio.get_running_loop().add_reader(self._read_end, self._read)

    def started(self) -> None:
        """Close our copy of the write end: the process has its own."""
        os.close(self.write_end)
        self.write_end = -1

    def close(self) -> None:
        """Read what is still there, and stop: a daemon may hold the pipe open for ever."""
        if self.write_end >= 0:
            self.started()
        if self._read_end >= 0:
            for _ in range(64):
                if not self._read():
                    break
            self._stop()

    def _read(self) -> bool:
        if self._read_end < 0:
            return False
        with contextlib.suppress(BlockingIOError):
            chunk = os.read(self._read_end, _CHUNK)
            if chunk:
                self.log.add(chunk)
                return True
            self._stop()
        return False

    def _stop(self) -> None:
        if self._read_end >= 0:
            asyncio.get_running_loop().remove_reader(self._read_end)
            os.close(self._read_end)
            self._read_end = -1
