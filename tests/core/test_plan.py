"""The run plan is complete, unique, and the same everywhere."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.build import a_campaign

from agentbench.core.plan import PlanConflict, plan
from agentbench_analysis.rows.words import Phase

SIZES = st.integers(1, 4)


@given(tasks=SIZES, stacks=SIZES, agents=SIZES, repeats=SIZES, plugins=st.integers(0, 3))
def test_no_cell_and_no_repeat_is_lost(
    tasks: int, stacks: int, agents: int, repeats: int, plugins: int
) -> None:
    spec = a_campaign(tasks=tasks, stacks=stacks, agents=agents, repeats=repeats, plugins=plugins)
    runs = plan(spec)
    cells = Counter(run.cell for run in runs)
    assert len(cells) == tasks * stacks * agents * 2**plugins
    assert set(cells.values()) == {repeats}
    assert {(run.cell, run.repeat) for run in runs} == {
        (cell, repeat) for cell in cells for repeat in range(1, repeats + 1)
    }


@given(seed=st.integers(0, 2**53 - 1), repeats=SIZES)
def test_the_same_spec_gives_the_same_plan_and_ids_are_unique(seed: int, repeats: int) -> None:
    spec = a_campaign(repeats=repeats, order={"seed": seed})
    runs = plan(spec)
    assert runs == plan(spec.model_copy(deep=True))
    assert len({run.id for run in runs}) == len(runs)
    assert [run.order for run in runs] == list(range(len(runs)))


def test_the_order_does_not_depend_on_the_order_of_the_factors_in_the_file() -> None:
    spec = a_campaign(tasks=3)
    turned = spec.model_copy(update={"tasks": spec.tasks[::-1], "agents": spec.agents[::-1]})
    assert [run.id for run in plan(spec)] == [run.id for run in plan(turned)]


def test_another_seed_gives_another_order_of_the_same_runs() -> None:
    one = [run.id for run in plan(a_campaign(order={"seed": 1}))]
    other = [run.id for run in plan(a_campaign(order={"seed": 2}))]
    assert one != other
    assert sorted(one) == sorted(other)


def test_run_ids_share_the_prefix_of_the_factor_ids_once() -> None:
    ids = {run.id for run in plan(a_campaign(prefix="AB-"))}
    assert "AB-T02-S1-A2-r3" in ids


def test_calibration_comes_first_and_has_ids_of_its_own() -> None:
    runs = plan(a_campaign(calibration={"repeats": 1}))
    phases = [run.phase for run in runs]
    assert phases == sorted(phases, key=lambda phase: phase is Phase.SAMPLE)
    assert {run.id for run in runs if run.phase is Phase.CALIBRATION} >= {"QS-T01-S1-A1-c1"}


def test_the_order_of_known_runs_is_pinned_for_ever() -> None:
    # `printf 7:QS-T01-S1-A1-r2 | sha256sum` and so on give 7fbd, b6e5, c778 and f525.
    runs = plan(a_campaign(tasks=1, stacks=2, agents=1, repeats=2))
    assert [run.id for run in runs] == [
        "QS-T01-S1-A1-r2",
        "QS-T01-S1-A1-r1",
        "QS-T01-S2-A1-r1",
        "QS-T01-S2-A1-r2",
    ]


def test_ids_that_collide_when_joined_are_refused() -> None:
    spec = a_campaign(tasks=1, stacks=1, agents=1)
    task, stack = spec.tasks[0], spec.stacks[0]
    clash = spec.model_copy(
        update={
            "tasks": (task.model_copy(update={"id": "a-b"}), task.model_copy(update={"id": "a"})),
            "stacks": (
                stack.model_copy(update={"id": "c"}),
                stack.model_copy(update={"id": "b-c"}),
            ),
        }
    )
    with pytest.raises(PlanConflict, match="a-b-c-QS-A1"):
        plan(clash)
