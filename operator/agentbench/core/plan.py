"""The run plan: every cell and repeat, shuffled once by the frozen seed."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import combinations, product

from agentbench.api.campaign import CampaignSpec
from agentbench_analysis.rows.model import Cell
from agentbench_analysis.rows.words import Phase


class PlanConflict(ValueError):
    """Two runs of a plan would share an id."""


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One run of a campaign, at its place in the order (from 0)."""

    id: str
    order: int
    repeat: int
    phase: Phase
    cell: Cell


def plan(spec: CampaignSpec) -> tuple[PlannedRun, ...]:
    """List every run of a campaign in the order in which it starts.

    The calibration batch comes before the sample. Within each, run ids are sorted by the
    sha256 of seed and id, so the order depends on no library's random stream.

    Raises:
        PlanConflict: two combinations of ids give the same run id.
    """
    batches = (
        (Phase.CALIBRATION, spec.calibration.repeats, "c"),
        (Phase.SAMPLE, spec.repeats, "r"),
    )
    cells = tuple(_cells(spec))
    ids = [cell_id for _, cell_id in cells]
    twice = [cell_id for cell_id, count in Counter(ids).items() if count > 1]
    if twice:
        raise PlanConflict(
            f"cell {twice[0]}: two combinations of task, stack, agent and plugins give this id; "
            "choose ids that stay apart when they are joined with dashes"
        )
    runs: list[PlannedRun] = []
    for phase, repeats, letter in batches:
        batch = [
            (f"{cell_id}-{letter}{repeat}", repeat, cell)
            for cell, cell_id in cells
            for repeat in range(1, repeats + 1)
        ]
        batch.sort(key=lambda entry: (order_key(spec.order.seed, entry[0]), entry[0]))
        runs += [
            PlannedRun(run_id, len(runs) + place, repeat, phase, cell)
            for place, (run_id, repeat, cell) in enumerate(batch)
        ]
    return tuple(runs)


def order_key(seed: int, run_id: str) -> bytes:
    """Where a run sorts: the sha256 of the seed in decimal, a colon and the run id."""
    return sha256(f"{seed}:{run_id}".encode()).digest()


def plugin_sets(plugins: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Every combination of plugins that are on, from none to all."""
    for size in range(len(plugins) + 1):
        yield from combinations(plugins, size)


def _cells(spec: CampaignSpec) -> Iterator[tuple[Cell, str]]:
    tasks = [task.id for task in spec.tasks]
    stacks = [stack.id for stack in spec.stacks]
    agents = [agent.id for agent in spec.agents]
    plugins = [plugin.id for plugin in spec.plugins]
    prefix = _shared_prefix([*tasks, *stacks, *agents])
    for task, stack, agent, on in product(tasks, stacks, agents, plugin_sets(plugins)):
        parts = [name.removeprefix(prefix) for name in (task, stack, agent)]
        if plugins:
            parts.append("p" + (".".join(on) if on else "0"))
        yield Cell(task=task, stack=stack, agent=agent, plugins=on), prefix + "-".join(parts)


def _shared_prefix(ids: Sequence[str]) -> str:
    """The part up to a dash that every id begins with: `AB-` of AB-T01, AB-S1 and AB-A1."""
    first = ids[0]
    ends = [place + 1 for place, letter in enumerate(first) if letter == "-"]
    for end in reversed(ends):
        if all(name.startswith(first[:end]) and len(name) > end for name in ids):
            return first[:end]
    return ""
