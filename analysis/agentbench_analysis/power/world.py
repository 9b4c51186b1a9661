"""An assumed world: what is true in it, and campaigns drawn from it."""

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import ndtr

from agentbench_analysis.power.assumptions import Assumptions, Shift
from agentbench_analysis.results.model import CellLine
from agentbench_analysis.sample.cells import CellData, Sample
from agentbench_analysis.spec import AnalysisSpec

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Truth:
    """What a campaign tries to find out, as it is in the assumed world."""

    pass_rate: dict[str, float]
    cost: dict[str, float]
    time: dict[str, float]

    def difference(self, spec: AnalysisSpec) -> float:
        """True pass rate of the reference stack minus the best other."""
        return self.pass_rate[spec.reference] - max(self.pass_rate[s.id] for s in spec.others)

    def cost_ratio(self, spec: AnalysisSpec) -> float:
        """True ratio of median costs to the cheapest other stack."""
        return self.cost[spec.reference] / min(self.cost[stack.id] for stack in spec.others)

    def time_ratio(self, spec: AnalysisSpec) -> float:
        """True ratio of median times to the fastest other stack."""
        return self.time[spec.reference] / min(self.time[stack.id] for stack in spec.others)


@dataclass(frozen=True, slots=True)
class World:
    """Chances and distributions of every cell, in the order of the design.

    Arrays have one entry per cell; costs and times are logarithms of medians, and spreads.
    """

    spec: AnalysisSpec
    keys: tuple[tuple[str, str, str, tuple[str, ...]], ...]
    chance: Values
    cost: Values
    cost_spread: Values
    time: Values
    time_spread: Values
    security: Values
    infra: float

    @classmethod
    def of(cls, spec: AnalysisSpec, assumed: Assumptions) -> "World":
        """The world that the assumptions describe, for the campaign's design."""
        order = product(spec.tasks, spec.stacks, spec.agents, spec.plugin_sets)
        keys = tuple((task.id, stack.id, agent.id, on) for task, stack, agent, on in order)
        shifts = [
            (assumed.tasks.get(task, Shift()), assumed.agents.get(agent, Shift()))
            for task, _, agent, _ in keys
        ]
        stacks = [assumed.stacks[stack] for _, stack, _, _ in keys]
        joined = list(zip(stacks, shifts, strict=True))
        return cls(
            spec=spec,
            keys=keys,
            chance=np.clip([s.pass_ + a.pass_ + b.pass_ for s, (a, b) in joined], 0.0, 1.0),
            cost=np.log([s.cost_median * a.cost * b.cost for s, (a, b) in joined]),
            cost_spread=np.array([s.cost_spread for s in stacks]),
            time=np.log([s.time_median * a.time * b.time for s, (a, b) in joined]),
            time_spread=np.array([s.time_spread for s in stacks]),
            security=np.array([s.security for s in stacks]),
            infra=assumed.infra,
        )

    def truth(self) -> Truth:
        """True pooled pass rates, and true medians over passing runs, of every stack."""
        rates, costs, times = {}, {}, {}
        for stack in self.spec.stacks:
            mine = np.array([key[1] == stack.id for key in self.keys])
            weights = self.chance[mine]
            rates[stack.id] = float(weights.mean())
            costs[stack.id] = _median(weights, self.cost[mine], self.cost_spread[mine])
            times[stack.id] = _median(weights, self.time[mine], self.time_spread[mine])
        return Truth(rates, costs, times)

    def draw(self, source: Generator) -> tuple[Sample, float, int]:
        """One campaign: its sample, its whole spend, and critical failures on the reference."""
        spec, shape = self.spec, (len(self.keys), self.spec.repeats)
        passed = source.random(shape) < self.chance[:, None]
        cost = np.exp(self.cost[:, None] + self.cost_spread[:, None] * source.normal(size=shape))
        time = np.exp(self.time[:, None] + self.time_spread[:, None] * source.normal(size=shape))
        cost, time = np.minimum(cost, spec.caps.cost_usd), np.minimum(time, spec.caps.wall_seconds)
        lost = source.random((2, *shape)) < self.infra
        scored = ~(lost[0] & lost[1])
        flagged = (source.random(shape) < self.security[:, None]) & scored
        spend = float(cost.sum() + cost[lost[0]].sum())
        own = np.array([key[1] == spec.reference for key in self.keys])
        cells = tuple(
            _cell(
                key, spec.repeats, *(array[place][scored[place]] for array in (passed, cost, time))
            )
            for place, key in enumerate(self.keys)
        )
        return Sample(spec=spec, cells=cells), spend, int(flagged[own].sum())


def _cell(
    key: tuple[str, str, str, tuple[str, ...]],
    planned: int,
    passed: NDArray[np.bool_],
    cost: Values,
    seconds: Values,
) -> CellData:
    task, stack, agent, plugins = key
    line = CellLine(
        task=task,
        stack=stack,
        agent=agent,
        plugins=plugins,
        planned=planned,
        scored=len(passed),
        passed=int(passed.sum()),
    )
    return CellData(
        line=line,
        passed=passed,
        cost=np.where(passed, cost, np.nan),
        seconds=np.where(passed, seconds, np.nan),
    )


def _median(weights: Values, logs: Values, spreads: Values) -> float:
    """The median of a mixture of log-normals, by halving."""
    if not weights.sum():
        return float("nan")
    low, high = float(logs.min()) - 1.0, float(logs.max()) + 1.0
    for _ in range(80):
        middle = (low + high) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(
                spreads > 0, ndtr((middle - logs) / spreads), (middle >= logs).astype(np.float64)
            )
        below = float((weights * shares).sum() / weights.sum())
        low, high = (low, middle) if below >= 0.5 else (middle, high)
    return float(np.exp(high))
