"""Answers in the shape of the Anthropic Messages API."""

import json
from collections.abc import Iterator
from typing import Any

from agentbench.pod.mock_provider.script import Turn, UsagePlan

Event = dict[str, Any]


def usage(plan: UsagePlan) -> dict[str, Any]:
    """Usage as this API reports it: input apart from what the cache read and wrote."""
    if plan.raw is not None:
        return plan.raw
    counts: dict[str, Any] = {
        "input_tokens": plan.input,
        "cache_creation_input_tokens": plan.cache_write_5m + plan.cache_write_1h,
        "cache_read_input_tokens": plan.cache_read,
        "output_tokens": plan.output,
    }
    if plan.reasoning:
        counts["output_tokens_details"] = {"thinking_tokens": plan.reasoning}
    if plan.searches:
        counts["server_tool_use"] = {"web_search_requests": plan.searches}
    return counts


def _split(plan: UsagePlan) -> dict[str, Any]:
    if plan.raw is not None:
        return {}
    return {
        "cache_creation": {
            "ephemeral_5m_input_tokens": plan.cache_write_5m,
            "ephemeral_1h_input_tokens": plan.cache_write_1h,
        },
        "service_tier": "standard",
    }


def _blocks(turn: Turn, number: int) -> list[Event]:
    blocks: list[Event] = []
    if turn.text or not turn.tools:
        blocks.append({"type": "text", "text": turn.text})
    for index, tool in enumerate(turn.tools):
        blocks.append(
            {
                "type": "tool_use",
                "id": f"toolu_mock{number:04}_{index}",
                "name": tool.name,
                "input": tool.input,
            }
        )
    return blocks


def whole(turn: Turn, number: int, model: str) -> Event:
    """The answer to a call that is not streamed."""
    message: Event = {
        "id": f"msg_mock{number:04}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": _blocks(turn, number),
        "stop_reason": "tool_use" if turn.tools else "end_turn",
        "stop_sequence": None,
    }
    if not turn.usage.missing:
        message["usage"] = usage(turn.usage) | _split(turn.usage)
    return message


def events(turn: Turn, number: int, model: str) -> Iterator[tuple[str, Event]]:
    """The events of a streamed answer, by name."""
    message = whole(turn, number, model) | {"content": [], "stop_reason": None}
    if "usage" in message:
        # The output is a placeholder until the end, as it is at the real provider.
        message["usage"] = message["usage"] | {"output_tokens": 1}
    yield "message_start", {"message": message}
    yield "ping", {}
    for index, block in enumerate(_blocks(turn, number)):
        if block["type"] == "text":
            pieces, kind, name = _halves(block["text"]), "text_delta", "text"
            empty: Event = {"type": "text", "text": ""}
        else:
            text = json.dumps(block["input"])
            pieces, kind, name = _halves(text), "input_json_delta", "partial_json"
            empty = block | {"input": {}}
        yield "content_block_start", {"index": index, "content_block": empty}
        for piece in pieces:
            yield "content_block_delta", {"index": index, "delta": {"type": kind, name: piece}}
        yield "content_block_stop", {"index": index}
    reason = "tool_use" if turn.tools else "end_turn"
    closing: Event = {"delta": {"stop_reason": reason, "stop_sequence": None}}
    if not turn.usage.missing:
        closing["usage"] = usage(turn.usage)
    yield "message_delta", closing
    yield "message_stop", {}


def error_event(kind: str) -> tuple[str, Event]:
    """An error inside a stream."""
    return "error", {"error": {"type": kind, "message": "scripted"}}


def _halves(text: str) -> list[str]:
    middle = len(text) // 2
    return [piece for piece in (text[:middle], text[middle:]) if piece]
