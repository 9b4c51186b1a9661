"""The pack at the root is AB-PROTO-1: its ids and figures are the protocol's."""

import re
from decimal import Decimal
from pathlib import Path

import pytest

from agentbench.api.base import dollars, seconds
from agentbench.core.plan import plan
from agentbench.pack.check import check
from agentbench.pack.freeze import missing
from agentbench.pack.load import Pack, load_pack
from agentbench_analysis.rows.words import Cause

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def pack() -> Pack:
    return load_pack(ROOT)


def test_it_plans_180_runs_under_the_ids_of_the_protocol(pack: Pack) -> None:
    runs = [run.id for run in plan(pack.spec)]
    wanted = {
        f"AB-T0{task}-S{stack}-A{agent}-r{repeat}"
        for task in range(1, 7)
        for stack in range(1, 4)
        for agent in range(1, 3)
        for repeat in range(1, 6)
    }
    assert len(runs) == 180
    assert set(runs) == wanted
    assert runs != sorted(runs)


def test_ids_are_those_that_never_change(pack: Pack) -> None:
    spec = pack.spec
    assert spec.protocol.id == "AB-PROTO-1"
    assert [task.id for task in spec.tasks] == [f"AB-T0{n}" for n in range(1, 7)]
    assert [(stack.id, stack.name) for stack in spec.stacks] == [
        ("AB-S1", "Arki"),
        ("AB-S2", "T3"),
        ("AB-S3", "Laravel"),
    ]
    assert [(agent.id, agent.name, agent.model) for agent in spec.agents] == [
        ("AB-A1", "Claude Code", "claude-sonnet-5-5"),
        ("AB-A2", "Codex CLI", "gpt-6.1-sol"),
    ]
    assert [claim.id for claim in spec.analysis.claims] == ["AB-C1", "AB-C2", "AB-C3"]
    assert [each.id for each in spec.analysis.hypotheses] == [f"AB-H{n}" for n in range(1, 5)]
    assert [claim.needs for claim in spec.analysis.claims] == [("AB-H1",), ("AB-H4",), ("AB-H2",)]


def test_limits_are_those_of_the_protocol(pack: Pack) -> None:
    spec = pack.spec
    assert seconds(spec.caps.wall) == 45 * 60
    assert dollars(spec.caps.cost_usd) == Decimal(5)
    assert (spec.caps.tool_calls, spec.caps.interventions) == (400, 3)
    assert spec.script.reply == "Use your best judgement."
    assert spec.budget is not None
    assert dollars(spec.budget.total_usd) == Decimal(900)
    assert spec.repeats == 5
    assert spec.checks.repeats == 3


def test_thresholds_are_those_of_the_protocol(pack: Pack) -> None:
    analysis = pack.spec.analysis
    assert analysis.resamples == 10_000
    assert analysis.confidence == "0.95"
    margins = analysis.margins
    assert (margins.pass_rate, margins.cost, margins.time) == ("-0.10", "0.85", "1.00")
    assert analysis.reference_stack == "AB-S1"
    assert [each.rule for each in analysis.hypotheses] == ["pass-rate", "cost", "time", "security"]
    assert analysis.cause_order == tuple(Cause)


def test_a_model_that_no_vendor_page_confirms_is_unverified(pack: Pack) -> None:
    verified = {a.id: a.verification.status for a in pack.spec.agents if a.verification}
    assert verified == {"AB-A1": "verified", "AB-A2": "unverified"}


def test_seeds_are_the_ones_that_the_locks_record(pack: Pack) -> None:
    assert pack.spec.order.seed == int((ROOT / "locks/order-seed.txt").read_text())
    assert pack.spec.analysis.seed == int((ROOT / "locks/bootstrap-seed.txt").read_text())


def test_what_is_missing_is_owed_by_an_open_item(pack: Pack) -> None:
    problems = check(pack)
    assert [str(problem) for problem in problems if not problem.open] == []


def test_a_freeze_names_every_open_item_and_every_file_that_is_missing(pack: Pack) -> None:
    told = "\n".join(str(problem) for problem in missing(pack))
    for item in pack.spec.protocol.open_items:
        if item.blocks_freeze and not item.resolution:
            assert f"open item {item.id} is not settled" in told
    for task in pack.spec.tasks:
        for ref in (task.prompt, task.check, *task.seeds.values(), *task.solutions.values()):
            assert (ROOT / ref.path).exists() or repr(ref.path) in told


def test_the_text_and_the_data_name_the_same_things(pack: Pack) -> None:
    text = (ROOT / "docs/protocol.md").read_text()
    spec = pack.spec
    named = set(re.findall(r"AB-(?:T\d\d|[SCH]\d|A[12])\b", text))
    assert named == {
        *(task.id for task in spec.tasks),
        *(stack.id for stack in spec.stacks),
        *(agent.id for agent in spec.agents),
        *(hypothesis.id for hypothesis in spec.analysis.hypotheses),
        *(claim.id for claim in spec.analysis.claims),
    }
    for figure in ("45 minutes", "$5 of", "400 per run", "180", "$900", "10,000", "0.85", "1.00"):
        assert figure in text
    for agent in spec.agents:
        assert agent.model in text
