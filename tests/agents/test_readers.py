"""Event logs as the real CLIs print them, and as nobody should."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentbench.agents.port import EventKind, EventReader, TraceEvent
from agentbench.agents.registry import ADAPTERS, adapter_of
from agentbench.core.summary import Ending

SAMPLES = Path(__file__).parent / "samples"


def read(adapter: str, sample: str) -> tuple[EventReader, list[TraceEvent]]:
    reader = adapter_of(adapter).reader()
    lines = (SAMPLES / f"{sample}.events.jsonl").read_bytes().splitlines()
    return reader, [event for line in lines for event in reader.feed(line)]


def results(events: list[TraceEvent]) -> list[bool | None]:
    return [event.ok for event in events if event.kind is EventKind.TOOL_RESULT]


def tools(events: list[TraceEvent]) -> list[str | None]:
    return [event.tool for event in events if event.kind is EventKind.TOOL_CALL]


def test_claude_code_tells_failed_tools_from_good_ones() -> None:
    reader, events = read("claude-code", "claude-tool-failures")
    assert results(events) == [True, False, False, False, False]
    assert reader.ending(0, None) is Ending.FINISHED


def test_claude_codes_subagents_are_told_apart() -> None:
    reader, events = read("claude-code", "claude-subagent-foreground")
    within = [event.tool for event in events if event.subagent and event.tool]
    assert within == ["Bash"]
    assert reader.last_message == "Done"


def test_of_several_results_the_last_one_counts_and_its_totals_are_not_added() -> None:
    reader, _ = read("claude-code", "claude-subagent-background-two-results")
    assert reader.reported()["input_uncached"] == 612
    assert reader.reported()["output"] == 1272
    assert reader.ending(0, None) is Ending.FINISHED


def test_a_refused_claude_code_has_failed_although_its_subtype_says_success() -> None:
    reader, events = read("claude-code", "claude-cap-402")
    assert reader.ending(1, None) is Ending.FAILED
    assert events[-1].kind is EventKind.FAILED


def test_claude_codes_retries_are_told() -> None:
    _, events = read("claude-code", "claude-429-retry")
    assert EventKind.RETRY in [event.kind for event in events]


def test_codex_tells_failed_commands_from_good_ones() -> None:
    reader, events = read("codex", "codex-tool-failures")
    assert results(events) == [True, False]
    assert reader.reported() == {"input_uncached": 14_994, "cache_read": 45_042, "output": 924}
    assert reader.ending(0, None) is Ending.FINISHED


def test_codexs_warnings_are_no_failures() -> None:
    reader, events = read("codex", "codex-subagent")
    assert EventKind.FAILED not in [event.kind for event in events]
    assert tools(events) == ["wait"]
    assert reader.ending(0, None) is Ending.FINISHED


def test_a_failed_codex_says_so_and_a_reconnect_does_not() -> None:
    reader, events = read("codex", "codex-500-fail")
    assert reader.ending(1, None) is Ending.FAILED
    assert [event.kind for event in events].count(EventKind.RETRY) == 6
    reader, _ = read("codex", "codex-drop-reconnect")
    assert reader.ending(0, None) is Ending.FINISHED


def test_opencode_tells_failed_tools_from_good_ones() -> None:
    reader, events = read("opencode", "opencode-basic")
    assert results(events) == [True, False, True, False, True]
    assert reader.last_message == "Done."
    assert reader.ending(0, None) is Ending.FINISHED


@pytest.mark.parametrize("kind", ["claude-code", "codex", "scripted"])
def test_a_log_that_breaks_off_is_a_crash(kind: str) -> None:
    reader = adapter_of(kind).reader()
    assert reader.ending(0, None) is Ending.CRASHED
    assert reader.ending(1, None) is Ending.CRASHED


@pytest.mark.parametrize("kind", ADAPTERS)
def test_a_signal_is_a_crash_for_every_adapter(kind: str) -> None:
    assert adapter_of(kind).reader().ending(None, 11) is Ending.CRASHED


LEAF = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
NESTED = LEAF | st.lists(LEAF, max_size=2) | st.dictionaries(st.text(max_size=5), LEAF, max_size=2)
TYPES = st.sampled_from(
    (
        *("assistant", "user", "result", "system", "error", "text"),
        *("item.completed", "item.started", "turn.failed", "turn.completed", "thread.started"),
        *("tool_use", "step_finish", "tool_call", "tool_result", "question"),
    )
)
FIELDS = st.sampled_from(
    ("message", "item", "part", "usage", "modelUsage", "error", "content", "session_id", "state")
)
INNER = st.dictionaries(FIELDS | st.just("type"), NESTED, max_size=3)


@pytest.mark.parametrize("kind", ADAPTERS)
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    garbage=st.binary(max_size=60),
    name=TYPES,
    fields=st.dictionaries(FIELDS, NESTED | INNER, max_size=3),
)
def test_nothing_that_an_agent_prints_breaks_a_reader(
    kind: str, garbage: bytes, name: str, fields: dict[str, object]
) -> None:
    reader = adapter_of(kind).reader()
    for line in (garbage, json.dumps({"type": name, **fields}).encode(), b"[" * 20_000):
        for event in reader.feed(line):
            assert isinstance(event.kind, EventKind)
    assert isinstance(reader.last_message, str)
    assert reader.ending(1, None) in Ending
