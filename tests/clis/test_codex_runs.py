"""The real Codex CLI against the scripted provider, in a sandbox with loopback alone."""

import json
from pathlib import Path
from typing import Any

import pytest
from atif import Trajectory
from tests.fakes.clis import CODEX
from tests.fakes.lab import KEY, lab

from agentbench.core.summary import Cap, Ending
from agentbench.local.isolation import Isolation
from agentbench_analysis.rows.words import Availability

pytestmark = pytest.mark.clis
PLAIN = {"place": {"binary": CODEX}, "agent": {"model": "gpt-5.5", "version": "0.171.0"}}
CODE_MODE = {"place": {"binary": CODEX}, "agent": {"model": "gpt-6.2-sol", "version": "0.171.0"}}
ASK = {"questions": [{"id": "q", "header": "H", "question": "Which?", "options": []}]}
USAGE = {"input": 4_998, "cacheRead": 15_013, "output": 307, "reasoning": 53}


def shell(*commands: str) -> list[dict[str, Any]]:
    return [{"name": "exec_command", "input": {"cmd": command}} for command in commands]


def turn(text: str = "", *tools: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"text": text, "tools": list(tools), "usage": USAGE, **more}


async def test_a_session_with_a_question_is_counted_to_the_cent(agents: Path) -> None:
    script = {
        "turns": [
            turn("I look around.", *shell("env > env.txt; exit 3", "echo main >> ran.log")),
            turn("I can use SQLite or Postgres. Which do you prefer?"),
            turn("", *shell("env > env.txt; exit 3")),
            turn("", {"name": "request_user_input", "input": ASK}),
            turn("All done."),
        ]
    }
    async with lab(script, bin_folder=agents) as run:
        ended = await run.run("codex", {}, **PLAIN)
        assert (run.workspace / "ran.log").read_text() == "main\n"
        environment = (run.workspace / "env.txt").read_text()
        traces = b"".join(path.read_bytes() for path in run.home.rglob("*") if path.is_file())
    assert ended.summary.ending is Ending.FINISHED
    assert ended.value("model_calls") == len(ended.calls) == 5
    counts = [ended.value(name) for name in ("input_uncached", "cache_read", "output", "reasoning")]
    assert counts == [24_990, 75_065, 1_535, 265]
    # 24,990 x $2 + 75,065 x $0.10 + 1,535 x $10, a million
    assert ended.value("cost_usd") == "0.0728365"
    assert ended.measure("cost_usd").availability == "measured"
    # The fourth is its ask tool: a tool that is there asks the hook, although it then fails.
    assert ended.value("tool_calls") == 4
    assert ended.value("interventions") == 1
    assert ended.value("repair_rounds") == 1
    assert ended.summary.notes == (), "its own count differs from the measured one"
    assert "AGENTBENCH_MODEL_KEY=dummy" in environment
    assert KEY.encode() not in traces + ended.everything() + environment.encode()
    # Its ask tool must fail without a person: else it answers itself.
    answer = json.dumps(ended.calls[-1]["body"]["input"][-1])
    assert "function_call_output" in answer
    assert "unavailable" in answer
    assert {call["headers"]["authorization"] for call in ended.calls} == {f"Bearer {KEY}"}
    assert {call["path"] for call in ended.calls} == {"/v1/responses"}
    Trajectory.model_validate(ended.trajectory())


async def test_of_450_nested_calls_in_code_mode_exactly_400_run(agents: Path) -> None:
    nested = (
        "await Promise.allSettled(Array.from({length: 45}, () => "
        "tools.exec_command({cmd: 'echo x >> ran.log'})));"
    )
    batch = turn("", {"name": "exec", "input": nested})
    async with lab({"turns": [batch] * 10 + [turn("done")]}, bin_folder=agents) as run:
        ended = await run.run("codex", {}, **CODE_MODE)
        assert (run.workspace / "ran.log").read_text().count("x") == 400
    assert ended.value("tool_calls") == 400
    assert ended.summary.caps_hit == (Cap.TOOL_CALLS,)
    assert ended.summary.ending is Ending.STOPPED
    assert len(ended.calls) == 9


async def test_no_settings_of_the_agents_own_get_it_around_the_hook(agents: Path) -> None:
    config = "printf '[features]\\nhooks = false\\n' >> $CODEX_HOME/config.toml"
    managed = "/etc/codex/requirements.toml"
    script = {
        "turns": [
            turn(
                "",
                *shell(
                    f"{config}; mkdir .codex; cp $CODEX_HOME/config.toml .codex/; echo x >> ran.log"
                ),
            ),
            turn("", *shell(f"rm {managed} || echo > {managed} || echo x >> ran.log")),
            turn("Shall I go on?"),
            turn("", *shell(*["echo x >> ran.log"] * 5)),
            turn("done"),
        ]
    }
    async with lab(script, bin_folder=agents) as run:
        ended = await run.run("codex", {}, caps={"toolCalls": 4}, **PLAIN)
        assert (run.workspace / "ran.log").read_text().count("x") == 4
    assert ended.value("tool_calls") == 4
    assert ended.summary.caps_hit == (Cap.TOOL_CALLS,)


async def test_the_cost_cap_ends_it_with_the_crossing_call_paid(agents: Path) -> None:
    dear = {"usage": {"input": 100_000, "output": 10_000}}
    script = {"turns": [turn("", *shell("echo x >> ran.log"), **dear)]}
    async with lab(script, bin_folder=agents) as run:
        ended = await run.run("codex", {}, caps={"costUsd": "0.70"}, **PLAIN)
    assert ended.value("cost_usd") == "0.9"
    assert len(ended.calls) == 3
    assert ended.summary.caps_hit == (Cap.COST,)
    assert ended.summary.ending is Ending.STOPPED


async def test_without_a_root_of_its_own_its_hook_comes_with_its_configuration(
    agents: Path,
) -> None:
    script = {"turns": [turn("", *shell(*["echo x >> ran.log"] * 5)), turn("done")]}
    place = {"binary": CODEX.replace("/agents", str(agents))}
    async with lab(script, isolation=Isolation.PROCESS_GROUP) as run:
        ended = await run.run("codex", {}, caps={"toolCalls": 3}, **{**PLAIN, "place": place})
        assert (run.workspace / "ran.log").read_text().count("x") == 3
    assert ended.value("tool_calls") == 3
    assert ended.measure("tool_calls").availability is Availability.DERIVED
