"""The real Claude Code against the scripted provider, in a sandbox with loopback alone."""

import json
from pathlib import Path
from typing import Any

import pytest
from atif import Trajectory
from tests.fakes.clis import CLAUDE
from tests.fakes.lab import KEY, MODEL, lab

from agentbench.core.summary import Cap, Ending
from agentbench.local.isolation import Isolation
from agentbench_analysis.rows.words import Availability

pytestmark = pytest.mark.clis
PLACE = {"place": {"binary": CLAUDE}, "agent": {"model": MODEL, "version": "2.1.332"}}
USAGE = {"input": 101, "cacheRead": 30_007, "cacheWrite5m": 2_003, "output": 211}


def bash(*commands: str) -> list[dict[str, Any]]:
    return [
        {"name": "Bash", "input": {"command": command, "description": "step"}}
        for command in commands
    ]


def turn(text: str = "", *tools: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"text": text, "tools": list(tools), "usage": USAGE, **more}


async def test_a_session_with_a_question_and_a_subagent_is_counted_to_the_cent(
    agents: Path,
) -> None:
    subagent = {"description": "sub", "prompt": "MARKSUB do it", "subagent_type": "general-purpose"}
    script = {
        "conversations": [
            {
                "match": '"text":"MARKSUB do it',
                "turns": [turn("", *bash("echo sub >> ran.log")), turn("SUBREPORT done")],
            }
        ],
        "turns": [
            turn("I look around.", *bash("env > env.txt; exit 3"), *bash("echo main >> ran.log")),
            turn("I can use SQLite or Postgres. Which do you prefer?"),
            turn("", {"name": "Agent", "input": subagent}),
            turn("", {"name": "AskUserQuestion", "input": {"questions": []}}),
            turn("", *bash("env > env.txt; exit 3")),
            turn("All done."),
        ],
    }
    async with lab(script, bin_folder=agents) as run:
        ended = await run.run("claude-code", {}, **PLACE)
        assert sorted((run.workspace / "ran.log").read_text().split()) == ["main", "sub"]
        environment = (run.workspace / "env.txt").read_text()
        traces = b"".join(path.read_bytes() for path in run.home.rglob("*") if path.is_file())
    assert ended.summary.ending is Ending.FINISHED
    assert ended.summary.caps_hit == ()
    assert ended.value("model_calls") == len(ended.calls) == 8
    names = ("input_uncached", "cache_read", "cache_write_5m", "cache_write_1h", "output")
    assert [ended.value(name) for name in names] == [808, 240_056, 16_024, 0, 1_688]
    # 808 x $2 + 240,056 x $0.10 + 16,024 x $2.50 + 1,688 x $10, a million
    assert ended.value("cost_usd") == "0.0825616"
    assert ended.value("tool_calls") == 5
    assert ended.value("interventions") == 1
    # The third is its ask tool, which must fail without a person: else it answers itself.
    assert ended.value("tool_failures") == 3
    assert ended.value("repair_rounds") == 1
    assert ended.summary.notes == (), "its own count differs from the measured one"
    assert "ANTHROPIC_API_KEY=dummy" in environment
    assert KEY.encode() not in traces + ended.everything() + environment.encode()
    assert {call["headers"]["x-api-key"] for call in ended.calls} == {KEY}
    assert {call["path"] for call in ended.calls} == {"/v1/messages?beta=true"}
    trajectory = ended.trajectory()
    Trajectory.model_validate(trajectory)
    assert trajectory["agent"]["version"] == "2.1.332"
    subagents = trajectory["subagent_trajectories"]
    commands = [step["tool_calls"][0]["arguments"]["command"] for step in subagents[0]["steps"]]
    assert commands == ["echo sub >> ran.log"]
    asked = {
        call["function_name"] for step in trajectory["steps"] for call in step.get("tool_calls", [])
    }
    assert asked == {"Bash", "Agent", "AskUserQuestion"}


@pytest.mark.timeout(900)
async def test_of_450_tool_calls_in_batches_exactly_400_run(agents: Path) -> None:
    batch = turn("", *bash(*["echo x >> ran.log"] * 45))
    async with lab({"turns": [batch] * 10 + [turn("done")]}, bin_folder=agents) as run:
        ended = await run.run("claude-code", {}, **PLACE)
        assert (run.workspace / "ran.log").read_text().count("x") == 400
    assert ended.value("tool_calls") == 400
    assert ended.summary.caps_hit == (Cap.TOOL_CALLS,)
    assert ended.summary.ending is Ending.STOPPED
    assert len(ended.calls) == 9


async def test_no_settings_of_the_agents_own_get_it_around_the_hook(agents: Path) -> None:
    off = json.dumps({"disableAllHooks": True, "hooks": {}})
    places = (
        "$CLAUDE_CONFIG_DIR/settings.json",
        ".claude/settings.json",
        ".claude/settings.local.json",
    )
    write = "; ".join(f"printf '%s' '{off}' > {place}" for place in places)
    managed = "/etc/claude-code/managed-settings.json"
    script = {
        "turns": [
            turn("", *bash(f"mkdir -p .claude; {write}; echo x >> ran.log")),
            turn("", *bash(f"rm {managed} || echo '{{}}' > {managed} || echo x >> ran.log")),
            turn("Shall I go on?"),
            turn("", *bash(*["echo x >> ran.log"] * 5)),
            turn("done"),
        ]
    }
    async with lab(script, bin_folder=agents) as run:
        ended = await run.run("claude-code", {}, caps={"toolCalls": 4}, **PLACE)
        assert (run.workspace / "ran.log").read_text().count("x") == 4
    assert ended.value("tool_calls") == 4
    assert ended.summary.caps_hit == (Cap.TOOL_CALLS,)


async def test_the_cost_cap_ends_it_with_the_crossing_call_paid(agents: Path) -> None:
    dear = {"usage": {"input": 100_000, "output": 10_000}}
    script = {"turns": [turn("", *bash("echo x >> ran.log"), **dear)]}
    async with lab(script, bin_folder=agents) as run:
        ended = await run.run("claude-code", {}, caps={"costUsd": "0.70"}, **PLACE)
    assert ended.value("cost_usd") == "0.9"
    assert len(ended.calls) == 3
    assert ended.summary.caps_hit == (Cap.COST,)
    assert ended.summary.ending is Ending.STOPPED


async def test_the_wall_cap_ends_it_and_its_tools(agents: Path) -> None:
    script = {"turns": [turn("", *bash("setsid sleep 600 & touch up; sleep 600"))]}
    async with lab(script, bin_folder=agents) as run:
        ended = await run.run("claude-code", {}, caps={"wallSeconds": 12}, **PLACE)
        assert (run.workspace / "up").exists()
        assert await run.sandbox.kill_all() == 0
    assert ended.summary.caps_hit == (Cap.WALL,)
    assert ended.summary.ending is Ending.STOPPED
    assert 12 <= ended.value("agent_seconds") < 60


async def test_without_a_root_of_its_own_its_hook_comes_with_the_command(agents: Path) -> None:
    script = {"turns": [turn("", *bash(*["echo x >> ran.log"] * 5)), turn("done")]}
    place = {"binary": CLAUDE.replace("/agents", str(agents))}
    async with lab(script, isolation=Isolation.PROCESS_GROUP) as run:
        ended = await run.run("claude-code", {}, caps={"toolCalls": 3}, **{**PLACE, "place": place})
        assert (run.workspace / "ran.log").read_text().count("x") == 3
    assert ended.value("tool_calls") == 3
    assert ended.measure("tool_calls").availability is Availability.DERIVED
