"""Builders for tests of the metering: prices, a proxy in front of a scripted provider."""

import asyncio
import io
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import aiohttp
from yarl import URL

from agentbench.agents.port import ToolCount
from agentbench.core.calls import Api, CallEnd, CallStart, Provider
from agentbench.core.pricing import PriceList
from agentbench.core.summary import Cap
from agentbench.core.usage import Reading, Usage
from agentbench.pod.mock_provider import MockProvider, Script
from agentbench.pod.warden.ledger import Ledger
from agentbench.pod.warden.meter import Meter
from agentbench.pod.warden.proxy import Gateway, ModelProxy, ProxyLimits, Upstream

REAL_KEY = "sk-real-7f3a9c55"
CLAUDE = "claude-sonnet-5-5"
GPT = "gpt-5.5"


def price_document(**models: Mapping[str, str]) -> dict[str, Any]:
    return {
        "schema": "agentbench.prices/v1",
        "currency": "USD",
        "perTokens": 1_000_000,
        "models": {name.replace("_", "-"): dict(entry) for name, entry in models.items()},
    }


ABOUT = {"source": "https://example.org/prices", "date": "2026-11-01"}
CLAUDE_PRICE = {
    "input": "2",
    "output": "10",
    "cache_read": "0.10",
    "cache_write_5m": "2.50",
    "cache_write_1h": "4",
} | ABOUT
GPT_PRICE = {"input": "1.25", "output": "10", "cache_read": "0.125"} | ABOUT


def a_price_list() -> PriceList:
    document = price_document()
    document["models"] = {CLAUDE: CLAUDE_PRICE, GPT: GPT_PRICE}
    return PriceList.parse(json.dumps(document), "prices.json")


def a_start(model: str = CLAUDE, size: int = 400, api: Api = Api.MESSAGES) -> CallStart:
    return CallStart(api=api, model=model, path="/v1/messages", request_bytes=size, streamed=True)


def an_end(cost: str = "0.01", model: str = CLAUDE) -> CallEnd:
    """A whole answer that costs this many dollars at the price of the model's output."""
    tokens = Decimal(cost) / 10 * 1_000_000
    usage = Usage(
        input_uncached=0,
        cache_read=0,
        cache_write_5m=0,
        cache_write_1h=0,
        output=int(tokens),
        reasoning=0,
    )
    return CallEnd(
        status=200, reading=Reading(usage=usage, complete=True, model=model, started=True)
    )


@dataclass
class Bench:
    """A proxy, its meter, and the upstream's address."""

    meter: Meter
    proxy: ModelProxy
    session: aiohttp.ClientSession
    url: str
    port: int
    ledger: Path
    caps: list[Cap] = field(default_factory=list)
    unpriced: list[str] = field(default_factory=list)

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.ledger.read_text().splitlines()]

    def value(self, name: str) -> Any:
        return self.meter.measures()[name].value

    async def claude(self, stream: bool = True, **extra: Any) -> tuple[int, bytes]:
        body = {"model": CLAUDE, "stream": stream, "max_tokens": 100, "messages": []} | extra
        return await self.post("/v1/messages?beta=true", body, {"x-api-key": "dummy"})

    async def codex(self, stream: bool = True, **extra: Any) -> tuple[int, bytes]:
        body = {"model": GPT, "stream": stream, "input": []} | extra
        return await self.post("/v1/responses", body, {"authorization": "Bearer dummy"})

    async def chat(self, stream: bool = True, **extra: Any) -> tuple[int, bytes]:
        body: dict[str, Any] = {"model": GPT, "stream": stream, "messages": []}
        if stream:
            body["stream_options"] = {"include_usage": True}
        return await self.post("/v1/chat/completions", body | extra, {})

    async def post(self, path: str, body: Any, headers: Mapping[str, str]) -> tuple[int, bytes]:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        async with self.session.post(
            URL(self.url + path, encoded=True), data=io.BytesIO(data), headers=headers
        ) as answer:
            return answer.status, await answer.read()


@asynccontextmanager
async def a_bench(
    upstream: str,
    tmp_path: Path,
    *,
    model: str | None = None,
    cap: str | None = None,
    tools: ToolCount = ToolCount.HOOK,
    tool_cap: int | None = None,
    limits: ProxyLimits | None = None,
    gateway: Gateway | None = None,
    prices: PriceList | None = None,
    socket: Path | None = None,
    direct: bool = False,
) -> AsyncIterator[Bench]:
    ledger_path = tmp_path / "usage.jsonl"
    ledger = Ledger(ledger_path)
    meter = Meter(
        prices=prices or a_price_list(),
        model=model,
        cost_cap=None if cap is None else Decimal(cap),
        tool_cap=tool_cap,
        tool_count=tools,
        ledger=ledger,
    )
    where = Upstream(
        base_url=upstream,
        key=lambda: REAL_KEY,
        socket=None if socket is None else str(socket),
        direct=direct,
    )
    proxy = ModelProxy(
        meter,
        {Provider.ANTHROPIC: where, Provider.OPENAI: where},
        gateway=gateway,
        limits=limits,
    )
    port = await proxy.listen_tcp("127.0.0.1", 0)
    async with aiohttp.ClientSession() as session:
        bench = Bench(meter, proxy, session, f"http://127.0.0.1:{port}", port, ledger_path)
        meter.on_cap = bench.caps.append
        meter.on_unpriced = bench.unpriced.append
        try:
            yield bench
        finally:
            await proxy.stop(drain=1.0)
            ledger.close()


@asynccontextmanager
async def a_provider(script: Mapping[str, Any]) -> AsyncIterator[tuple[MockProvider, str]]:
    provider = MockProvider(Script.model_validate(script))
    port = await provider.start_tcp()
    try:
        yield provider, f"http://127.0.0.1:{port}"
    finally:
        await provider.stop()


@asynccontextmanager
async def a_raw_server(
    answer: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Any],
) -> AsyncIterator[str]:
    """A TCP server that a test writes byte by byte."""
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            tasks.add(task)
        try:
            await answer(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()


async def read_http(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """One request: its head and its body."""
    head = await reader.readuntil(b"\r\n\r\n")
    size = 0
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            size = int(value)
    return head, await reader.readexactly(size)


async def until(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait until a condition holds; fail if it never does."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.005)
