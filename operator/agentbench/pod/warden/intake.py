"""Takes in connections and request bodies, within bounds of each and of all together.

An agent that sends many large requests at once is told to try again; it cannot use up the memory
or the file descriptors of the warden that meters it.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import web

from agentbench.core.model_request import RequestFault
from agentbench.core.provider_errors import Fault
from agentbench.pod.warden.courier import ProxyLimits

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class Intake:
    """Holds the bodies of the requests that are being served."""

    def __init__(self, limits: ProxyLimits) -> None:
        self._limits = limits
        self._held = 0

    @asynccontextmanager
    async def body(self, request: web.BaseRequest) -> AsyncIterator[bytes]:
        """The request's body as it came, held until the block is left.

        Raises:
            RequestFault: it is over the limit, or there is no room for it now.
        """
        taken = 0
        try:
            self._check(request.content_length or 0, 0)
            if request.headers.get("expect", "").lower() == "100-continue":
                await request.writer.write(CONTINUE)
            pieces: list[bytes] = []
            while piece := await _next(request):
                self._check(taken + len(piece), len(piece))
                taken += len(piece)
                self._held += len(piece)
                pieces.append(piece)
            yield b"".join(pieces)
        finally:
            self._held -= taken

    def _check(self, size: int, more: int) -> None:
        if size > self._limits.body:
            raise RequestFault(
                Fault.TOO_LARGE, f"the request body has more than {self._limits.body} bytes"
            )
        if self._held + (more or size) > self._limits.buffered:
            raise RequestFault(
                Fault.OVERLOADED, f"requests of {self._held} bytes are held already: try again"
            )


async def _next(request: web.BaseRequest) -> bytes:
    try:
        return await request.content.readany()
    except (ConnectionError, web.RequestPayloadError) as error:
        raise RequestFault(Fault.BAD_REQUEST, f"the request broke off: {error}") from None


class _TurnedAway(asyncio.Protocol):
    """Closes a connection at once."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Close it."""
        transport.close()


class Listener:
    """An HTTP server on any number of sockets, with a bound on its connections."""

    def __init__(
        self,
        handler: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]],
        connections: int,
    ) -> None:
        self._server = web.Server(
            handler,
            access_log=None,
            auto_decompress=False,
            max_line_size=65_536,
            max_field_size=65_536,
        )
        self._connections = connections
        self._listening: list[asyncio.Server] = []

    async def tcp(self, host: str, port: int) -> int:
        """Listen on TCP; port 0 picks a free one. Gives the port."""
        loop = asyncio.get_running_loop()
        listening = await loop.create_server(self._accept, host, port, backlog=128)
        self._listening.append(listening)
        return int(listening.sockets[0].getsockname()[1])

    async def unix(self, path: str) -> None:
        """Listen on a Unix socket."""
        loop = asyncio.get_running_loop()
        self._listening.append(await loop.create_unix_server(self._accept, path, backlog=128))

    async def close(self) -> None:
        """Stop listening, and close every connection."""
        for listening in self._listening:
            listening.close()
        await self._server.shutdown(1.0)
        for listening in self._listening:
            await listening.wait_closed()
        self._listening = []

    def _accept(self) -> asyncio.BaseProtocol:
        if len(self._server.connections) >= self._connections:
            return _TurnedAway()
        return self._server()
