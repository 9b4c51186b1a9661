import asyncio
import json
from pathlib import Path

import aiohttp
import pytest
from tests.fakes.metering import (
    CLAUDE,
    REAL_KEY,
    Bench,
    a_bench,
    a_provider,
    a_raw_server,
    read_http,
    until,
)

from agentbench.core.summary import Ending
from agentbench.pod.mock_provider import MockProvider, messages
from agentbench.pod.mock_provider.script import Script, Turn
from agentbench.pod.warden.proxy import Gateway, ProxyLimits
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


async def test_a_provider_that_cannot_be_reached_is_answered_for(tmp_path: Path) -> None:
    async with a_bench("http://127.0.0.1:1", tmp_path) as bench:
        status, text = await bench.claude()
        assert (status, json.loads(text)["error"]["type"]) == (502, "api_error")
        status, text = await bench.codex()
        assert (status, json.loads(text)["error"]["code"]) == (502, "server_error")
        evidence = bench.meter.evidence(Ending.FAILED)
        assert (evidence.failures, evidence.outage, evidence.last_status) == (2, True, None)
        assert bench.value("cost_usd") == "0"
        assert [line["failure"] for line in bench.lines() if line["kind"] == "call"] == [
            "connect",
            "connect",
        ]


async def test_a_provider_that_says_nothing_is_answered_for_in_time(tmp_path: Path) -> None:
    fault = {"kind": "silent", "times": 0}
    limits = ProxyLimits(idle=0.2)
    async with (
        a_provider({"turns": [{"fault": fault}]}) as (_, url),
        a_bench(url, tmp_path, limits=limits) as bench,
    ):
        status, text = await bench.claude()
        assert (status, json.loads(text)["error"]["type"]) == (504, "timeout_error")
        assert bench.meter.measures()["cost_usd"].availability is Availability.DERIVED
        assert bench.meter.evidence(Ending.FAILED).outage


