"""Answers in the shape of the OpenAI Responses API."""

import json
from collections.abc import Iterator
from typing import Any

from agentbench.pod.mock_provider.script import Turn, UsagePlan

Event = dict[str, Any]
CREATED = 1_700_000_000


def usage(plan: UsagePlan) -> dict[str, Any] | None:
    """Usage as this API reports it: the input includes what the cache read and wrote."""
    if plan.missing:
        return None
    if plan.raw is not None:
        return plan.raw
    written = plan.cache_write_5m + plan.cache_write_1h
    given = plan.input + plan.cache_read + written
    details = {"cached_tokens": plan.cache_read}
    if written:
        details["cache_write_tokens"] = written
    return {
        "input_tokens": given,
        "input_tokens_details": details,
        "output_tokens": plan.output,
        "output_tokens_details": {"reasoning_tokens": plan.reasoning},
        "total_tokens": given + plan.output,
    }


def _items(turn: Turn, number: int) -> list[Event]:
    items: list[Event] = []
    for index in range(turn.usage.searches):
        action = {"type": "search", "query": "scripted"}
        identity = {"id": f"ws_mock{number:04}_{index}", "type": "web_search_call"}
        items.append({**identity, "status": "completed", "action": action})
    if turn.text or not turn.tools:
        part = {"type": "output_text", "text": turn.text, "annotations": []}
        items.append(
            {
                "id": f"item_mock{number:04}",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [part],
            }
        )
    for index, tool in enumerate(turn.tools):
        call = f"call_mock{number:04}_{index}"
        item: Event = {"status": "completed", "call_id": call, "name": tool.name}
        if isinstance(tool.input, str):
            item |= {"id": f"ctc_{call}", "type": "custom_tool_call", "input": tool.input}
        else:
            text = json.dumps(tool.input)
            item |= {"id": f"fc_{call}", "type": "function_call", "arguments": text}
        if tool.namespace is not None:
            item["namespace"] = tool.namespace
        items.append(item)
    return items


def whole(turn: Turn, number: int, model: str) -> Event:
    """The answer to a call that is not streamed, which also closes a streamed one."""
    return {
        "id": f"resp_mock{number:04}",
        "object": "response",
        "created_at": CREATED,
        "status": "completed",
        "model": model,
        "output": _items(turn, number),
        "usage": usage(turn.usage),
        "error": None,
        "incomplete_details": None,
    }


def events(turn: Turn, number: int, model: str) -> Iterator[tuple[str, Event]]:
    """The events of a streamed answer, by name."""
    for sequence, (name, event) in enumerate(_events(turn, number, model), 1):
        yield name, {"sequence_number": sequence, **event}


def _events(turn: Turn, number: int, model: str) -> Iterator[tuple[str, Event]]:
    closed = whole(turn, number, model)
    opened = closed | {"status": "in_progress", "output": [], "usage": None}
    yield "response.created", {"response": opened}
    yield "response.in_progress", {"response": opened}
    for index, item in enumerate(closed["output"]):
        place = {"output_index": index}
        begun = item | {"status": "in_progress"}
        if item["type"] == "message":
            begun["content"] = []
        yield "response.output_item.added", {**place, "item": begun}
        yield from _parts(item, {"item_id": item["id"], **place})
        yield "response.output_item.done", {**place, "item": item}
    yield "response.completed", {"response": closed}


def _parts(item: Event, place: Event) -> Iterator[tuple[str, Event]]:
    if item["type"] == "message":
        [part] = item["content"]
        where = {**place, "content_index": 0}
        yield "response.content_part.added", {**where, "part": part | {"text": ""}}
        if part["text"]:
            yield "response.output_text.delta", {**where, "delta": part["text"]}
        yield "response.output_text.done", {**where, "text": part["text"]}
        yield "response.content_part.done", {**where, "part": part}
    elif item["type"] == "function_call":
        text = item["arguments"]
        yield "response.function_call_arguments.delta", {**place, "delta": text}
        yield "response.function_call_arguments.done", {**place, "arguments": text}


def error_event(kind: str, number: int, model: str) -> tuple[str, Event]:
    """An error inside a stream."""
    failed = {
        "id": f"resp_mock{number:04}",
        "object": "response",
        "created_at": CREATED,
        "status": "failed",
        "model": model,
        "output": [],
        "usage": None,
        "error": {"code": kind, "message": "scripted"},
    }
    return "response.failed", {"response": failed}
