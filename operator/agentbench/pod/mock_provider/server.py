"""The mock provider's HTTP server."""

import asyncio
import json
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import web

from agentbench.core.calls import Api
from agentbench.core.provider_errors import Fault, error_reply
from agentbench.core.routes import METERED, route
from agentbench.pod.mock_provider import chat, messages, responses
from agentbench.pod.mock_provider.player import Play, Player
from agentbench.pod.mock_provider.script import FaultKind, FaultPlan, Script

MAX_BODY = 64 * 1024 * 1024
REMEMBERED = 1_000  # calls, the newest of them
USUAL_ERRORS = {
    401: "authentication_error",
    403: "permission_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "server_is_overloaded",
    529: "overloaded_error",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """One request to a model API."""

    api: Api
    body: dict[str, Any]
    model: str
    streamed: bool


class MockProvider:
    """Serves a script on TCP or on a Unix socket.

    `GET /__calls` gives the calls it remembers as JSON, `POST /__reset` begins the script anew.
    """

    def __init__(self, script: Script) -> None:
        self.script = script
        self.calls: deque[dict[str, Any]] = deque(maxlen=REMEMBERED)
        self._player = Player(script)
        self._runner: web.ServerRunner | None = None

    async def start_tcp(self, host: str = "127.0.0.1", port: int = 0) -> int:
        """Serve on TCP; port 0 picks a free one. Gives the port."""
        runner = await self._start()
        await web.TCPSite(runner, host, port).start()
        return int(runner.addresses[-1][1])

    async def start_unix(self, path: str) -> None:
        """Serve on a Unix socket that every user may connect to."""
        runner = await self._start()
        await web.UnixSite(runner, path).start()
        Path(path).chmod(0o666)

    async def stop(self) -> None:
        """Stop serving; answers on their way are broken off."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    def reset(self) -> None:
        """Forget every call and begin the script anew."""
        self.calls.clear()
        self._player.restart()

    async def _start(self) -> web.ServerRunner:
        if self._runner is None:
            server = web.Server(self._serve, access_log=None, handler_cancellation=True)
            self._runner = web.ServerRunner(server, shutdown_timeout=0.1)
            await self._runner.setup()
        return self._runner

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        match (request.method, request.path):
            case ("GET", "/__calls"):
                return web.json_response(list(self.calls))
            case ("POST", "/__reset"):
                self.reset()
                return web.json_response({"ok": True})
            case ("POST", "/v1/messages/count_tokens"):
                size = len(await self._body(request))
                return web.json_response({"input_tokens": -(-size // 4)})
            case ("GET", "/v1/models"):
                return web.json_response({"object": "list", "data": []})
        way = route(request.method, request.path, request.headers)
        if way.probe:
            return web.Response()
        api = METERED.get(request.path)
        if way.fault is not None or api is None:
            fault = way.fault or Fault.UNKNOWN_PATH
            reply = error_reply(way.provider, fault, f"{request.path} is not served")
            return web.Response(status=reply.status, headers=reply.headers, body=reply.body)
        return await self._model_call(request, api)

    async def _model_call(self, request: web.BaseRequest, api: Api) -> web.StreamResponse:
        text = (await self._body(request)).decode("utf-8", "replace")
        try:
            body = json.loads(text)
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            reply = error_reply(api.provider, Fault.BAD_REQUEST, "the body is no JSON object")
            return web.Response(status=reply.status, headers=reply.headers, body=reply.body)
        if self.script.key is not None and self.script.key != _key(request):
            return _status(api, FaultPlan(kind=FaultKind.STATUS, status=401))
        play = self._player.next(text)
        asked = Asked(api, body, str(body.get("model", "")), body.get("stream") is True)
        self.calls.append(
            {
                "number": self._player.calls,
                "path": request.raw_path,
                "headers": {name.lower(): value for name, value in request.headers.items()},
                "body": body,
                "fault": play.fault.kind.value if play is not None and play.fault else None,
            }
        )
        if play is None:
            return _status(api, FaultPlan(kind=FaultKind.STATUS, status=500, error="script_over"))
        return await _answer(request, asked, play)

    async def _body(self, request: web.BaseRequest) -> bytes:
        pieces: list[bytes] = []
        while piece := await request.content.readany():
            pieces.append(piece)
            if sum(map(len, pieces)) > MAX_BODY:
                raise web.HTTPRequestEntityTooLarge(MAX_BODY, MAX_BODY)
        return b"".join(pieces)


def _key(request: web.BaseRequest) -> str:
    bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
    return request.headers.get("x-api-key", bearer)


def _status(api: Api, fault: FaultPlan) -> web.Response:
    kind = fault.error or USUAL_ERRORS.get(fault.status, "api_error")
    error: dict[str, Any] = {"type": kind, "message": "scripted"}
    body = (
        {"type": "error", "error": error}
        if api is Api.MESSAGES
        else {"error": error | {"code": kind, "param": None}}
    )
    return web.json_response(body, status=fault.status, headers=fault.headers)


async def _answer(request: web.BaseRequest, asked: Asked, play: Play) -> web.StreamResponse:
    fault = play.fault
    match None if fault is None else fault.kind:
        case FaultKind.STATUS if fault is not None:
            return _status(asked.api, fault)
        case FaultKind.GARBAGE:
            kind = "text/event-stream" if asked.streamed else "application/json"
            return web.Response(body=b"\x00<html>\xff not an answer", content_type=kind)
        case FaultKind.SILENT:
            await asyncio.Event().wait()
        case FaultKind.SLOW if fault is not None:
            await asyncio.sleep(fault.seconds)
    model = play.turn.model or asked.model
    if asked.streamed:
        return await _stream(request, asked, play, model)
    makers = {Api.MESSAGES: messages.whole, Api.RESPONSES: responses.whole, Api.CHAT: chat.whole}
    body = json.dumps(makers[asked.api](play.turn, play.number, model)).encode()
    if fault is not None and fault.kind is FaultKind.CUT:
        response = web.StreamResponse(headers={"content-type": "application/json"})
        response.content_length = len(body)
        await response.prepare(request)
        await response.write(body[: len(body) // 2])
        return _break_off(request, response)
    return web.Response(body=body, content_type="application/json")


async def _stream(
    request: web.BaseRequest, asked: Asked, play: Play, model: str
) -> web.StreamResponse:
    fault = play.fault
    response = web.StreamResponse(
        headers={"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
    )
    await response.prepare(request)
    for position, event in enumerate(_events(asked, play, model)):
        if fault is not None and position == fault.after_events:
            if fault.kind is FaultKind.CUT:
                return _break_off(request, response)
            if fault.kind is FaultKind.ERROR_EVENT:
                await response.write(_error_event(asked, play, model, fault))
                await response.write_eof()
                return response
        if fault is not None and fault.kind is FaultKind.SLOW:
            await asyncio.sleep(fault.seconds)
        await response.write(event)
    await response.write_eof()
    return response


def _events(asked: Asked, play: Play, model: str) -> Iterator[bytes]:
    match asked.api:
        case Api.MESSAGES:
            for name, event in messages.events(play.turn, play.number, model):
                yield _sse(name, event)
        case Api.RESPONSES:
            for name, event in responses.events(play.turn, play.number, model):
                yield _sse(name, event)
        case Api.CHAT:
            options = asked.body.get("stream_options")
            wanted = isinstance(options, dict) and options.get("include_usage") is True
            for chunk in chat.chunks(play.turn, play.number, model, with_usage=wanted):
                yield b"data: " + json.dumps(chunk).encode() + b"\n\n"
            yield b"data: [DONE]\n\n"


def _error_event(asked: Asked, play: Play, model: str, fault: FaultPlan) -> bytes:
    match asked.api:
        case Api.MESSAGES:
            return _sse(*messages.error_event(fault.error or "overloaded_error"))
        case Api.RESPONSES:
            kind = fault.error or "server_is_overloaded"
            return _sse(*responses.error_event(kind, play.number, model))
        case Api.CHAT:
            error = {"error": {"code": fault.error or "server_error", "message": "scripted"}}
            return b"data: " + json.dumps(error).encode() + b"\n\n"


def _sse(name: str, event: dict[str, Any]) -> bytes:
    data = json.dumps({"type": name, **event})
    return f"event: {name}\ndata: {data}\n\n".encode()


def _break_off(request: web.BaseRequest, response: web.StreamResponse) -> web.StreamResponse:
    if request.transport is not None:
        request.transport.close()
    return response
