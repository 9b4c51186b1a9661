"""Carries connections between a sandbox's loopback and sockets outside of it."""

import asyncio
import contextlib
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

from agentbench.local.sandbox import Sandbox

_CHUNK = 1 << 16
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Connect = Callable[[], Awaitable[Streams | None]]


class Forwards:
    """Open forwards; closing ends them and every connection through them."""

    def __init__(self) -> None:
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def to_unix(self, listening: socket.socket, path: Path) -> None:
        """Carry what arrives on a sandbox's socket to a Unix socket."""

        async def connect() -> Streams | None:
            try:
                return await asyncio.open_unix_connection(str(path))
            except OSError:
                return None

        await self._serve(listening, connect)

    async def into(self, sandbox: Sandbox, port: int) -> int:
        """Listen on the machine's loopback for a port of the sandbox's; returns our port."""

        async def connect() -> Streams | None:
            connected = await sandbox.connect(port)
            return None if connected is None else await asyncio.open_connection(sock=connected)

        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listening.bind(("127.0.0.1", 0))
        ours = int(listening.getsockname()[1])
        await self._serve(listening, connect)
        return ours

    async def close(self) -> None:
        """End them all."""
        for server in self._servers:
            server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, listening: socket.socket, connect: Connect) -> None:
        async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            self._tasks.add(task)
            try:
                await _carry((reader, writer), connect)
            except asyncio.CancelledError:
                # Closing is the ordinary end of a connection that is still open.
                return
            finally:
                self._tasks.discard(task)
                writer.close()

        self._servers.append(await asyncio.start_server(carry, sock=listening))


async def _carry(near: Streams, connect: Connect) -> None:
    far = await connect()
    if far is None:
        return
    try:
        await asyncio.gather(_pump(near[0], far[1]), _pump(far[0], near[1]))
    finally:
        far[1].close()


async def _pump(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while chunk := await source.read(_CHUNK):
            target.write(chunk)
            await target.drain()
        if target.can_write_eof():
            target.write_eof()
