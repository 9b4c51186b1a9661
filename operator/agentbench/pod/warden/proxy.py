"""The model proxy: the agent's only way to a model, and the place where its calls are metered.

Every request gets an answer: the provider's own, byte for byte, or an error in the provider's
shape. The real key is put in on the way out; the client's credentials go no further than here.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import aiohttp
from aiohttp import web
from yarl import URL

from agentbench.core.answers import AnswerReader, fold_for
from agentbench.core.calls import Api, CallEnd, CallStart, Failure, Provider
from agentbench.core.model_request import ModelRequest, RequestFault, read_request
from agentbench.core.provider_errors import Fault, error_reply
from agentbench.core.routes import Route, route
from agentbench.pod.warden.courier import (
    BROKEN,
    Courier,
    Gateway,
    NotReached,
    Outgoing,
    ProxyLimits,
)
from agentbench.pod.warden.decoding import CannotDecode, decode_whole
from agentbench.pod.warden.headers import upstream_headers
from agentbench.pod.warden.intake import Intake, Listener
from agentbench.pod.warden.meter import CallSlot, Meter, Refused
from agentbench.pod.warden.relay import Relay, whole_response

__all__ = ["Gateway", "ModelProxy", "ProxyLimits", "Upstream"]

AGENT_HEADERS = ("x-claude-code-agent-id", "x-openai-subagent")


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """Where a provider's calls really go. `key` is asked for each call, so it may be renewed.

    With `socket` they go to that Unix socket, and with `direct` not by the gateway.
    """

    base_url: str
    key: Callable[[], str]
    socket: str | None = None
    direct: bool = False


class ModelProxy:
    """Serves the model APIs to one agent, on TCP and on Unix sockets."""

    def __init__(
        self,
        meter: Meter,
        upstreams: Mapping[Provider, Upstream],
        *,
        gateway: Gateway | None = None,
        limits: ProxyLimits | None = None,
    ) -> None:
        self._meter = meter
        self._upstreams = upstreams
        self._gateway = gateway
        self._limits = limits or ProxyLimits()
        self._courier: Courier | None = None
        self._listener: Listener | None = None
        self._calls: set[asyncio.Task[object]] = set()
        self._intake = Intake(self._limits)

    async def listen_tcp(self, host: str, port: int) -> int:
        """Serve on TCP; port 0 picks a free one. Gives the port."""
        return await self._start().tcp(host, port)

    async def listen_unix(self, path: str) -> None:
        """Serve on a Unix socket that every user of the pod may connect to."""
        await self._start().unix(path)
        Path(path).chmod(0o666)

    async def stop(self, drain: float = 5.0) -> None:
        """Stop serving. Calls that are out get `drain` seconds to end; then they count as cut."""
        self._meter.close("the run is over")
        if self._calls:
            await asyncio.wait(self._calls, timeout=drain)
        for call in self._calls:
            call.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)
        if self._listener is not None:
            await self._listener.close()
            self._listener = None
        if self._courier is not None:
            await self._courier.close()
            self._courier = None

    def _start(self) -> Listener:
        if self._listener is None:
            self._courier = Courier(self._limits, self._gateway)
            self._listener = Listener(self._serve, self._limits.connections)
        return self._listener

    @property
    def _the_courier(self) -> Courier:
        if self._courier is None:
            raise RuntimeError("the proxy does not listen")
        return self._courier

    async def _serve(self, request: web.BaseRequest) -> web.StreamResponse:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("the proxy serves from tasks alone")
        self._calls.add(task)
        try:
            return await self._answer(request)
        finally:
            self._calls.discard(task)

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        path = request.raw_path.partition("?")[0]
        way = route(request.method, path, request.headers)
        if way.probe:
            return web.Response()
        provider = way.provider
        upstream = self._upstreams.get(provider)
        if way.fault is Fault.WRONG_METHOD:
            message = f"{request.method} is not allowed on {request.path:.200}"
            return self._refuse(request, provider, Fault.WRONG_METHOD, message)
        if way.fault is not None or upstream is None:
            message = f"{request.method} {request.path:.200} is not served by this proxy"
            return self._refuse(request, provider, Fault.UNKNOWN_PATH, message)
        if self._meter.closed is not None:
            return self._refuse(request, provider, Fault.BUDGET, self._meter.closed)
        if len(self._calls) > self._limits.requests:
            message = f"more than {self._limits.requests} requests at once"
            return self._refuse(request, provider, Fault.OVERLOADED, message)
        try:
            async with self._intake.body(request) as body:
                return await self._forward(request, way, upstream, body)
        except RequestFault as fault:
            if fault.fault is Fault.UNKNOWN_MODEL:
                self._meter.asked_unpriced(fault.model)
            return self._refuse(request, provider, fault.fault, str(fault))

    async def _forward(
        self, request: web.BaseRequest, way: Route, upstream: Upstream, body: bytes
    ) -> web.StreamResponse:
        provider = way.provider
        key = upstream.key()
        outgoing = Outgoing(
            method=request.method,
            url=URL(upstream.base_url.rstrip("/") + request.raw_path, encoded=True),
            headers=upstream_headers(request.headers, provider, key),
            body=body,
            key=key,
            socket=upstream.socket,
            direct=upstream.direct,
        )
        if way.api is None:
            return await self._pass_on(request, provider, outgoing)
        encoding = request.headers.get("content-encoding", "")
        try:
            plain = decode_whole(body, encoding, self._limits.body)
        except CannotDecode as error:
            raise RequestFault(Fault.BAD_REQUEST, str(error)) from None
        asked = read_request(way.api, plain, self._meter.prices)
        return await self._metered(request, way.api, asked, outgoing)

    async def _metered(
        self, request: web.BaseRequest, api: Api, asked: ModelRequest, outgoing: Outgoing
    ) -> web.StreamResponse:
        names = (request.headers.get(name) for name in AGENT_HEADERS)
        start = CallStart(
            api=api,
            model=asked.model,
            path=request.path,
            request_bytes=len(outgoing.body),
            streamed=asked.streamed,
            agent_id=next((name[:100] for name in names if name), None),
        )
        try:
            async with self._meter.call(start) as slot:
                if request.transport is None or request.transport.is_closing():
                    return web.Response(status=499)  # gone while it waited: nothing is sent
                return await self._call(request, asked, outgoing, slot)
        except Refused as refusal:
            return self._refuse(request, api.provider, Fault.BUDGET, str(refusal))

    async def _call(
        self,
        request: web.BaseRequest,
        asked: ModelRequest,
        outgoing: Outgoing,
        slot: CallSlot,
    ) -> web.StreamResponse:
        api, began = slot.start.api, time.monotonic()

        def ended(failure: Failure, status: int | None = None) -> CallEnd:
            seconds = round(time.monotonic() - began, 6)
            return CallEnd(status=status, failure=failure, duration=seconds)

        try:
            answer = await self._the_courier.send(outgoing)
        except NotReached as error:
            slot.settle(ended(error.failure))
            return self._unreached(request, api.provider, error)
        except asyncio.CancelledError:
            slot.settle(ended(Failure.ABANDONED))
            raise
        async with answer:
            if not 200 <= answer.status < 300:
                slot.settle(ended(Failure.STATUS, answer.status))
                return await self._whole(request, api.provider, answer, outgoing.key)
            reader = AnswerReader(
                fold_for(api, one_hour_cache=asked.one_hour_cache),
                streamed=answer.content_type == "text/event-stream",
                limit=self._limits.event,
            )
            relay = Relay(request, answer, reader, self._limits, slot.settle)
            return await relay.carry(outgoing.key)

    async def _pass_on(
        self, request: web.BaseRequest, provider: Provider, outgoing: Outgoing
    ) -> web.StreamResponse:
        """Forward a request that costs nothing."""
        try:
            answer = await self._the_courier.send(outgoing)
        except NotReached as error:
            return self._unreached(request, provider, error)
        async with answer:
            return await self._whole(request, provider, answer, outgoing.key)

    async def _whole(
        self,
        request: web.BaseRequest,
        provider: Provider,
        answer: aiohttp.ClientResponse,
        key: str,
    ) -> web.StreamResponse:
        try:
            return await whole_response(answer, key)
        except BROKEN as error:
            message = f"the provider: its answer {answer.status} broke off: {error!s:.200}"
            return self._refuse(request, provider, Fault.UNREACHABLE, message)

    def _unreached(
        self, request: web.BaseRequest, provider: Provider, error: NotReached
    ) -> web.Response:
        fault = Fault.SILENT if error.silent else Fault.UNREACHABLE
        return self._refuse(request, provider, fault, f"the provider did not answer: {error}")

    def _refuse(
        self, request: web.BaseRequest, provider: Provider, fault: Fault, message: str
    ) -> web.Response:
        reply = error_reply(provider, fault, message)
        self._meter.refused(f"{request.method} {request.path}", reply.status, message)
        return web.Response(status=reply.status, headers=reply.headers, body=reply.body)
