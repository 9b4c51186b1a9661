"""The endpoint that pre-tool hooks ask."""

import asyncio
import io
import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from agentbench.core.pricing import PriceList
from agentbench.pod.warden.hooks import Asked, HookServer
from agentbench.pod.warden.meter import Meter

CLAUDE = {
    "session_id": "s",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "true"},
    "tool_use_id": "toolu_1",
}
CODEX = {**CLAUDE, "turn_id": "t", "agent_id": "a1", "tool_use_id": "exec-1"}


class Endpoint:
    def __init__(self, cap: int) -> None:
        self.meter = Meter(prices=PriceList(), tool_cap=cap)
        self.asked: list[Asked] = []
        self.hooks = HookServer(self.meter, self.asked.append)
        self.url = ""
        self.client: aiohttp.ClientSession

    async def ask(self, body: bytes | dict[str, Any], query: str = "") -> dict[str, Any]:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        async with self.client.post(self.url + query, data=io.BytesIO(data)) as answer:
            assert answer.status == 200
            content: dict[str, Any] = await answer.json()
            return content

    @property
    def count(self) -> object:
        return self.meter.measures()["tool_calls"].value


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    one = Endpoint(cap=3)
    port = await one.hooks.listen_tcp("127.0.0.1", 0)
    one.url = f"http://127.0.0.1:{port}/pre"
    async with aiohttp.ClientSession() as one.client:
        yield one
    await one.hooks.stop()


async def test_an_allowed_tool_gets_an_answer_without_a_decision(endpoint: Endpoint) -> None:
    assert await endpoint.ask(CLAUDE) == {}
    assert await endpoint.ask(CODEX) == {}
    assert [(one.tool, one.call_id, one.subagent) for one in endpoint.asked] == [
        ("Bash", "toolu_1", None),
        ("Bash", "exec-1", "a1"),
    ]


async def test_beyond_the_cap_a_tool_is_denied(endpoint: Endpoint) -> None:
    for _ in range(3):
        await endpoint.ask(CODEX)
    denied = await endpoint.ask(CODEX)
    assert denied == {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "tool-call cap reached",
        }
    }
    assert endpoint.count == 3


async def test_only_who_understands_it_is_told_to_stop(endpoint: Endpoint) -> None:
    for _ in range(3):
        await endpoint.ask(CLAUDE)
    assert "continue" not in await endpoint.ask(CODEX)
    assert (await endpoint.ask(CLAUDE, "?stop=1"))["continue"] is False


async def test_of_20_at_once_with_one_left_exactly_one_is_allowed(endpoint: Endpoint) -> None:
    await endpoint.ask(CLAUDE)
    await endpoint.ask(CLAUDE)
    answers = await asyncio.gather(*(endpoint.ask(CLAUDE) for _ in range(20)))
    assert answers.count({}) == 1
    assert endpoint.count == 3


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b"[" * 30_000, b'{"tool_name": 5}', b"\xff\xfe"]
)
async def test_a_payload_that_is_not_known_counts_all_the_same(
    endpoint: Endpoint, body: bytes
) -> None:
    assert await endpoint.ask(body) == {}
    assert endpoint.count == 1
    assert endpoint.asked[0].problem is not None


async def test_the_same_call_asked_for_twice_counts_twice(endpoint: Endpoint) -> None:
    await endpoint.ask(CLAUDE)
    await endpoint.ask(CLAUDE)
    assert endpoint.count == 2


async def test_a_payload_of_20_mb_is_answered(endpoint: Endpoint) -> None:
    body = {**CLAUDE, "tool_input": {"content": "x" * 20_000_000}}
    assert await endpoint.ask(body) == {}
    assert endpoint.asked[0].problem == "payload too long to be named"


async def test_another_method_counts_nothing_and_allows_nothing(endpoint: Endpoint) -> None:
    for method in ("GET", "PUT", "DELETE"):
        async with endpoint.client.request(method, endpoint.url) as answer:
            assert answer.status == 405
    assert endpoint.count == 0


async def test_when_the_run_is_over_every_tool_is_denied_and_none_counted(
    endpoint: Endpoint,
) -> None:
    endpoint.hooks.end("wall time cap reached")
    denied = await endpoint.ask(CLAUDE)
    reason = denied["hookSpecificOutput"]["permissionDecisionReason"]
    assert reason == "wall time cap reached"
    assert endpoint.count == 0
