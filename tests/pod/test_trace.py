"""What is written down of an agent's events, and how much of it."""

import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import zstandard
from atif import Trajectory

from agentbench.agents.port import EventKind, TraceEvent
from agentbench.agents.registry import adapter_of
from agentbench.core.summary import Measure
from agentbench.pod.warden import trace as trace_module
from agentbench.pod.warden.atif import TrajectoryHead
from agentbench.pod.warden.bounds import LINE, OUTPUT, LineSplitter, cut
from agentbench.pod.warden.redact import Redactor
from agentbench.pod.warden.repair import RepairRounds
from agentbench.pod.warden.stamps import Stamps
from agentbench.pod.warden.trace import Trace
from agentbench_analysis.rows.words import Availability

HEAD = TrajectoryHead(
    run="r1", attempt=1, session="s", agent="A1", version="1", model="m", metrics={}
)


def call(name: str, command: str = "true", **more: Any) -> TraceEvent:
    arguments = {"command": command, "description": f"call {name}"}
    return TraceEvent(
        kind=EventKind.TOOL_CALL, call_id=name, tool="Bash", arguments=arguments, **more
    )


def result(name: str, text: str = "", *, ok: bool = True, **more: Any) -> TraceEvent:
    return TraceEvent(kind=EventKind.TOOL_RESULT, call_id=name, text=text, ok=ok, **more)


def say(text: str, **more: Any) -> TraceEvent:
    return TraceEvent(kind=EventKind.MESSAGE, text=text, **more)


def trajectory(tmp_path: Path, *events: TraceEvent, head: TrajectoryHead = HEAD) -> Any:
    private, public = tmp_path / "private", tmp_path / "public"
    private.mkdir()
    public.mkdir()
    trace = Trace(private, Stamps())
    for event in events:
        trace.line(b"{}", (event,))
    trace.finish(head, public, Redactor({}))
    content = json.loads((public / "trajectory.json").read_text())
    Trajectory.model_validate(content)
    return content


def test_results_stand_beside_their_calls_whatever_their_order(tmp_path: Path) -> None:
    steps = trajectory(
        tmp_path, say("two at once"), call("a"), call("b"), result("b", "B"), result("a", "A")
    )["steps"]
    assert len(steps) == 1
    results = steps[0]["observation"]["results"]
    assert [(one["source_call_id"], one["content"]) for one in results] == [("b", "B"), ("a", "A")]


def test_a_result_that_comes_late_finds_its_call(tmp_path: Path) -> None:
    steps = trajectory(
        tmp_path,
        call("slow"),
        say("meanwhile"),
        call("quick"),
        result("quick"),
        result("slow", "S"),
    )["steps"]
    assert steps[0]["observation"]["results"][0]["content"] == "S"


def test_a_result_without_a_call_is_kept_apart(tmp_path: Path) -> None:
    steps = trajectory(tmp_path, say("hello"), result("never-called", "R"))["steps"]
    assert steps[1]["source"] == "system"
    assert steps[1]["observation"]["results"][0]["extra"]["call_id"] == "never-called"


def test_a_thousand_calls_without_results_are_all_written(tmp_path: Path) -> None:
    events = [event for n in range(1000) for event in (say(f"m{n}"), call(f"c{n}"))]
    steps = trajectory(tmp_path, *events)["steps"]
    assert len(steps) == 1000


def test_a_subagents_steps_are_a_trajectory_of_their_own(tmp_path: Path) -> None:
    content = trajectory(tmp_path, call("t1"), say("inside", subagent="t1"), result("t1", "report"))
    assert content["subagent_trajectories"][0]["trajectory_id"] == "t1"
    assert content["subagent_trajectories"][0]["steps"][0]["message"] == "inside"


def test_a_run_without_a_step_is_still_a_trajectory(tmp_path: Path) -> None:
    assert trajectory(tmp_path)["steps"][0]["message"] == "the agent did nothing"


def test_totals_that_are_not_known_are_left_out(tmp_path: Path) -> None:
    known = {"output": Measure(value=7, availability=Availability.MEASURED)}
    unknown = {"cache_read": Measure(availability=Availability.UNAVAILABLE, reason="x")}
    head = TrajectoryHead(
        run="r", attempt=1, session=None, agent="A", version="", model=None,
        metrics={**known, **unknown},
    )  # fmt: skip
    final = trajectory(tmp_path, say("hi"), head=head)["final_metrics"]
    assert final == {"total_completion_tokens": 7, "total_steps": 1}


