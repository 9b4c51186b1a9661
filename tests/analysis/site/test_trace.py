import json
import tracemalloc
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentbench_analysis.site import stream
from agentbench_analysis.site.timeline import timeline
from agentbench_analysis.site.trace import Bounds, Trace, read_trace


def a_trace(*steps: dict[str, Any], **fields: Any) -> bytes:
    whole = {"schema_version": "ATIF-v1.7", "agent": {"name": "codex", "version": "1"}}
    return json.dumps(whole | {"steps": list(steps)} | fields).encode()


def read(data: bytes, bounds: Bounds | None = None) -> Trace:
    return read_trace([data], bounds)


def test_a_step_keeps_its_call_with_the_result_that_answers_it() -> None:
    trace = read(
        a_trace(
            {
                "source": "agent",
                "message": "look",
                "timestamp": "2026-11-30T10:00:00Z",
                "tool_calls": [
                    {"tool_call_id": "1", "function_name": "shell", "arguments": {"command": "ls"}}
                ],
                "observation": {
                    "results": [
                        {"source_call_id": "1", "content": "a.txt"},
                        {"source_call_id": "9", "content": "stray"},
                    ]
                },
                "metrics": {"prompt_tokens": 10, "completion_tokens": 2, "cost_usd": 0.5},
            },
            {
                "source": "user",
                "message": "go on",
                "timestamp": "2026-11-30T10:01:30Z",
                "extra": {"intervention_index": 1},
            },
        )
    )
    first, second = trace.steps
    assert [(call.name, call.arguments.head) for call in first.calls] == [("shell", "ls")]
    assert [result.head for result in first.calls[0].results] == ["a.txt"]
    assert [result.head for result in first.results] == ["stray"]
    assert (first.tokens_in, first.tokens_out, first.cost) == (10, 2, 0.5)
    assert (first.at, second.at, second.intervention) == (0.0, 90.0, True)
    assert trace.agent == "codex 1"
    assert trace.problems == ()


def test_message_parts_are_joined_and_pictures_are_named_not_loaded() -> None:
    message = [
        {"type": "text", "text": "see"},
        {"type": "image", "source": {"media_type": "image/png", "path": "shot.png"}},
    ]
    (step,) = read(a_trace({"source": "agent", "message": message})).steps
    assert step.message.head == "see\n[image: shot.png]"


def test_steps_of_sub_agents_are_kept_apart() -> None:
    sub = {"agent": {"name": "helper"}, "steps": [{"source": "agent", "message": "hi"}]}
    trace = read(a_trace({"source": "agent", "message": "x"}, subagent_trajectories=[sub]))
    assert [each.agent for each in trace.subagents] == ["helper"]
    assert len(trace.steps) == 1


def test_a_file_that_ends_early_gives_the_steps_before_its_end() -> None:
    data = a_trace(*({"source": "agent", "message": f"step {n}"} for n in range(5)))
    trace = read(data[: data.index(b"step 3")])
    assert [step.message.head for step in trace.steps] == ["step 0", "step 1", "step 2"]
    assert "not whole JSON" in trace.problems[0]


def test_bytes_that_are_no_text_are_shown_and_counted() -> None:
    trace = read(a_trace({"source": "agent", "message": "MARK"}).replace(b"MARK", b"a\xff\xfeb"))
    assert trace.steps[0].message.head == "a\ufffd\ufffdb"
    assert "2 characters were not UTF-8" in trace.problems[0]


def test_nesting_without_end_is_an_unreadable_file_and_no_crash() -> None:
    data = b'{"steps": [{"message": "kept"}, {"message": ' + b"[" * 200_000
    trace = read(data)
    assert [step.message.head for step in trace.steps] == ["kept"]
    assert "nested too deeply" in trace.problems[0]


def test_numbers_of_the_wrong_kind_are_unknown_and_never_zero() -> None:
    metrics = {"prompt_tokens": "12", "completion_tokens": -3, "cost_usd": True}
    (step,) = read(a_trace({"source": "agent", "message": "x", "metrics": metrics})).steps
    assert (step.tokens_in, step.tokens_out, step.cost) == (None, None, None)


