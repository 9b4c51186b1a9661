"""The endpoint that an agent's own pre-tool hook asks: may this tool run?

Whoever asks is counted, whatever the body says: an agent that talks to the endpoint itself can
only use up its own calls. Once the run is over every tool is denied and none is counted.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import web

from agentbench.pod.warden.meter import Meter

BODY_LIMIT = 8 * 1024 * 1024  # of a payload's bytes, what is read to name the tool
STOP = "stop"  # in the query: the agent understands `continue: false` and ends by it


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question of the hook. `tool` is None where the payload is not known."""

    tool: str | None
    call_id: str | None
    subagent: str | None
    allowed: bool
    problem: str | None = None


class HookServer:
    """Answers pre-tool hooks, on TCP and on Unix sockets."""

    def __init__(self, meter: Meter, tell: Callable[[Asked], None]) -> None:
        self._meter = meter
        self._tell = tell
        self._over: str | None = None
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, access_log=None, handle_signals=False)
        self._ready = False

    def end(self, reason: str) -> None:
        """Deny every later tool; the first reason stays."""
        self._over = self._over or reason

    async def listen_tcp(self, host: str, port: int) -> int:
        """Serve on TCP; port 0 picks a free one. Gives the port."""
        await self._setup()
        site = web.TCPSite(self._runner, host, port)
        await site.start()
        address = self._runner.addresses[-1]
        return int(address[1])

    async def listen_unix(self, path: str) -> None:
        """Serve on a Unix socket that every user of the pod may connect to."""
        await self._setup()
        await web.UnixSite(self._runner, path).start()
        Path(path).chmod(0o666)

    async def stop(self) -> None:
        """Stop serving."""
        await self._runner.cleanup()

    async def _setup(self) -> None:
        if not self._ready:
            self._ready = True
            await self._runner.setup()

    async def _answer(self, request: web.Request) -> web.Response:
        if request.method != "POST":
            reason = "the tool-call hook answers POST alone"
            return web.json_response({"error": reason}, status=405, headers={"Allow": "POST"})
        payload, problem = await _payload(request)
        if self._over is not None:
            allowed, reason = False, self._over
        else:
            allowed, reason = self._meter.allow_tool(), "tool-call cap reached"
        self._tell(
            Asked(
                tool=_text(payload.get("tool_name")),
                call_id=_text(payload.get("tool_use_id")),
                subagent=_text(payload.get("agent_id")),
                allowed=allowed,
                problem=problem,
            )
        )
        return web.json_response(answer(allowed, reason, STOP in request.query))


def answer(allowed: bool, reason: str, stop: bool) -> Mapping[str, Any]:
    """The hook's answer as Claude Code and Codex read it.

    Codex takes `continue: false` of this hook for a broken answer and runs the tool: `stop` must
    be False for it.
    """
    if allowed:
        return {}
    denied: dict[str, Any] = {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        }
    }
    return {**denied, "continue": False, "stopReason": reason} if stop else denied


async def _payload(request: web.Request) -> tuple[Mapping[str, Any], str | None]:
    body = bytearray()
    too_long = False
    async for chunk in request.content.iter_any():
        # The rest of a long payload (a file to write) is read and dropped: its tool still counts.
        if len(body) < BODY_LIMIT:
            body += chunk
        else:
            too_long = True
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError):
        return {}, "payload too long to be named" if too_long else "payload is not JSON"
    if not isinstance(payload, dict):
        return {}, "payload is not a JSON object"
    if not isinstance(payload.get("tool_name"), str):
        return payload, "payload names no tool"
    return payload, None


def _text(value: object) -> str | None:
    return value[:200] if isinstance(value, str) else None
