"""Keeps what the gateway refused, and tells each attempt's warden its own part of it.

    python -m agentbench.pod.gateway_log KEYFILE FOLDER [LOG_PORT [PORT]]

Squid sends its access log to LOG_PORT (3130), line by line. `GET /refusals` on PORT (3129) answers
a caller by the credential of its request: the gateway hands both on from its own name, so a
NetworkPolicy that allows the gateway allows this. What is known is kept in FOLDER, and so outlives
a restart of this container.
"""

import asyncio
import base64
import binascii
import sys
import time
import uuid
from contextlib import suppress
from pathlib import Path

from aiohttp import web

from agentbench.core.credentials import CredentialError, verify
from agentbench.core.refusals import Refusals, read_access

LONGEST_LINE = 64 << 10
STATE, NAME = "refusals.json", "name"
PAUSE = 1.0  # seconds between two writes of the state


class GatewayLog:
    """One gateway's refusals. `name` tells this gateway from others behind the same address."""

    def __init__(self, key: bytes, folder: Path) -> None:
        self.key = key
        self.folder = folder
        self.refusals = Refusals()
        self._changed = asyncio.Event()
        folder.mkdir(parents=True, exist_ok=True)
        with suppress(OSError, ValueError, TypeError, KeyError):
            self.refusals = Refusals.decode((folder / STATE).read_text())
        with suppress(FileExistsError), (folder / NAME).open("x") as name:
            name.write(uuid.uuid4().hex)
        self.name = (folder / NAME).read_text()

    async def follow(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read the log from one connection of Squid's."""
        try:
            while line := await reader.readline():
                access = read_access(line.decode("utf-8", "replace"))
                if access is not None:
                    self.refusals.add(access)
                    self._changed.set()
        except ValueError:  # a line without an end: Squid opens the connection again
            pass
        finally:
            writer.close()

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """What was refused to the caller, with this gateway's name."""
        if (request.method, request.path) != ("GET", "/refusals"):
            return web.json_response({"error": "GET /refusals"}, status=404)
        try:
            user, password = _credential(request.headers.get("authorization", ""))
            entry = verify(user, password, self.key, time.time())
        except CredentialError as error:
            return web.json_response({"error": str(error)}, status=401)
        if entry.kind != "log":
            return web.json_response({"error": f"class {entry.kind} may not ask"}, status=403)
        return web.json_response(
            {"gateway": self.name, "refused": dict(self.refusals.of(entry.caller))}
        )

    async def keep(self) -> None:
        """Write down what is known, whenever it has changed."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            draft = self.folder / f".{STATE}"
            draft.write_text(self.refusals.encode())
            draft.replace(self.folder / STATE)
            await asyncio.sleep(PAUSE)


def _credential(header: str) -> tuple[str, str]:
    """User name and password of basic authentication."""
    try:
        text = base64.b64decode(header.removeprefix("Basic "), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise CredentialError("the credential is none of ours") from error
    user, _, password = text.partition(":")
    return user, password


async def serve(log: GatewayLog, log_port: int, port: int) -> None:
    """Serve on loopback until cancelled."""
    lines = await asyncio.start_server(log.follow, "127.0.0.1", log_port, limit=LONGEST_LINE)
    runner = web.ServerRunner(web.Server(log.answer, access_log=None))
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
        async with lines:
            await log.keep()
    finally:
        await runner.cleanup()


def main(argv: list[str]) -> None:
    """Run until a signal comes."""
    key, folder = Path(argv[0]).read_bytes().strip(), Path(argv[1])
    ports = [int(word) for word in argv[2:]] or [3130, 3129]

    async def run() -> None:
        await serve(GatewayLog(key, folder), *ports)

    asyncio.run(run())


if __name__ == "__main__":
    main(sys.argv[1:])