def test_not_a_number_is_unknown() -> None:
    data = a_trace({"source": "agent", "message": "x", "metrics": {"cost_usd": 1}})
    (step,) = read(data.replace(b'"cost_usd": 1', b'"cost_usd": NaN')).steps
    assert step.cost is None


def test_more_steps_than_a_page_shows_are_left_out_and_said() -> None:
    data = a_trace(*({"source": "agent", "message": "x"} for _ in range(9)))
    trace = read(data, Bounds(steps=4))
    assert len(trace.steps) == 4
    assert trace.problems == ("Only the first 4 steps are shown.",)


def test_texts_past_the_share_of_a_page_are_left_out_and_said() -> None:
    data = a_trace(*({"source": "agent", "message": "x" * 50} for _ in range(9)))
    trace = read(data, Bounds(total=120))
    assert sum(step.message.size for step in trace.steps) == 120
    assert "longer than a page may be" in trace.problems[-1]


def test_a_file_of_fifty_megabytes_is_read_to_its_bound_and_no_further() -> None:
    pulled = 0

    def chunks() -> Iterator[bytes]:
        nonlocal pulled
        yield b'{"steps": [{"source": "agent", "message": "first"}'
        step = b', {"source": "agent", "message": "' + b"x" * 100_000 + b'"}'
        for _ in range(500):
            pulled += len(step)
            yield step

    bounds = Bounds()
    tracemalloc.start()
    trace = read_trace(chunks(), bounds)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert bounds.bytes <= pulled < bounds.bytes + 200_000
    assert peak < 6 * bounds.bytes
    assert trace.steps[0].message.head == "first"
    assert "too long to show" in trace.problems[0]
    assert sum(step.message.size for step in trace.steps) <= bounds.total


def test_steps_without_times_are_spread_evenly_over_the_timeline() -> None:
    trace = read(a_trace(*({"source": "agent", "message": "x"} for _ in range(4))))
    assert timeline(trace).starts == (0.0, 250.0, 500.0, 750.0)


def test_bars_stand_where_their_steps_began_and_each_speaker_has_a_colour() -> None:
    said = (("user", "10:00:00"), ("agent", "10:00:10"), ("agent", "10:01:40"))
    steps = ({"source": who, "message": "x", "timestamp": f"2026-11-30T{at}Z"} for who, at in said)
    found = timeline(read(a_trace(*steps)))
    assert found.starts == (0.0, 99.6, 996.0)
    assert [(lane.kind, lane.path.count("M")) for lane in found.lanes] == [
        ("user", 1),
        ("agent", 2),
    ]
    assert found.lanes[0].path == "M0.0 4h99.0v14h-99.0z"


def test_a_clock_that_runs_backwards_moves_no_bar_to_the_left() -> None:
    times = ("10:00:00", "10:01:00", "10:00:20", "10:02:00")
    steps = ({"source": "agent", "message": "x", "timestamp": f"2026-11-30T{t}Z"} for t in times)
    assert timeline(read(a_trace(*steps))).starts == (0.0, 498.0, 498.0, 996.0)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
NAMES = st.sampled_from(
    ("source", "message", "timestamp", "tool_calls", "observation", "metrics", "extra")
)


@given(st.dictionaries(NAMES, JSON, max_size=7), JSON, JSON)
def test_no_shape_of_a_trajectory_is_an_error(step: dict[str, Any], agent: Any, sub: Any) -> None:
    trace = read(a_trace(step, agent=agent, subagent_trajectories=sub))
    assert len(trace.steps) == 1
    timeline(trace)


@given(st.binary(max_size=300))
def test_no_bytes_are_an_error(data: bytes) -> None:
    trace = read(data)
    assert trace.steps or trace.problems


def test_a_file_as_long_as_the_bound_is_whole_and_one_byte_more_is_cut() -> None:
    assert not stream.read([b"ab", b"cd"], 4).cut
    more = stream.read([b"ab", b"cd", b"e"], 4)
    assert (more.text, more.cut) == ("abcd", True)
