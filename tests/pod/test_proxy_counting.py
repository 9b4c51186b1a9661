import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.metering import CLAUDE, REAL_KEY, Bench, a_bench, a_provider

from agentbench.core.summary import Ending
from agentbench_analysis.rows.words import Availability

USAGE = {
    "input": 6,
    "cacheRead": 90_000,
    "cacheWrite5m": 1_500,
    "cacheWrite1h": 500,
    "output": 250,
}
OPENAI = {"input": 2_000, "cacheRead": 8_000, "output": 500, "reasoning": 300}


@pytest.mark.parametrize("stream", [True, False])
async def test_a_message_is_counted_from_either_shape(tmp_path: Path, stream: bool) -> None:
    turns = [{"text": "hi", "tools": [{"name": "Bash", "input": {"a": 1}}], "usage": USAGE}]
    async with a_provider({"turns": turns}) as (_, url), a_bench(url, tmp_path) as bench:
        status, body = await bench.claude(stream=stream)
        assert status == 200
        assert b"toolu_mock0001_0" in body
        measures = bench.meter.measures()
        assert [
            measures[name].value
            for name in ("input_uncached", "cache_read", "cache_write_5m", "cache_write_1h")
        ] == [6, 90_000, 1_500, 500]
        assert bench.value("output") == 250
        assert bench.value("cost_usd") == "0.017262"
        assert measures["cost_usd"].availability is Availability.MEASURED
        assert bench.meter.models == (CLAUDE,)
        [line] = bench.lines()
        assert line["toolCalls"] == 1
        assert line["status"] == 200
        assert line["costUsd"] == "0.017262"
        assert line["usage"]["cache_read"] == 90_000
        assert line["streamed"] is stream


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("api", ["codex", "chat"])
async def test_openai_answers_are_counted_from_every_shape(
    tmp_path: Path, stream: bool, api: str
) -> None:
    turns = [{"text": "hi", "usage": OPENAI}]
    async with a_provider({"turns": turns}) as (_, url), a_bench(url, tmp_path) as bench:
        call = bench.codex if api == "codex" else bench.chat
        status, _ = await call(stream=stream)
        assert status == 200
        assert bench.value("input_uncached") == 2_000
        assert bench.value("cache_read") == 8_000
        assert bench.value("output") == 500
        assert bench.value("reasoning") == 300
        assert bench.value("cost_usd") == "0.0085"
        assert bench.value("cache_write_5m") is None


async def test_what_the_client_gets_is_byte_for_byte_what_the_provider_sent(
    tmp_path: Path,
) -> None:
    turns = [{"text": "späße ✓", "tools": [{"name": "Bash", "input": {"x": "é"}}]}]
    for call in (Bench.claude, Bench.codex, Bench.chat):
        for stream in (True, False):
            async with (
                a_provider({"turns": turns}) as (provider, url),
                a_bench(url, tmp_path) as bench,
            ):
                proxied = await call(bench, stream=stream)
                provider.reset()
                bench.url = url
                assert await call(bench, stream=stream) == proxied


async def test_the_real_key_goes_upstream_and_the_clients_goes_nowhere(tmp_path: Path) -> None:
    async with (
        a_provider({"turns": [{"text": "hi"}], "key": REAL_KEY}) as (provider, url),
        a_bench(url, tmp_path) as bench,
    ):
        assert (await bench.claude())[0] == 200
        assert (await bench.codex())[0] == 200
        anthropic, openai = provider.calls
        assert anthropic["headers"]["x-api-key"] == REAL_KEY
        assert openai["headers"]["authorization"] == f"Bearer {REAL_KEY}"
        assert "dummy" not in str(list(provider.calls))
        assert anthropic["headers"]["accept-encoding"] == "identity"
        assert REAL_KEY not in bench.ledger.read_text()


async def test_the_request_reaches_the_provider_as_it_was(tmp_path: Path) -> None:
    async with (
        a_provider({"turns": [{"text": "hi"}]}) as (provider, url),
        a_bench(url, tmp_path) as bench,
    ):
        headers = {
            "anthropic-version": "2023-06-01",
            "anthropic-beta": "a,b",
            "connection": "keep-alive, x-hop",
            "x-hop": "1",
            "x-claude-code-agent-id": "sub-1",
        }
        body = b'{ "model" : "claude-sonnet-5-5",\n"stream":true }'
        status, _ = await bench.post("/v1/messages?beta=true", body, headers)
        assert status == 200
        [call] = provider.calls
        assert call["path"] == "/v1/messages?beta=true"
        assert call["headers"]["anthropic-beta"] == "a,b"
        assert call["headers"]["content-length"] == str(len(body))
        assert "x-hop" not in call["headers"]
        assert bench.lines()[0]["agentId"] == "sub-1"


