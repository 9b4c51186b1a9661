"""A proxy before the API server that never opens TLS: it can hold, cut and delay connections.

It sees bytes, not requests. What the server sends long after the client's last word was not asked
for just now: over HTTP/1.1, as Python clients speak it, those are the events of a watch. That is
how watches alone can be delayed or dropped while other requests go through.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.cluster.faults import serving
from tests.cluster.faults.daemon import Remote, running
from tests.cluster.lab.slot import Slot

UNASKED_AFTER = 1.0
"""Seconds after the client's last byte from which the server's bytes count as watch events."""


class ApiProxy:
    """The proxy in the cluster."""

    def __init__(self, remote: Remote) -> None:
        self._remote = remote
        self.kubeconfig: Path = remote.slot.folder / "admin-through-proxy.kubeconfig"
        self.address = remote.slot.api_proxy_ip

    def pause(self) -> None:
        """Hold every byte both ways; connections stay open, and new ones are taken and held."""
        self._remote.order("set", paused=True)

    def resume(self) -> None:
        """Let held bytes go, take connections again, delay nothing."""
        self._remote.order("set", paused=False, refusing=False, lag=0.0)

    def cut(self) -> None:
        """Reset all connections, and every new one."""
        self._remote.order("set", refusing=True)
        self._remote.order("reset", unasked=False)

    def lag_watches(self, seconds: float) -> None:
        """Deliver watch events that much later, in order; other answers come at once."""
        self._remote.order("set", lag=seconds)

    def drop_watches(self) -> int:
        """Reset the connections that watch (or idle), and return how many there were."""
        found: int = self._remote.order("reset", unasked=True)["connections"]
        return found


@contextmanager
def api_proxy(slot: Slot) -> Iterator[ApiProxy]:
    """Run the proxy while the block lasts."""
    with running(
        slot,
        "faults.apiproxy",
        slot.api_proxy_ip,
        port=6443,
        server=slot.control_ip,
        server_port=6443,
    ) as remote:
        yield ApiProxy(remote)


class Pipes:
    """All connections through the proxy, and what is done to them."""

    def __init__(self, server: str, port: int) -> None:
        self._server, self._port = server, port
        self._going = asyncio.Event()
        self._going.set()
        self._refusing = False
        self._lag = 0.0
        self._open: dict[asyncio.StreamWriter, float] = {}

    async def set(self, order: dict[str, Any]) -> object:
        """Change what is done; what is not named stays."""
        self._refusing = order.get("refusing", self._refusing)
        self._lag = order.get("lag", self._lag)
        if "paused" in order:
            (self._going.clear if order["paused"] else self._going.set)()
        return {}

    async def reset(self, order: dict[str, Any]) -> object:
        """Reset all connections, or those on which the client has been silent."""
        now = time.monotonic()
        chosen = [
            client
            for client, spoke in self._open.items()
            if not order["unasked"] or now - spoke > UNASKED_AFTER
        ]
        for client in chosen:
            client.transport.abort()
        return {"connections": len(chosen)}

    async def join(self, reader: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        """Carry one connection to its end."""
        if self._refusing:
            client.transport.abort()
            return
        try:
            from_server, server = await asyncio.open_connection(self._server, self._port)
        except OSError:
            client.transport.abort()
            return
        self._open[client] = time.monotonic()
        ways = [
            asyncio.ensure_future(self._to_server(reader, server, client)),
            asyncio.ensure_future(self._to_client(from_server, client)),
        ]
        _, pending = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in pending:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        del self._open[client]
        for end in (client, server):
            end.close()
            with suppress(OSError):
                await end.wait_closed()

    async def _to_server(
        self,
        reader: asyncio.StreamReader,
        server: asyncio.StreamWriter,
        client: asyncio.StreamWriter,
    ) -> None:
        while data := await reader.read(1 << 16):
            await self._going.wait()
            self._open[client] = time.monotonic()
            server.write(data)
            await server.drain()

    async def _to_client(self, reader: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        # A queue keeps the order while reading goes on, so that each byte waits its own time only.
        queue: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

        async def read() -> None:
            while data := await reader.read(1 << 16):
                now = time.monotonic()
                unasked = now - self._open[client] > UNASKED_AFTER
                await queue.put((now + self._lag if unasked else now, data))
            await queue.put((0.0, b""))

        reading = asyncio.ensure_future(read())
        try:
            while True:
                due, data = await queue.get()
                if not data:
                    return
                while self._lag and (left := due - time.monotonic()) > 0:
                    # In small steps: the lag may be lifted meanwhile.
                    await asyncio.sleep(min(left, 0.1))
                await self._going.wait()
                client.write(data)
                await client.drain()
        finally:
            reading.cancel()


async def main() -> None:
    """Carry connections, and obey orders."""
    words = serving.settings()
    pipes = Pipes(words["server"], words["server_port"])
    async with await asyncio.start_server(pipes.join, words["listen"], words["port"]):
        await serving.listen(words, {"set": pipes.set, "reset": pipes.reset})


if __name__ == "__main__":
    asyncio.run(main())
