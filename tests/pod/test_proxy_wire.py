import asyncio
import gzip
import json
import zlib
from pathlib import Path

import aiohttp
import pytest
import zstandard
from tests.fakes.metering import (
    CLAUDE,
    Bench,
    a_bench,
    a_provider,
    a_raw_server,
    read_http,
    until,
)

from agentbench.pod.mock_provider import messages
from agentbench.pod.mock_provider.script import Turn
from agentbench.pod.warden.proxy import ProxyLimits
from agentbench_analysis.rows.words import Availability

TURN = Turn.model_validate({"text": "späße ✓ " * 20, "usage": {"input": 6, "output": 250}})
STREAM = b"".join(
    b"event: %s\ndata: %s\n\n"
    % (name.encode(), json.dumps({"type": name, **event}, ensure_ascii=False).encode())
    for name, event in messages.events(TURN, 1, CLAUDE)
)


def head(size: int | None, *more: str, kind: str = "text/event-stream") -> bytes:
    length = "transfer-encoding: chunked" if size is None else f"content-length: {size}"
    lines = ["HTTP/1.1 200 OK", f"content-type: {kind}", length, *more]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


def chunked(piece: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(piece), piece)


def assert_counted(bench: Bench) -> None:
    assert bench.value("input_uncached") == 6
    assert bench.value("output") == 250
    assert bench.meter.measures()["cost_usd"].availability is Availability.MEASURED


async def test_a_stream_cut_inside_utf8_characters_passes_and_counts(tmp_path: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_http(reader)
        writer.write(head(None))
        for position in range(0, len(STREAM), 7):
            writer.write(chunked(STREAM[position : position + 7]))
            await writer.drain()
            await asyncio.sleep(0)
        writer.write(b"0\r\n\r\n")

    async with a_raw_server(answer) as url, a_bench(url, tmp_path) as bench:
        assert await bench.claude() == (200, STREAM)
        assert_counted(bench)


ENCODINGS = {
    "gzip": gzip.compress(STREAM),
    "deflate": zlib.compress(STREAM),
    "zstd": zstandard.ZstdCompressor().compress(STREAM),
}


@pytest.mark.parametrize("encoding", ENCODINGS)
async def test_a_provider_that_compresses_all_the_same_is_read_and_passed_on_as_it_is(
    tmp_path: Path, encoding: str
) -> None:
    packed = ENCODINGS[encoding]

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request, _ = await read_http(reader)
        assert b"accept-encoding: identity" in request.lower()
        writer.write(head(None, f"content-encoding: {encoding}"))
        for position in range(0, len(packed), 50):
            writer.write(chunked(packed[position : position + 50]))
            await writer.drain()
        writer.write(b"0\r\n\r\n")

    async with a_raw_server(answer) as url, a_bench(url, tmp_path) as bench:
        async with (
            aiohttp.ClientSession(auto_decompress=False) as session,
            session.post(f"{bench.url}/v1/messages", json={"model": CLAUDE}) as response,
        ):
            assert response.headers["content-encoding"] == encoding
            assert await response.read() == packed
        assert_counted(bench)


async def test_an_encoding_that_is_not_known_is_passed_on_and_its_cost_derived(
    tmp_path: Path,
) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_http(reader)
        writer.write(head(4, "content-encoding: rot13") + b"abcd")

    async with a_raw_server(answer) as url, a_bench(url, tmp_path) as bench:
        async with (
            aiohttp.ClientSession(auto_decompress=False) as session,
            session.post(f"{bench.url}/v1/messages", json={"model": CLAUDE}) as response,
        ):
            assert await response.read() == b"abcd"
        cost = bench.meter.measures()["cost_usd"]
        assert cost.availability is Availability.DERIVED
        assert "content-encoding 'rot13' is not known" in str(cost.reason)


async def test_pipelined_calls_on_one_connection_are_answered_in_order(tmp_path: Path) -> None:
    turns = [{"text": f"answer {number}"} for number in range(1, 6)]
    async with a_provider({"turns": turns}) as (_, url), a_bench(url, tmp_path) as bench:
        reader, writer = await asyncio.open_connection("127.0.0.1", bench.port)
        body = json.dumps({"model": CLAUDE}).encode()
        request = b"POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n%s"
        writer.write((request % (len(body), body)) * 5)
        for number in range(1, 6):
            _, answer = await read_http(reader)
            assert f"answer {number}" in answer.decode()
        writer.close()
        await writer.wait_closed()
        assert bench.value("model_calls") == 5


async def test_one_event_of_10_megabytes_passes_and_counts(tmp_path: Path) -> None:
    events = list(messages.events(TURN, 1, CLAUDE))
    big = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "x" * 10**7}}
    events.insert(3, ("content_block_delta", big))
    stream = b"".join(
        b"data: %s\n\n" % json.dumps({"type": name, **event}).encode() for name, event in events
    )

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_http(reader)
        writer.write(head(len(stream)))
        writer.write(stream)
        await writer.drain()

    async with a_raw_server(answer) as url, a_bench(url, tmp_path) as bench:
        status, body = await bench.claude()
        assert (status, len(body)) == (200, len(stream))
        assert_counted(bench)


async def test_when_the_client_goes_away_the_rest_is_read_and_counted(tmp_path: Path) -> None:
    go_on = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_http(reader)
        writer.write(head(None) + chunked(STREAM[:300]))
        await writer.drain()
        await go_on.wait()
        for position in range(300, len(STREAM), 40):
            writer.write(chunked(STREAM[position : position + 40]))
            await writer.drain()
            await asyncio.sleep(0.001)
        writer.write(b"0\r\n\r\n")
        await writer.drain()

    async with a_raw_server(answer) as url, a_bench(url, tmp_path) as bench:
        _, writer = await asyncio.open_connection("127.0.0.1", bench.port)
        body = json.dumps({"model": CLAUDE, "stream": True}).encode()
        writer.write(b"POST /v1/messages HTTP/1.1\r\nhost: x\r\n")
        writer.write(b"content-length: %d\r\n\r\n%s" % (len(body), body))
        await until(lambda: bench.meter.in_flight == 1)
        writer.transport.abort()
        go_on.set()
        await until(lambda: bench.value("model_calls") == 1)
        assert_counted(bench)


async def test_a_client_that_does_not_read_is_taken_as_gone(tmp_path: Path) -> None:
    stream = STREAM[:300] + b": padding\n\n" * 4_000_000 + STREAM[300:]

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_http(reader)
        writer.write(head(len(stream)) + stream)
        await writer.drain()

    limits = ProxyLimits(client_stall=0.2)
    async with a_raw_server(answer) as url, a_bench(url, tmp_path, limits=limits) as bench:
        _, writer = await asyncio.open_connection("127.0.0.1", bench.port)
        body = json.dumps({"model": CLAUDE, "stream": True}).encode()
        writer.write(b"POST /v1/messages HTTP/1.1\r\nhost: x\r\n")
        writer.write(b"content-length: %d\r\n\r\n%s" % (len(body), body))
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        await until(lambda: bench.value("model_calls") == 1, seconds=30)
        assert_counted(bench)
        assert bench.lines()[0]["clientGone"] is True
        writer.transport.abort()


async def test_a_client_that_waits_to_be_told_to_go_on_is_told(tmp_path: Path) -> None:
    async with (
        a_provider({"turns": [{}]}) as (_, url),
        a_bench(url, tmp_path) as bench,
        bench.session.post(
            bench.url + "/v1/messages", json={"model": CLAUDE}, expect100=True
        ) as answer,
    ):
        assert answer.status == 200