@pytest.mark.parametrize("call", [Bench.claude, Bench.codex, Bench.chat])
@pytest.mark.parametrize("stream", [True, False])
async def test_a_cut_answer_is_cut_for_the_client_too_and_its_cost_derived(
    tmp_path: Path, call: Any, stream: bool
) -> None:
    cut = {"kind": "cut", "afterEvents": 4}
    turns = [{"text": "half of a sentence", "usage": {"cacheRead": 9}, "fault": cut}]
    async with a_provider({"turns": turns}) as (_, url), a_bench(url, tmp_path) as bench:
        with pytest.raises(Exception, match=r"payload|disconnected|closed|reset"):
            await call(bench, stream=stream)
        assert (await call(bench, stream=stream))[0] == 200
        measures = bench.meter.measures()
        assert measures["output"].value is None
        assert measures["output"].reason == "1 of 2 calls: the answer was cut before its usage"
        assert measures["cost_usd"].availability is Availability.DERIVED
        assert bench.value("model_call_failures") == 1
        first, second = bench.lines()
        assert first["failure"] == "cut"
        assert first["cost"] == "derived"
        assert second["cost"] == "measured"


async def test_529_for_long_is_evidence_of_an_outage(tmp_path: Path) -> None:
    fault = {"kind": "status", "status": 529, "times": 0, "headers": {"retry-after": "1"}}
    async with (
        a_provider({"turns": [{}, {"fault": fault}]}) as (_, url),
        a_bench(url, tmp_path) as bench,
    ):
        await bench.claude()
        data = b'{"model":"claude-sonnet-5-5"}'
        for _ in range(4):
            async with bench.session.post(bench.url + "/v1/messages", data=data) as answer:
                assert answer.status == 529
                assert answer.headers["retry-after"] == "1"
                assert b"overloaded_error" in await answer.read()
        evidence = bench.meter.evidence(Ending.FAILED)
        assert evidence.outage
        assert (evidence.calls, evidence.failures, evidence.last_status) == (5, 4, 529)
        assert bench.value("cost_usd") == "0.0004"


async def test_errors_inside_a_stream_are_evidence_and_are_not_free(tmp_path: Path) -> None:
    fault = {"kind": "error-event", "afterEvents": 5, "times": 1}
    for call in (Bench.claude, Bench.codex):
        async with (
            a_provider({"turns": [{"text": "hi ho", "fault": fault}]}) as (_, url),
            a_bench(url, tmp_path) as bench,
        ):
            assert (await call(bench))[0] == 200
            evidence = bench.meter.evidence(Ending.FAILED)
            assert (evidence.failures, evidence.outage) == (1, True)
            measure = bench.meter.measures()["cost_usd"]
            assert measure.availability is Availability.DERIVED
            assert measure.value != "0"


async def test_garbage_is_a_failed_call_with_a_derived_cost(tmp_path: Path) -> None:
    fault = {"kind": "garbage", "times": 0}
    async with (
        a_provider({"turns": [{"fault": fault}]}) as (_, url),
        a_bench(url, tmp_path) as bench,
    ):
        for stream in (True, False):
            status, body = await bench.claude(stream=stream)
            assert (status, body) == (200, b"\x00<html>\xff not an answer")
        assert bench.value("model_call_failures") == 2
        assert bench.meter.measures()["cost_usd"].availability is Availability.DERIVED


async def test_usage_that_contradicts_itself_is_marked_and_not_guessed(tmp_path: Path) -> None:
    raw = {"input_tokens": 5, "output_tokens": 3, "input_tokens_details": {"cached_tokens": 9}}
    async with (
        a_provider({"turns": [{"usage": {"raw": raw}}]}) as (_, url),
        a_bench(url, tmp_path) as bench,
    ):
        await bench.codex()
        measure = bench.meter.measures()["input_uncached"]
        assert measure.value is None
        assert "inconsistent usage" in str(measure.reason)
        assert bench.meter.measures()["cost_usd"].availability is Availability.DERIVED


async def test_missing_usage_is_unavailable_and_its_cost_derived(tmp_path: Path) -> None:
    async with a_provider({"turns": [{"text": "hi", "usage": {"missing": True}}]}) as (_, url):
        for call in (Bench.claude, Bench.codex, Bench.chat):
            for stream in (True, False):
                async with a_bench(url, tmp_path) as bench:
                    assert (await call(bench, stream=stream))[0] == 200
                    measures = bench.meter.measures()
                    assert measures["output"].value is None
                    assert measures["cost_usd"].availability is Availability.DERIVED
                    assert bench.value("model_call_failures") == 0


async def test_a_chat_stream_that_did_not_ask_for_usage_is_derived(tmp_path: Path) -> None:
    async with a_provider({"turns": [{"text": "hi"}]}) as (_, url), a_bench(url, tmp_path) as bench:
        await bench.chat(stream_options=None)
        assert bench.meter.measures()["cost_usd"].availability is Availability.DERIVED


async def test_sub_agents_and_parallel_calls_are_all_counted(tmp_path: Path) -> None:
    async with (
        a_provider({"turns": [{"usage": {"input": 10, "output": 5}}]}) as (_, url),
        a_bench(url, tmp_path) as bench,
    ):
        answers = await asyncio.gather(*(bench.claude() for _ in range(40)))
        assert all(status == 200 for status, _ in answers)
        assert bench.value("input_uncached") == 400
        assert bench.value("output") == 200
        assert bench.value("model_calls") == 40
