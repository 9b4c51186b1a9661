import asyncio
import json
from pathlib import Path
from typing import Any

from tests.fakes.metering import (
    CLAUDE,
    CLAUDE_PRICE,
    GPT,
    GPT_PRICE,
    Bench,
    a_bench,
    a_provider,
    price_document,
)

from agentbench.agents.port import ToolCount
from agentbench.core.pricing import PriceList
from agentbench.core.summary import Cap, Ending
from agentbench_analysis.rows.words import Availability

USAGE = {
    "input": 6,
    "cacheRead": 90_000,
    "cacheWrite5m": 1_500,
    "cacheWrite1h": 500,
    "output": 250,
}
OPENAI = {"input": 2_000, "cacheRead": 8_000, "output": 500, "reasoning": 300}


async def test_the_crossing_call_is_finished_and_later_ones_get_the_providers_budget_error(
    tmp_path: Path,
) -> None:
    turns = [{"usage": {"input": 0, "output": tokens}} for tokens in (480_000, 60_000, 1)]
    async with (
        a_provider({"turns": turns}) as (provider, url),
        a_bench(url, tmp_path, cap="5") as bench,
    ):
        assert (await bench.claude())[0] == 200
        assert (await bench.claude())[0] == 200
        status, body = await bench.claude()
        assert status == 402
        assert b'"type": "billing_error"' in body
        status, body = await bench.codex()
        assert status == 429
        assert b'"code": "insufficient_quota"' in body
        assert len(provider.calls) == 2
        assert bench.value("cost_usd") == "5.4"
        assert bench.value("cost_overshoot_usd") == "0.4"
        assert bench.caps == [Cap.COST]
        assert [line["kind"] for line in bench.lines()] == [
            "call",
            "call",
            "refusal",
            "refusal",
        ]


async def test_the_budget_error_asks_the_client_not_to_try_again(tmp_path: Path) -> None:
    async with (
        a_provider({"turns": [{"text": "hi"}]}) as (_, url),
        a_bench(url, tmp_path, cap="0") as bench,
    ):
        data = b'{"model":"claude-sonnet-5-5"}'
        async with bench.session.post(bench.url + "/v1/messages", data=data) as answer:
            assert answer.status == 402
            assert answer.headers["x-should-retry"] == "false"


async def test_of_two_parallel_calls_at_4_95_dollars_one_goes_out(tmp_path: Path) -> None:
    slow = {"kind": "slow", "seconds": 0.05, "times": 0}
    turns = [
        {"usage": {"input": 0, "output": 495_000}},
        {"usage": {"input": 0, "output": 20_000}, "fault": slow},
    ]
    async with (
        a_provider({"turns": turns}) as (provider, url),
        a_bench(url, tmp_path, cap="5") as bench,
    ):
        await bench.claude()
        answers = await asyncio.gather(bench.claude(), bench.claude())
        assert sorted(status for status, _ in answers) == [200, 402]
        assert len(provider.calls) == 2
        assert bench.value("cost_usd") == "5.15"


async def test_the_next_call_already_finds_the_crossing_one_counted(tmp_path: Path) -> None:
    turns = [{"usage": {"input": 0, "output": 600_000}}]
    for call in (Bench.claude, Bench.codex, Bench.chat):
        for stream in (True, False):
            async with (
                a_provider({"turns": turns}) as (provider, url),
                a_bench(url, tmp_path, cap="5") as bench,
            ):
                for _ in range(3):
                    await call(bench, stream=stream)
                assert len(provider.calls) == 1


async def test_a_model_that_the_agent_chose_without_a_price_is_refused_and_no_fault_of_ours(
    tmp_path: Path,
) -> None:
    async with a_provider({"turns": [{}]}) as (provider, url), a_bench(url, tmp_path) as bench:
        status, body = await bench.claude(model="claude-opus-9")
        assert status == 404
        assert b"not_found_error" in body
        assert b"does not name model" in body
        status, body = await bench.codex(model="gpt-6.1-sol")
        assert status == 404
        assert b"model_not_found" in body
        assert len(provider.calls) == 0
        assert bench.meter.evidence(Ending.FAILED).unpriced_models == ()
        assert bench.unpriced == []
        assert bench.meter.notes == (
            "refused calls for claude-opus-9: no price",
            "refused calls for gpt-6.1-sol: no price",
        )
        assert bench.value("cost_usd") == "0"
        assert (await bench.claude())[0] == 200


