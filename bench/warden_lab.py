"""What the warden's benchmarks share: a fast scripted upstream, the proxy in a process of its own.

The upstream and the proxy each run in their own process, so that what is measured is the proxy and
not the bench. Requests have the size of a coding agent's.
"""

import asyncio
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import aiohttp
from aiohttp import web

from agentbench.core.calls import Provider
from agentbench.core.pricing import PriceList
from agentbench.pod.mock_provider import chat, messages
from agentbench.pod.mock_provider.script import Turn
from agentbench.pod.warden.meter import Meter
from agentbench.pod.warden.proxy import ModelProxy, Upstream

MODEL = "bench-model"
TURN = Turn.model_validate({"text": "word " * 40, "usage": {"input": 12_000, "output": 200}})
REQUEST_BYTES = 50_000
PRICES = {
    "schema": "agentbench.prices/v1",
    "currency": "USD",
    "perTokens": 1_000_000,
    "models": {
        MODEL: {
            "input": "1",
            "output": "5",
            "cache_read": "0.1",
            "cache_write_5m": "1",
            "cache_write_1h": "2",
            "source": "made up for the benchmark",
            "date": "2026-01-01",
        }
    },
}


def a_request(api: str) -> bytes:
    """A streamed request of an agent's size for `messages` or `chat`."""
    filler = "x" * REQUEST_BYTES
    body: dict[str, Any] = {
        "model": MODEL,
        "stream": True,
        "max_tokens": 1_000,
        "messages": [{"role": "user", "content": filler}],
    }
    if api == "chat":
        body["stream_options"] = {"include_usage": True}
    return json.dumps(body).encode()


def _events(api: str) -> list[bytes]:
    if api == "messages":
        return [
            f"event: {name}\ndata: {json.dumps({'type': name, **event})}\n\n".encode()
            for name, event in messages.events(TURN, 1, MODEL)
        ]
    chunks = chat.chunks(TURN, 1, MODEL, with_usage=True)
    return [f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks] + [b"data: [DONE]\n\n"]


def serve_upstream(ready: Connection, pause: float) -> None:
    """Answer every call with the same stream: the first event at once, then a pause each."""
    streams = {"/v1/messages": _events("messages"), "/v1/chat/completions": _events("chat")}

    async def answer(request: web.BaseRequest) -> web.StreamResponse:
        await request.read()
        if request.path not in streams:
            return web.Response(status=404)
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        events = streams[request.path]
        if pause:
            for event in events:
                await response.write(event)
                await asyncio.sleep(pause)
        else:
            await response.write(b"".join(events))
        await response.write_eof()
        return response

    async def main() -> None:
        runner = web.ServerRunner(web.Server(answer, access_log=None))
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        ready.send(runner.addresses[0][1])
        await asyncio.Event().wait()

    asyncio.run(main())


def serve_proxy(ready: Connection, upstream: int) -> None:
    """Run the warden's proxy in front of the upstream's port, on one core."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    where = Upstream(base_url=f"http://127.0.0.1:{upstream}", key=lambda: "sk-bench")

    async def main() -> None:
        meter = Meter(prices=PriceList.parse(json.dumps(PRICES), "bench"))
        proxy = ModelProxy(meter, {Provider.ANTHROPIC: where, Provider.OPENAI: where})
        ready.send(await proxy.listen_tcp("127.0.0.1", 0))
        await asyncio.Event().wait()

    asyncio.run(main())


@dataclass(frozen=True)
class Child:
    """A server in a process of its own."""

    pid: int
    port: int


@contextmanager
def running(target: Callable[..., None], *arguments: Any) -> Iterator[Child]:
    """Start a server's process, wait until it listens, and end it afterwards."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=target, args=(theirs, *arguments), daemon=True)
    process.start()
    try:
        if not ours.poll(60):
            raise SystemExit("bench: a server did not start within 60 seconds")
        yield Child(process.pid or 0, ours.recv())
    finally:
        process.terminate()
        process.join()


@dataclass(frozen=True)
class Sample:
    """Seconds of one call: until the first byte of the answer, and until its end."""

    first_byte: float
    whole: float


async def one_call(session: aiohttp.ClientSession, url: str, body: bytes) -> Sample:
    """Make one call and read its whole stream."""
    began = time.perf_counter()
    headers = {"content-type": "application/json", "authorization": "Bearer sk-bench"}
    async with session.post(url, data=body, headers=headers) as answer:
        await answer.content.readany()
        first = time.perf_counter() - began
        await answer.read()
        if answer.status != 200:
            raise SystemExit(f"bench: {url} answered {answer.status}")
    return Sample(first, time.perf_counter() - began)


async def in_turns(urls: list[str], body: bytes, streams: int, rounds: int) -> list[list[Sample]]:
    """Call the URLs in turns, `streams` at once, so that noise hits each of them alike."""
    samples: list[list[Sample]] = [[] for _ in urls]

    async def worker(number: int) -> None:
        await asyncio.sleep(number * 0.013)
        for step in range(rounds * len(urls)):
            which = (number + step) % len(urls)
            samples[which].append(await one_call(session, urls[which], body))

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        for url in urls:  # connections, imports and caches that only the first call pays for
            await asyncio.gather(*(one_call(session, url, body) for _ in range(streams)))
        await asyncio.gather(*(worker(number) for number in range(streams)))
    return samples


def percentile(values: list[float], share: float) -> float:
    """The value below which this share of the sorted values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def say(name: str, value: float, unit: str) -> None:
    """Print one figure."""
    sys.stdout.write(f"{name} {value:.3f} {unit}\n")
