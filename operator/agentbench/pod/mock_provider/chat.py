"""Answers in the shape of the OpenAI Chat Completions API."""

import json
from collections.abc import Iterator
from typing import Any

from agentbench.pod.mock_provider.script import Turn, UsagePlan

Event = dict[str, Any]
CREATED = 1_700_000_000


def usage(plan: UsagePlan) -> dict[str, Any] | None:
    """Usage as this API reports it: the prompt includes what the cache read and wrote."""
    if plan.missing:
        return None
    if plan.raw is not None:
        return plan.raw
    given = plan.input + plan.cache_read + plan.cache_write_5m + plan.cache_write_1h
    return {
        "prompt_tokens": given,
        "completion_tokens": plan.output,
        "total_tokens": given + plan.output,
        "prompt_tokens_details": {"cached_tokens": plan.cache_read},
        "completion_tokens_details": {"reasoning_tokens": plan.reasoning},
    }


def _calls(turn: Turn, number: int) -> list[Event]:
    return [
        {
            "id": f"call_mock{number:04}_{index}",
            "type": "function",
            "function": {
                "name": tool.name,
                "arguments": (
                    tool.input if isinstance(tool.input, str) else json.dumps(tool.input)
                ),
            },
        }
        for index, tool in enumerate(turn.tools)
    ]


def _finish(turn: Turn) -> str:
    return "tool_calls" if turn.tools else "stop"


def whole(turn: Turn, number: int, model: str) -> Event:
    """The answer to a call that is not streamed."""
    message: Event = {"role": "assistant", "content": turn.text or None}
    if turn.tools:
        message["tool_calls"] = _calls(turn, number)
    completion: Event = {
        "id": f"chatcmpl-mock{number:04}",
        "object": "chat.completion",
        "created": CREATED,
        "model": model,
        "choices": [
            {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(turn)}
        ],
    }
    if (counts := usage(turn.usage)) is not None:
        completion["usage"] = counts
    return completion


def chunks(turn: Turn, number: int, model: str, *, with_usage: bool) -> Iterator[Event]:
    """The chunks of a streamed answer; usage comes in a last one of its own, if asked for."""
    head: Event = {
        "id": f"chatcmpl-mock{number:04}",
        "object": "chat.completion.chunk",
        "created": CREATED,
        "model": model,
    }

    def chunk(delta: Event, finish: str | None = None) -> Event:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**head, "choices": [choice]} | ({"usage": None} if with_usage else {})

    yield chunk({"role": "assistant", "content": ""})
    middle = len(turn.text) // 2
    for piece in (turn.text[:middle], turn.text[middle:]):
        if piece:
            yield chunk({"content": piece})
    for index, call in enumerate(_calls(turn, number)):
        yield chunk({"tool_calls": [{"index": index, **call}]})
    yield chunk({}, _finish(turn))
    if with_usage and (counts := usage(turn.usage)) is not None:
        yield {**head, "choices": [], "usage": counts}