async def test_the_protocols_own_model_without_a_price_is_flagged_before_its_first_call(
    tmp_path: Path,
) -> None:
    own = "gpt-6.1-sol"
    async with (
        a_provider({"turns": [{}]}) as (provider, url),
        a_bench(url, tmp_path, model=own) as bench,
    ):
        assert (await bench.codex(model=own))[0] == 404
        assert bench.unpriced == [own]
        assert bench.meter.evidence(Ending.FAILED).unpriced_models == (own,)
        assert len(provider.calls) == 0


async def test_another_model_that_answers_ends_the_run_and_its_cost_is_no_number(
    tmp_path: Path,
) -> None:
    async with (
        a_provider({"turns": [{"model": "claude-opus-9"}]}) as (_, url),
        a_bench(url, tmp_path) as bench,
    ):
        assert (await bench.claude())[0] == 200
        assert (await bench.claude())[0] == 402
        cost = bench.meter.measures()["cost_usd"]
        assert cost.value is None
        assert cost.availability is Availability.UNAVAILABLE
        assert bench.lines()[0]["costUsd"] is None


async def test_tool_uses_are_counted_in_answers_for_agents_without_a_hook(tmp_path: Path) -> None:
    tools = [{"name": "Bash", "input": {"n": number}} for number in range(3)]
    async with a_provider({"turns": [{"tools": tools}]}) as (_, url):
        bench_of = a_bench(url, tmp_path, tools=ToolCount.PROXY, tool_cap=5)
        async with bench_of as bench:
            await bench.claude()
            assert bench.caps == []
            await bench.codex()
            assert bench.caps == [Cap.TOOL_CALLS]
            assert bench.value("tool_calls") == 6
            assert (await bench.chat())[0] == 429


async def test_paid_server_tools_without_a_price_are_refused(tmp_path: Path) -> None:
    async with (
        a_provider({"turns": [{"text": "hi"}]}) as (provider, url),
        a_bench(url, tmp_path) as bench,
    ):
        offers: list[tuple[Any, dict[str, Any]]] = [
            (Bench.claude, {"tools": [{"type": "web_search_20250305", "name": "web_search"}]}),
            (Bench.claude, {"tools": [{"type": "code_execution_20250825"}]}),
            (Bench.codex, {"tools": [{"type": "web_search"}]}),
            (
                Bench.codex,
                {"input": [{"type": "additional_tools", "tools": [{"type": "image_generation"}]}]},
            ),
            (Bench.codex, {"background": True}),
            (Bench.codex, {"service_tier": "priority"}),
            (Bench.claude, {"speed": "fast"}),
            (Bench.chat, {"web_search_options": {}}),
        ]
        for call, extra in offers:
            status, body = await call(bench, **extra)
            assert status == 400, extra
            assert b"invalid_request_error" in body
        assert len(provider.calls) == 0
        tools = [{"name": "Bash", "input_schema": {}}, {"type": "bash_20250124", "name": "b"}]
        assert (await bench.claude(tools=tools, service_tier="auto"))[0] == 200
        assert (await bench.codex(tools=[{"type": "function", "name": GPT}]))[0] == 200


async def test_a_web_search_with_a_price_goes_out_and_is_paid_apiece(tmp_path: Path) -> None:
    document = price_document()
    document["models"] = {CLAUDE: CLAUDE_PRICE | {"search": "0.01"}}
    document["models"][GPT] = GPT_PRICE | {"search": "0.03"}
    prices = PriceList.parse(json.dumps(document), "prices.json")
    turns = [{"usage": {"input": 0, "output": 0, "searches": 2}}]
    async with (
        a_provider({"turns": turns}) as (_, url),
        a_bench(url, tmp_path, prices=prices) as bench,
    ):
        tools = [{"type": "web_search_20250305", "name": "web_search"}]
        assert (await bench.claude(tools=tools))[0] == 200
        assert bench.value("cost_usd") == "0.02"
        assert (await bench.codex(tools=[{"type": "web_search"}]))[0] == 200
        assert bench.value("cost_usd") == "0.08"
        assert [line["searches"] for line in bench.lines()] == [2, 2]


async def test_searches_that_were_run_without_a_price_end_the_run(tmp_path: Path) -> None:
    turns = [{"usage": {"input": 0, "output": 0, "searches": 1}}]
    async with a_provider({"turns": turns}) as (_, url), a_bench(url, tmp_path) as bench:
        assert (await bench.claude())[0] == 200
        assert bench.value("cost_usd") is None
        assert (await bench.claude())[0] == 402
