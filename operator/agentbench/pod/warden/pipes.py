"""A pipe whose reader stops when its process has ended, even if a daemon still holds it open."""

import asyncio
import os
from collections.abc import AsyncIterator
from typing import Any

CHUNK = 1 << 16


class OutputPipe:
    """One output of a process. What a daemon writes after the process's end is thrown away."""

    def __init__(self) -> None:
        read_end, self.write_end = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(read_end, False)
        self._read_end: int | None = read_end
        self._write_open = True

    def close_write_end(self) -> None:
        """Close our copy of the write end, once the process has its own."""
        if self._write_open:
            self._write_open = False
            os.close(self.write_end)

    def close(self) -> None:
        """Close both ends: whoever still writes gets a broken pipe."""
        self.close_write_end()
        if self._read_end is not None:
            asyncio.get_running_loop().remove_reader(self._read_end)
            os.close(self._read_end)
            self._read_end = None

    async def chunks(self, exited: asyncio.Future[Any]) -> AsyncIterator[bytes]:
        """The bytes written so far and from now on, until `exited` is done and none is left."""
        while self._read_end is not None:
            # Asked before the read: whatever the process wrote is then in the pipe.
            ended = exited.done()
            try:
                chunk = os.read(self._read_end, CHUNK)
            except BlockingIOError:
                if ended:
                    self._discard_the_rest(self._read_end)
                    return
                await self._readable(self._read_end, exited)
                continue
            if not chunk:
                return
            yield chunk
            await asyncio.sleep(0)

    async def _readable(self, read_end: int, exited: asyncio.Future[Any]) -> None:
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()

        def wake(*_: object) -> None:
            if not ready.done():
                ready.set_result(None)

        loop.add_reader(read_end, wake)
        exited.add_done_callback(wake)
        try:
            await ready
        finally:
            exited.remove_done_callback(wake)
            loop.remove_reader(read_end)

    def _discard_the_rest(self, read_end: int) -> None:
        loop = asyncio.get_running_loop()

        def discard() -> None:
            try:
                if not os.read(read_end, CHUNK):
                    loop.remove_reader(read_end)
            except BlockingIOError:
                pass

        loop.add_reader(read_end, discard)