def test_any_mix_of_events_gives_a_valid_trajectory(tmp_path: Path) -> None:
    dice = random.Random(7)
    names = [f"c{number}" for number in range(40)]
    events: list[TraceEvent] = []
    for _ in range(3000):
        name, subagent = dice.choice(names), dice.choice([None, None, "s1", "s2"])
        kinds = [
            say("text \ud800", subagent=subagent),
            TraceEvent(kind=EventKind.REASONING, text="hm", subagent=subagent),
            TraceEvent(kind=EventKind.FAILED, text="error", subagent=subagent),
            call(name, subagent=subagent),
            result(name, subagent=subagent, ok=dice.random() < 0.5),
        ]
        events.append(dice.choice(kinds))
    trajectory(tmp_path, *events)


def test_a_tools_output_of_200_mb_is_cut_with_a_mark(tmp_path: Path) -> None:
    splitter = LineSplitter()
    lines: list[bytes] = []
    for _ in range(200):
        lines += splitter.feed(b"x" * 1_000_000)
    lines += splitter.feed(b"\nnext\n")
    assert len(lines[0]) < LINE + 100
    assert lines[0].endswith(b"[agent-bench: %d bytes left out]" % (200_000_000 - LINE))
    assert lines[1] == b"next"
    steps = trajectory(tmp_path, call("a"), result("a", "y" * 200_000))["steps"]
    content = steps[0]["observation"]["results"][0]["content"]
    assert len(content) < OUTPUT + 100
    assert f"[agent-bench: {200_000 - OUTPUT} characters left out]" in content


def test_text_within_its_limit_is_not_cut() -> None:
    assert cut("x" * 100, 100) == ("x" * 100, False)
    assert cut("x" * 101, 100)[1]


def test_a_stream_cut_anywhere_gives_the_same_lines() -> None:
    text = "one\n\ntwo \u00fc\nthree".encode()
    for size in range(1, len(text) + 1):
        splitter = LineSplitter()
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        lines = [line for piece in pieces for line in splitter.feed(piece)]
        assert [*lines, *splitter.finish()] == text.split(b"\n")


def test_events_beyond_their_bound_are_counted_and_said(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(trace_module, "EVENTS", 1000)
    trace = Trace(tmp_path, Stamps())
    for _ in range(100):
        trace.line(b'{"type": "message"}', ())
    public = tmp_path / "public"
    public.mkdir()
    files = trace.finish(HEAD, public, Redactor({}))
    assert files["events.jsonl.zst"].file.truncated
    packed = (public / "events.jsonl.zst").read_bytes()
    lines = zstandard.ZstdDecompressor().stream_reader(packed).read().splitlines()
    assert b"lines left out" in lines[-1]


def test_a_jump_of_the_machines_clock_changes_no_time() -> None:
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    passed = [100.0]
    stamps = Stamps(monotonic=lambda: passed[0], wall=lambda: now[0])
    passed[0] += 2.5
    now[0] -= timedelta(days=400)
    assert stamps.seconds() == 2.5
    assert stamps.at() == "2026-01-01T00:00:02.500Z"


def test_repair_rounds_are_reruns_of_a_command_that_failed() -> None:
    rounds = RepairRounds()
    plan = [("a", "make  test", False), ("b", "ls", True), ("c", "make test", False)]
    plan += [("d", "make test", True), ("e", "make test", True), ("f", "ls", True)]
    for name, command, ok in plan:
        rounds.take(call(name, command))
        rounds.take(result(name, ok=ok))
    assert rounds.rounds == 2
    assert rounds.failures == 2


@pytest.mark.parametrize(
    "line", [b'{"n": NaN}', b'{"n": 1e999}', b"[" * 900 + b"]" * 900, b'{"n": ' + b"9" * 5000]
)
def test_what_other_readers_could_not_read_is_kept_as_text(tmp_path: Path, line: bytes) -> None:
    trace = Trace(tmp_path, Stamps())
    trace.line(line, tuple(adapter_of("codex").reader().feed(line)))
    public = tmp_path / "public"
    public.mkdir()
    trace.finish(HEAD, public, Redactor({}))
    packed = (public / "events.jsonl.zst").read_bytes()
    for one in zstandard.ZstdDecompressor().stream_reader(packed).read().splitlines():
        json.loads(one, parse_constant=pytest.fail)


def test_an_event_that_is_nested_too_deep_is_noted(tmp_path: Path) -> None:
    deep: dict[str, Any] = {}
    for _ in range(5000):
        deep = {"d": deep}
    event = TraceEvent(kind=EventKind.TOOL_CALL, call_id="c", tool="T", arguments=deep)
    steps = trajectory(tmp_path, say("before"), event, say("after"))["steps"]
    assert [step["message"] for step in steps] == ["before", "after"]
