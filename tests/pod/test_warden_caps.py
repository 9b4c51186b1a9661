"""Whole runs of the scripted agent that come to a cap, or stay below it."""

from tests.fakes.lab import MESSAGE, lab, steps

from agentbench.core.summary import Cap, Ending
from agentbench_analysis.rows.words import Availability

DEAR = {"input": 100_000, "output": 10_000}  # $0.30 a call at the lab's prices


async def test_the_tool_cap_lets_exactly_its_number_run() -> None:
    async with lab() as run:
        ended = await run.run(
            "scripted",
            steps(
                {"shell": "echo x >> ran", "times": 19},
                {"shell": "echo x >> ran", "parallel": 20, "stubborn": True},
                MESSAGE,
            ),
            caps={"toolCalls": 20},
        )
        ran = (run.workspace / "ran").read_text().count("x")
    assert ran == 20
    assert ended.value("tool_calls") == 20
    assert ended.measure("tool_calls").availability is Availability.MEASURED
    assert ended.summary.caps_hit == (Cap.TOOL_CALLS,)
    assert ended.summary.ending is Ending.STOPPED
    assert ended.calls == []


async def test_an_agent_that_understands_the_stop_ends_at_the_tool_cap_by_itself() -> None:
    async with lab() as run:
        ended = await run.run(
            "scripted", steps({"shell": "true", "times": 3}), caps={"toolCalls": 2}
        )
    assert ended.summary.caps_hit == (Cap.TOOL_CALLS,)
    assert ended.summary.ending is Ending.STOPPED
    assert ended.warden("interrupt") == []


async def test_the_call_that_crosses_the_cost_cap_is_counted_and_the_next_one_refused() -> None:
    async with lab({"turns": [{"text": "ok", "usage": DEAR}]}) as run:
        ended = await run.run("scripted", steps({**MESSAGE, "times": 40}), caps={"costUsd": "0.70"})
    assert ended.value("cost_usd") == "0.9"
    assert ended.value("cost_overshoot_usd") == "0.2"
    assert len(ended.calls) == 3
    assert ended.summary.caps_hit == (Cap.COST,)
    assert ended.summary.ending is Ending.STOPPED


async def test_an_agent_that_goes_on_after_the_cost_cap_is_stopped() -> None:
    async with lab({"turns": [{"text": "ok", "usage": DEAR}]}) as run:
        ended = await run.run(
            "scripted",
            steps(MESSAGE, {"sleep": 600}),
            caps={"costUsd": "0.10"},
        )
    assert ended.summary.caps_hit == (Cap.COST,)
    assert ended.summary.ending is Ending.STOPPED
    assert ended.value("agent_seconds") < 60
    assert ended.warden("interrupt")


async def test_the_wall_cap_ends_the_agent_and_all_that_it_started() -> None:
    beat = {"shell": "while :; do date +%s.%N >> beats; sleep 0.1; done"}
    async with lab() as run:
        ended = await run.run(
            "scripted",
            steps({"fork": steps({**beat, "hook": False})}, {"shell": "trap '' INT; sleep 600"}),
            caps={"wallSeconds": 6},
        )
        beats = (run.workspace / "beats").read_text()
        assert beats
        await run.pause()
        assert (run.workspace / "beats").read_text() == beats
    assert ended.summary.caps_hit == (Cap.WALL,)
    assert ended.summary.ending is Ending.STOPPED
    assert 6 <= ended.value("agent_seconds") < 60


async def test_three_questions_are_answered_and_the_fourth_is_the_cause() -> None:
    asked = [{"question": f"Number {number}?"} for number in range(4)]
    async with lab() as run:
        ended = await run.run("scripted", steps(*asked, {"shell": "echo done > made"}))
        assert (run.workspace / "made").read_text() == "done\n"
    assert ended.value("interventions") == 4
    assert ended.summary.caps_hit == (Cap.INTERVENTIONS,)
    assert ended.summary.ending is Ending.FINISHED
    replies = [step for step in ended.trajectory()["steps"] if step["source"] == "user"][1:]
    assert [step["extra"]["intervention_index"] for step in replies] == [1, 2, 3, 4]
    assert {step["message"] for step in replies} == {"Use your best judgement."}


async def test_three_questions_are_within_the_cap() -> None:
    asked = [{"question": f"Number {number}?"} for number in range(3)]
    async with lab() as run:
        ended = await run.run("scripted", steps(*asked))
    assert ended.value("interventions") == 3
    assert ended.summary.caps_hit == ()
