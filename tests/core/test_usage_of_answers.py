import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench.core.answers import AnswerReader, fold_for
from agentbench.core.calls import Api
from agentbench.core.usage import COUNTS, Usage, UsageTotals
from agentbench.pod.mock_provider import messages, responses
from agentbench.pod.mock_provider.script import Turn


def sse(*events: dict[str, Any]) -> bytes:
    return b"".join(
        f"event: {event.get('type', 'x')}\ndata: {json.dumps(event)}\n\n".encode()
        for event in events
    )


def read(api: Api, stream: bytes, *, one_hour: bool = False) -> Any:
    reader = AnswerReader(fold_for(api, one_hour_cache=one_hour), streamed=True, limit=1_000_000)
    reader.feed(stream)
    return reader.finish()


def read_whole(api: Api, body: dict[str, Any]) -> Any:
    reader = AnswerReader(fold_for(api), streamed=False, limit=1_000_000)
    reader.feed(json.dumps(body).encode())
    return reader.finish()


def start(**usage: Any) -> dict[str, Any]:
    message = {"id": "msg_1", "model": "claude-sonnet-5-5", "usage": usage}
    return {"type": "message_start", "message": message}


def delta(stop: str | None = "end_turn", **usage: Any) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": usage}


STOP = {"type": "message_stop"}


def test_two_usage_events_of_one_message_are_one_call_with_the_later_output() -> None:
    reading = read(
        Api.MESSAGES,
        sse(
            start(
                input_tokens=6,
                cache_read_input_tokens=90_000,
                cache_creation_input_tokens=2_000,
                output_tokens=1,
            ),
            delta(output_tokens=250),
            STOP,
        ),
    )
    assert reading.complete
    assert reading.usage == Usage(
        input_uncached=6,
        cache_read=90_000,
        cache_write_5m=2_000,
        cache_write_1h=0,
        output=250,
        reasoning=None,
    )


def test_cache_writes_are_split_by_their_lifetime() -> None:
    split = {"ephemeral_5m_input_tokens": 300, "ephemeral_1h_input_tokens": 700}
    reading = read(
        Api.MESSAGES,
        sse(
            start(input_tokens=1, cache_creation_input_tokens=1_000, cache_creation=split),
            delta(output_tokens=5, cache_creation_input_tokens=1_000),
            STOP,
        ),
    )
    assert (reading.usage.cache_write_5m, reading.usage.cache_write_1h) == (300, 700)


def test_cache_writes_that_may_be_of_either_lifetime_are_unknown() -> None:
    stream = sse(
        start(input_tokens=1, cache_creation_input_tokens=1_000), delta(output_tokens=5), STOP
    )
    reading = read(Api.MESSAGES, stream, one_hour=True)
    assert reading.usage.cache_write_5m is None
    assert reading.usage.cache_write_1h is None


def test_a_split_that_does_not_add_up_is_inconsistent() -> None:
    split = {"ephemeral_5m_input_tokens": 1, "ephemeral_1h_input_tokens": 1}
    reading = read(
        Api.MESSAGES,
        sse(
            start(input_tokens=1, cache_creation_input_tokens=9, cache_creation=split),
            delta(output_tokens=5),
            STOP,
        ),
    )
    assert not reading.complete
    assert reading.usage == Usage()
    assert reading.reason is not None
    assert reading.reason.startswith("inconsistent usage")


def test_a_cut_message_keeps_its_input_and_does_not_know_its_output() -> None:
    text = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "späß"}}
    reading = read(Api.MESSAGES, sse(start(input_tokens=6, output_tokens=1), text))
    assert not reading.complete
    assert reading.usage.input_uncached == 6
    assert reading.usage.output is None
    assert reading.text_bytes == 6


def test_the_providers_own_compaction_pass_is_counted() -> None:
    passes = [
        {"type": "compaction", "input_tokens": 180_000, "output_tokens": 3_500},
        {"type": "message", "input_tokens": 23_000, "output_tokens": 1_000},
    ]
    reading = read(
        Api.MESSAGES,
        sse(
            start(input_tokens=23_000),
            delta(input_tokens=23_000, output_tokens=1_000, iterations=passes),
            STOP,
        ),
    )
    assert reading.usage.input_uncached == 203_000
    assert reading.usage.output == 4_500


