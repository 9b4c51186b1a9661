"""The harness API: what a check may ask of the app's surroundings.

    POST /app/start | /app/stop | /app/restart      {"ok": true} or {"ok": false, "detail": text}
    POST /app/run {"command": "migrate"}            {"ok": ..., "exit": 0, "output": text, ...}
    POST /clock {"set": "2030-01-31T23:59:55Z"}     moves the app's clock and restarts the app
    POST /database/reset                            stops the app, empties its services and DATA_DIR
    GET  /lockfile/NAME   GET /app/log   GET /model/calls

An answer with `ok` false is the app's failure; a status of 400 or above is the harness's or the
check's: 400 bad request, 401 wrong token, 404 no such thing, 501 not on this machine.
"""

import json
import secrets
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from agentbench.pod.surroundings import AppNotStarted, AppPort, NoClock, ServiceDied, ServicesPort

RUNNABLE = ("migrate", "build", "test")
MAX_LOCKFILE = 32 * 1024 * 1024

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(slots=True, kw_only=True)
class Harness:
    """Serves one check; only its token opens it."""

    app: AppPort
    services: ServicesPort
    token: str = field(default_factory=lambda: secrets.token_hex(16))
    fault: ServiceDied | None = None
    _runner: web.AppRunner | None = None

    async def serve(self, listening: socket.socket) -> None:
        """Serve on a socket until closed."""
        server = web.Application(middlewares=[self._guarded])
        server.router.add_post("/app/start", self._start)
        server.router.add_post("/app/stop", self._stop)
        server.router.add_post("/app/restart", self._restart)
        server.router.add_post("/app/run", self._run)
        server.router.add_get("/app/log", self._log)
        server.router.add_post("/clock", self._clock)
        server.router.add_post("/database/reset", self._reset)
        server.router.add_get("/lockfile/{name}", self._lockfile)
        server.router.add_get("/model/calls", self._model_calls)
        self._runner = web.AppRunner(server, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.SockSite(self._runner, listening).start()

    async def close(self) -> None:
        """Stop serving."""
        if self._runner is not None:
            await self._runner.cleanup()

    @web.middleware
    async def _guarded(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if not secrets.compare_digest(given.encode(), self.token.encode()):
            return _refusal(401, "this API answers to the check's token alone: $HARNESS_TOKEN")
        try:
            return await handler(request)
        except AppNotStarted as error:
            return web.json_response({"ok": False, "detail": str(error)})
        except ServiceDied as error:
            self.fault = error
            return _refusal(500, str(error))

    async def _start(self, _: web.Request) -> web.Response:
        await self.app.start()
        return web.json_response({"ok": True})

    async def _stop(self, _: web.Request) -> web.Response:
        await self.app.stop()
        return web.json_response({"ok": True})

    async def _restart(self, _: web.Request) -> web.Response:
        await self.app.restart()
        return web.json_response({"ok": True})

    async def _run(self, request: web.Request) -> web.Response:
        name = (await _object(request)).get("command")
        if name not in RUNNABLE:
            return _refusal(400, f"command: {name!r} is none of {', '.join(RUNNABLE)}")
        try:
            ran = await self.app.run(str(name))
        except KeyError:
            return _refusal(404, f"the stack has no {name} command")
        answer = {
            "ok": ran.ok,
            "exit": ran.exit.code if ran.exit else None,
            "signal": ran.exit.signal if ran.exit else None,
            "timedOut": ran.exit is None,
            "output": ran.log.content().decode("utf-8", "replace"),
        }
        if not ran.ok:
            answer["detail"] = f"{name} {ran.told}"
        return web.json_response(answer)

    async def _log(self, _: web.Request) -> web.Response:
        return web.Response(body=self.app.printed(), content_type="text/plain", charset="utf-8")

    async def _clock(self, request: web.Request) -> web.Response:
        try:
            offset = self.app.set_clock(str((await _object(request)).get("set")))
        except ValueError as error:
            return _refusal(400, f"set: {error}")
        except NoClock as error:
            return _refusal(501, str(error))
        await self.app.restart()
        return web.json_response({"ok": True, "offsetSeconds": round(offset, 3)})

    async def _reset(self, _: web.Request) -> web.Response:
        await self.app.empty()
        await self.services.reset()
        return web.json_response({"ok": True})

    async def _lockfile(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        declared = {entry.name: entry.path for entry in self.app.stack.lockfiles}
        if name not in declared:
            return _refusal(404, f"the stack declares no lock file {name!r}")
        root = self.app.workspace.resolve()
        path = (root / declared[name]).resolve()
        if not path.is_relative_to(root) or not path.is_file():
            return _refusal(404, f"{declared[name]} is no file of the workspace")
        if path.stat().st_size > MAX_LOCKFILE:
            return _refusal(404, f"{declared[name]} is larger than 32 MiB")
        return web.Response(body=path.read_bytes(), content_type="application/octet-stream")

    async def _model_calls(self, request: web.Request) -> web.Response:
        calls = await self.services.model_calls()
        if calls is None:
            return _refusal(404, "the stack has no mock-model service")
        return web.Response(body=calls, content_type="application/json")


def _refusal(status: int, why: str) -> web.Response:
    return web.json_response({"error": why}, status=status)


async def _object(request: web.Request) -> dict[str, Any]:
    try:
        value = json.loads(await request.read() or b"{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
