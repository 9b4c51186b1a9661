import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard
from tests.fakes.metering import (
    CLAUDE,
    REAL_KEY,
    Bench,
    a_bench,
    a_provider,
    a_raw_server,
    read_http,
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


@pytest.mark.parametrize(
    ("method", "path", "headers", "status", "said"),
    [
        ("POST", "/v1/nothing", {"x-api-key": "d"}, 404, '"type": "not_found_error"'),
        ("POST", "/v1/nothing", {}, 404, '"code": "unknown_url"'),
        ("GET", "/v1/messages", {}, 405, '"type": "invalid_request_error"'),
        ("GET", "/v1/responses", {"upgrade": "websocket"}, 405, "method_not_supported"),
        ("DELETE", "/v1/models", {}, 405, "method_not_supported"),
        ("POST", "/v1/messages/batches", {}, 404, "not_found_error"),
        ("POST", "/v1/messages", {}, 400, "not valid JSON"),
        ("POST", "/v1/responses", {}, 400, "not valid JSON"),
        ("POST", "/v1/chat/completions", {}, 400, "not valid JSON"),
    ],
)
async def test_what_is_not_served_gets_an_error_in_the_providers_shape(
    tmp_path: Path, method: str, path: str, headers: dict[str, str], status: int, said: str
) -> None:
    async with (
        a_provider({"turns": [{}]}) as (provider, url),
        a_bench(url, tmp_path) as bench,
        bench.session.request(
            method, bench.url + path, headers=headers, data=b"{" if method == "POST" else None
        ) as answer,
    ):
        assert answer.status == status
        text = await answer.text()
        assert said in text
        assert "error" in json.loads(text)
        assert answer.headers["content-type"] == "application/json"
        assert len(provider.calls) == 0
        [line] = bench.lines()
        assert (line["kind"], line["status"]) == ("refusal", status)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b'"x"',
        b"\xff\xfe",
        b'{"model": 1}',
        b'{"model": ""}',
        b"[" * 100_000,
        b'{"model": "claude-sonnet-5-5", "service_tier": {}}',
        b'{"model": "claude-sonnet-5-5", "n": ' + b"9" * 5_000 + b"}",
    ],
)
async def test_malformed_bodies_are_refused_and_never_sent(tmp_path: Path, body: bytes) -> None:
    async with a_provider({"turns": [{}]}) as (provider, url), a_bench(url, tmp_path) as bench:
        status, text = await bench.post("/v1/messages", body, {})
        assert status == 400
        assert json.loads(text)["error"]["type"] == "invalid_request_error"
        assert len(provider.calls) == 0


async def test_a_body_over_the_limit_is_refused_however_it_is_sent(tmp_path: Path) -> None:
    async def pieces() -> Any:
        for _ in range(20):
            yield b"x" * 100

    limits = ProxyLimits(body=1_000)
    async with (
        a_provider({"turns": [{}]}) as (_, url),
        a_bench(url, tmp_path, limits=limits) as bench,
    ):
        status, text = await bench.post("/v1/messages", b"x" * 1_001, {})
        assert (status, json.loads(text)["error"]["type"]) == (413, "request_too_large")
        async with bench.session.post(bench.url + "/v1/responses", data=pieces()) as answer:
            assert answer.status == 413


async def test_a_compressed_request_is_understood_and_passed_on_as_it_is(tmp_path: Path) -> None:
    body = json.dumps({"model": CLAUDE}).encode()
    packed = zstandard.ZstdCompressor().compress(body)
    got: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request, sent = await read_http(reader)
        assert b"content-encoding: zstd" in request.lower()
        got.append(sent)
        writer.write(head(len(STREAM)) + STREAM)

    limits = ProxyLimits(body=10_000)
    async with a_raw_server(answer) as url, a_bench(url, tmp_path, limits=limits) as bench:
        headers = {"content-encoding": "zstd"}
        assert (await bench.post("/v1/messages", packed, headers))[0] == 200
        assert got == [packed]
        bomb = zstandard.ZstdCompressor().compress(b" " * 10_000_000)
        status, text = await bench.post("/v1/messages", bomb, headers)
        assert status == 400
        assert b"more than 10000 bytes" in text
        status, _ = await bench.post("/v1/messages", b"junk", headers)
        assert status == 400