def test_a_pass_of_an_unknown_kind_makes_the_usage_inconsistent() -> None:
    passes = [{"type": "advisor_message", "input_tokens": 1, "output_tokens": 1}]
    reading = read(
        Api.MESSAGES, sse(start(input_tokens=2), delta(output_tokens=1, iterations=passes), STOP)
    )
    assert reading.usage == Usage()
    assert "advisor_message" in str(reading.reason)


def test_parallel_tool_uses_of_a_message_count_one_each_and_server_tools_none() -> None:
    blocks = [{"type": kind} for kind in ("tool_use", "tool_use", "server_tool_use", "text")]
    reading = read(
        Api.MESSAGES,
        sse(
            start(input_tokens=1),
            *({"type": "content_block_start", "content_block": block} for block in blocks),
            delta(output_tokens=1, server_tool_use={"web_search_requests": 3}),
            STOP,
        ),
    )
    assert reading.tool_calls == 2
    assert reading.searches == 3


OPENAI_USAGE = {
    "input_tokens": 10_000,
    "input_tokens_details": {"cached_tokens": 8_000},
    "output_tokens": 500,
    "output_tokens_details": {"reasoning_tokens": 300},
}


def test_openai_input_holds_the_cache_and_its_output_holds_the_reasoning() -> None:
    response = {"id": "r", "model": "gpt-5.5", "status": "completed", "usage": OPENAI_USAGE}
    reading = read(Api.RESPONSES, sse({"type": "response.completed", "response": response}))
    assert reading.complete
    assert reading.usage == Usage(input_uncached=2_000, cache_read=8_000, output=500, reasoning=300)


def test_usage_in_earlier_events_of_a_response_is_not_taken() -> None:
    early = {"id": "r", "model": "gpt-5.5", "status": "in_progress", "usage": OPENAI_USAGE}
    reading = read(Api.RESPONSES, sse({"type": "response.created", "response": early}))
    assert not reading.complete
    assert reading.usage == Usage()


def test_a_response_that_ran_into_its_token_limit_is_counted_too() -> None:
    response = {"model": "gpt-5.5", "status": "incomplete", "usage": OPENAI_USAGE}
    reading = read(Api.RESPONSES, sse({"type": "response.incomplete", "response": response}))
    assert reading.complete
    assert reading.usage.output == 500


def test_items_that_the_closing_event_repeats_count_once() -> None:
    turn = Turn.model_validate(
        {
            "text": "go",
            "tools": [
                {"name": "exec_command", "input": {"cmd": "ls"}},
                {"name": "x", "input": "y"},
            ],
        }
    )
    stream = b"".join(
        sse({"type": name, **event}) for name, event in responses.events(turn, 1, "gpt-5.5")
    )
    assert read(Api.RESPONSES, stream).tool_calls == 2
    assert read_whole(Api.RESPONSES, responses.whole(turn, 1, "gpt-5.5")).tool_calls == 2


def chunk(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": {}, "finish_reason": finish}
    return {"model": "gpt-5.5", "choices": [choice], "usage": None, **fields}


def test_the_last_usage_of_a_chat_stream_that_is_not_null_counts() -> None:
    first = {"prompt_tokens": 10, "completion_tokens": 1}
    last = {
        "prompt_tokens": 10,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 4},
    }
    reading = read(
        Api.CHAT,
        sse(chunk(usage=first), chunk("stop"), chunk(usage=last, choices=[]), chunk(choices=[]))
        + b"data: [DONE]\n\n",
    )
    assert reading.complete
    assert (reading.usage.input_uncached, reading.usage.cache_read) == (6, 4)
    assert reading.usage.output == 7


def test_usage_along_the_way_of_a_chat_stream_that_was_cut_is_not_taken() -> None:
    reading = read(Api.CHAT, sse(chunk(usage={"prompt_tokens": 10, "completion_tokens": 1})))
    assert not reading.complete
    assert reading.usage == Usage()