async def test_silence_inside_a_stream_ends_it_as_a_cut(tmp_path: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_http(reader)
        writer.write(head(None) + chunked(STREAM[:300]))
        await writer.drain()
        await reader.read()

    limits = ProxyLimits(idle=2.0)
    async with a_raw_server(answer) as url, a_bench(url, tmp_path, limits=limits) as bench:
        with pytest.raises(aiohttp.ClientError):
            await bench.claude()
        assert bench.lines()[0]["failure"] == "cut"


async def test_a_provider_that_hangs_up_without_a_word_is_answered_for(tmp_path: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_http(reader)

    async with a_raw_server(answer) as url, a_bench(url, tmp_path) as bench:
        assert (await bench.claude())[0] == 502
        assert bench.lines()[0]["failure"] == "no-answer"


async def test_stopping_the_proxy_counts_calls_that_are_still_out(tmp_path: Path) -> None:
    fault = {"kind": "slow", "seconds": 60, "times": 0}
    async with (
        a_provider({"turns": [{"fault": fault}]}) as (_, url),
        a_bench(url, tmp_path) as bench,
    ):
        call = asyncio.create_task(bench.claude())
        await until(lambda: bench.meter.in_flight == 1)
        await bench.proxy.stop(drain=0.05)
        with pytest.raises(aiohttp.ClientError):
            await call
        assert bench.meter.in_flight == 0
        [line] = bench.lines()
        assert (line["failure"], line["cost"]) == ("abandoned", "derived")
        assert bench.meter.evidence(Ending.FAILED).failures == 0


async def test_the_proxy_serves_on_a_unix_socket(tmp_path: Path) -> None:
    async with a_provider({"turns": [{"text": "hi"}]}) as (_, url), a_bench(url, tmp_path) as bench:
        path = str(tmp_path / "model.sock")
        await bench.proxy.listen_unix(path)
        assert Path(path).stat().st_mode & 0o777 == 0o666
        async with (
            aiohttp.ClientSession(connector=aiohttp.UnixConnector(path)) as session,
            session.post("http://x/v1/messages", json={"model": CLAUDE}) as answer,
        ):
            assert answer.status == 200
        assert bench.value("model_calls") == 1


async def test_probes_are_answered_and_free_requests_passed_on_uncounted(tmp_path: Path) -> None:
    async with a_provider({"turns": [{}]}) as (_, url), a_bench(url, tmp_path) as bench:
        for path in ("/", "/api/hello"):
            async with bench.session.head(bench.url + path) as answer:
                assert answer.status == 200
        async with bench.session.post(
            bench.url + "/v1/messages/count_tokens", json={"model": CLAUDE}
        ) as answer:
            assert await answer.json() == {"input_tokens": 8}
        async with bench.session.get(bench.url + "/v1/models") as answer:
            assert (await answer.json())["data"] == []
        assert bench.value("model_calls") == 0


async def test_calls_go_through_the_gateway_with_its_credential(tmp_path: Path) -> None:
    seen: list[bytes] = []

    async def gateway(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request, _ = await read_http(reader)
        seen.append(request)
        writer.write(head(len(STREAM)) + STREAM)

    async with a_raw_server(gateway) as url:
        way = Gateway(url=url, authorization="Basic c2VjcmV0")
        async with a_bench("http://api.example.invalid", tmp_path, gateway=way) as bench:
            assert (await bench.claude())[0] == 200
            assert_counted(bench)
    [request] = seen
    assert request.startswith(b"POST http://api.example.invalid/v1/messages?beta=true HTTP/1.1")
    assert b"proxy-authorization: basic c2vjcmv0" in request.lower()


async def test_a_provider_on_a_unix_socket_is_called_past_the_gateway(tmp_path: Path) -> None:
    nowhere = Gateway.parse("http://run-1:s3cret@127.0.0.1:1")
    provider = MockProvider(Script(turns=(TURN,)))
    path = tmp_path / "mock.sock"
    await provider.start_unix(str(path))
    async with a_bench("http://mock", tmp_path, gateway=nowhere, socket=path) as bench:
        status, _ = await bench.claude()
        assert status == 200
        assert_counted(bench)
    await provider.stop()


async def test_a_provider_in_the_pod_is_called_past_the_gateway(tmp_path: Path) -> None:
    nowhere = Gateway.parse("http://run-1:s3cret@127.0.0.1:1")
    script = {"turns": [TURN.model_dump(mode="json", by_alias=True)]}
    async with a_provider(script) as (provider, url):
        async with a_bench(url, tmp_path, gateway=nowhere, direct=True) as bench:
            assert (await bench.claude())[0] == 200
        async with a_bench(url, tmp_path, gateway=nowhere) as bench:
            assert (await bench.claude())[0] == 502
        assert len(provider.calls) == 1


async def test_a_gateway_that_refuses_the_tunnel_is_a_connection_that_failed(
    tmp_path: Path,
) -> None:
    seen: list[bytes] = []

    async def gateway(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request, _ = await read_http(reader)
        seen.append(request)
        writer.write(b"HTTP/1.1 403 Not for you\r\ncontent-length: 0\r\n\r\n")

    async with a_raw_server(gateway) as url:
        way = Gateway(url=url, authorization="Basic c2VjcmV0")
        async with a_bench("https://api.example.invalid", tmp_path, gateway=way) as bench:
            status, text = await bench.claude()
            assert status == 502
            assert b"403" in text
            assert bench.lines()[0]["failure"] == "connect"
    assert seen[0].startswith(b"CONNECT api.example.invalid:443 HTTP/1.1")
    assert b"c2VjcmV0" in seen[0]
    assert REAL_KEY.encode() not in seen[0]


async def test_an_upstream_with_a_path_in_front_is_joined(tmp_path: Path) -> None:
    seen: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request, _ = await read_http(reader)
        seen.append(request.split(b" ")[1])
        writer.write(head(len(STREAM)) + STREAM)

    async with a_raw_server(answer) as url, a_bench(url + "/anthropic/", tmp_path) as bench:
        await bench.post("/v1/messages?a=%2Fb&c=d+e", {"model": CLAUDE}, {})
    assert seen == [b"/anthropic/v1/messages?a=%2Fb&c=d+e"]


def test_a_gateways_credential_may_stand_in_its_url() -> None:
    assert Gateway.parse("http://gw:3128") == Gateway(url="http://gw:3128")
    gateway = Gateway.parse("http://run-1:s3cret@gw:3128")
    assert (gateway.url, gateway.authorization) == ("http://gw:3128", "Basic cnVuLTE6czNjcmV0")