async def test_an_error_that_shows_the_key_does_not_show_it_to_the_agent(tmp_path: Path) -> None:
    body = b'{"error":{"message":"wrong key %s"}}' % REAL_KEY.encode()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_http(reader)
        writer.write(b"HTTP/1.1 401 No\r\nx-echo: %s\r\n" % REAL_KEY.encode())
        writer.write(b"content-length: %d\r\n\r\n%s" % (len(body), body))

    async with (
        a_raw_server(answer) as url,
        a_bench(url, tmp_path) as bench,
        bench.session.post(bench.url + "/v1/messages", json={"model": CLAUDE}) as response,
    ):
        assert response.status == 401
        assert await response.text() == '{"error":{"message":"wrong key [key]"}}'
        assert "x-echo" not in response.headers


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.1:9/v1/messages",
        "@127.0.0.1:9/v1/messages",
        "//v1/messages",
        "/v1/%6dessages",
        "/v1/models/../messages",
        "/v1/models/..",
        "/v1/models/%2e%2e/files",
        "/v1/messages/",
        "/v1/messages;x",
    ],
)
async def test_no_target_takes_the_key_to_another_place(tmp_path: Path, target: str) -> None:
    method = b"GET" if "models" in target else b"POST"
    async with a_provider({"turns": [{}]}) as (provider, url), a_bench(url, tmp_path) as bench:
        reader, writer = await asyncio.open_connection("127.0.0.1", bench.port)
        body = json.dumps({"model": CLAUDE}).encode()
        writer.write(b"%s %s HTTP/1.1\r\nhost: x\r\n" % (method, target.encode()))
        writer.write(b"content-length: %d\r\nconnection: close\r\n\r\n%s" % (len(body), body))
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        assert answer.split(b" ")[1] in (b"404", b"400")
        assert len(provider.calls) == 0


async def test_a_name_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    async with a_provider({"turns": [{}]}) as (provider, url), a_bench(url, tmp_path) as bench:
        body = b'{"model": "claude-sonnet-5-5", "speed": "fast", "speed": "standard"}'
        status, text = await bench.post("/v1/messages", body, {})
        assert status == 400
        assert b"the same name twice" in text
        assert len(provider.calls) == 0


async def test_a_crowd_of_large_requests_is_told_to_try_again(tmp_path: Path) -> None:
    fault = {"kind": "slow", "seconds": 1.5, "times": 0}
    limits = ProxyLimits(buffered=30_000)
    async with (
        a_provider({"turns": [{"fault": fault}]}) as (_, url),
        a_bench(url, tmp_path, limits=limits) as bench,
    ):
        calls = [bench.claude(False, messages=["x" * 10_000]) for _ in range(6)]
        answers = await asyncio.gather(*calls)
        statuses = [status for status, _ in answers]
        assert sorted(set(statuses)) == [200, 529]
        assert statuses.count(200) == 2
        assert (await bench.claude(False, messages=["x" * 10_000]))[0] == 200


async def test_a_client_that_hangs_up_inside_its_request_does_no_harm(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with a_provider({"turns": [{}]}) as (provider, url), a_bench(url, tmp_path) as bench:
        for size in (0, 10):
            _, writer = await asyncio.open_connection("127.0.0.1", bench.port)
            writer.write(b"POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 99\r\n\r\n")
            writer.write(b"x" * size)
            await writer.drain()
            writer.transport.abort()
        assert (await bench.claude())[0] == 200
        assert len(provider.calls) == 1
        assert "Error handling request" not in caplog.text


async def test_bytes_that_are_no_http_are_answered_and_do_no_harm(tmp_path: Path) -> None:
    async with a_provider({"turns": [{}]}) as (_, url), a_bench(url, tmp_path) as bench:
        reader, writer = await asyncio.open_connection("127.0.0.1", bench.port)
        writer.write(b"\x16\x03\x01 hello\r\n\r\n")
        assert b"400" in await reader.read()
        writer.close()
        await writer.wait_closed()
        assert (await bench.claude())[0] == 200


async def test_chunks_that_are_none_are_answered(tmp_path: Path) -> None:
    async with a_provider({"turns": [{}]}) as (provider, url), a_bench(url, tmp_path) as bench:
        reader, writer = await asyncio.open_connection("127.0.0.1", bench.port)
        writer.write(b"POST /v1/messages HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n")
        writer.write(b"\r\n4\r\nabcd\r\nnonsense\r\n")
        assert b" 400 " in await reader.readline()
        writer.transport.abort()
        assert len(provider.calls) == 0
        assert (await bench.claude())[0] == 200


async def test_a_body_of_countless_values_is_refused_before_it_is_read(tmp_path: Path) -> None:
    async with a_provider({"turns": [{}]}) as (provider, url), a_bench(url, tmp_path) as bench:
        for value in (b"[]", b"1"):
            body = b'{"model": "claude-sonnet-5-5", "x": [%s]}' % b",".join([value] * 2_100_000)
            status, text = await bench.post("/v1/messages", body, {})
            assert status == 413
            assert b"too many objects or values" in text
        assert len(provider.calls) == 0


async def test_connections_beyond_the_bound_are_closed_and_the_others_served(
    tmp_path: Path,
) -> None:
    limits = ProxyLimits(connections=3)
    async with (
        a_provider({"turns": [{}]}) as (_, url),
        a_bench(url, tmp_path, limits=limits) as bench,
    ):
        assert (await bench.claude())[0] == 200
        idle = [await asyncio.open_connection("127.0.0.1", bench.port) for _ in range(6)]
        for reader, _ in idle[2:]:
            assert await reader.read() == b""
        assert (await bench.claude())[0] == 200
        for _, writer in idle:
            writer.transport.abort()