@pytest.mark.parametrize(
    "usage",
    [
        {"input_tokens": 5, "input_tokens_details": {"cached_tokens": 6}, "output_tokens": 1},
        {"input_tokens": -1, "output_tokens": 1},
        {"input_tokens": 1, "output_tokens": True},
        {"input_tokens": 1.5, "output_tokens": 1},
        {
            "input_tokens": 1,
            "output_tokens": 1,
            "output_tokens_details": {"reasoning_tokens": 2},
        },
    ],
)
def test_counts_that_cannot_all_be_true_are_not_guessed_at(usage: dict[str, Any]) -> None:
    reading = read_whole(Api.RESPONSES, {"status": "completed", "model": "m", "usage": usage})
    assert not reading.complete
    assert reading.usage == Usage()
    assert "inconsistent usage" in str(reading.reason)


TURN = Turn.model_validate(
    {"text": "ünïcödé ✓" * 3, "tools": [{"name": "Bash", "input": {"command": "é"}}]}
)
STREAM = b"".join(
    b"event: %s\r\ndata: %s\r\n\r\n"
    % (name.encode(), json.dumps({"type": name, **event}, ensure_ascii=False).encode())
    for name, event in messages.events(TURN, 1, "claude-sonnet-5-5")
)


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_a_stream_reads_the_same_wherever_its_chunks_end(cuts: list[int]) -> None:
    reader = AnswerReader(fold_for(Api.MESSAGES), streamed=True, limit=1_000_000)
    edges = [0, *sorted(cuts), len(STREAM)]
    for begin, end in itertools.pairwise(edges):
        reader.feed(STREAM[begin:end])
    assert reader.finish() == read(Api.MESSAGES, STREAM)
    assert reader.finish().usage.output == 20


@given(st.binary(max_size=400))
def test_no_bytes_make_a_reader_raise(noise: bytes) -> None:
    for api in Api:
        for streamed in (True, False):
            reader = AnswerReader(fold_for(api), streamed=streamed, limit=200)
            reader.feed(noise)
            assert not reader.finish().complete


JSON = st.recursive(
    st.sampled_from([None, True, -1, 0, 7, 2.5, "", "tool_use", "compaction"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "index",
                    "usage",
                    "message",
                    "delta",
                    "output",
                    "iterations",
                    "tool_calls",
                    "input_tokens",
                    "prompt_tokens_details",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
KINDS = [
    "message_start",
    "message_delta",
    "content_block_start",
    "response.completed",
    "response.output_item.done",
    "error",
]


@given(st.dictionaries(st.sampled_from(["message", "usage", "response", "item", "choices"]), JSON))
def test_no_shape_of_event_makes_a_fold_raise(fields: dict[str, Any]) -> None:
    for api in Api:
        fold = fold_for(api)
        for kind in KINDS:
            fold.feed({**fields, "type": kind})
            fold.reading()
        fold.feed_whole(fields)
        fold.reading()


def test_an_event_over_the_limit_is_dropped_and_said() -> None:
    reader = AnswerReader(fold_for(Api.MESSAGES), streamed=True, limit=1_000)
    reader.feed(sse(start(input_tokens=1)))
    for _ in range(40):
        reader.feed(b"data: " + b"x" * 100)
    reader.feed(b"\n\n" + sse(delta("end_turn")))
    reading = reader.finish()
    assert not reading.complete
    assert reading.finish == "end_turn"
    assert reading.reason == "the answer held more than 1000 bytes at once"


def test_a_sum_with_a_missing_part_is_missing_and_says_how_many() -> None:
    totals = UsageTotals()
    totals.add(Usage(input_uncached=5, output=7))
    totals.add(Usage(input_uncached=6), "the answer was cut before its usage")
    assert totals.total("input_uncached") == (11, None)
    assert totals.total("output") == (None, "1 of 2 calls: the answer was cut before its usage")
    assert set(COUNTS) == set(Usage().counts())
