"""What a power simulation says, as data."""

from dataclasses import dataclass
from typing import Literal

from agentbench_analysis.power.assumptions import Assumptions

POWER_SCHEMA: Literal["agentbench.power/v1"] = "agentbench.power/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chance:
    """How often a hypothesis, a claim or the headline comes out each way.

    Shares of simulated campaigns; `lower` and `upper` bound the chance to hold (Wilson, for
    the limited number of simulations).
    """

    id: str
    statement: str
    holds: float
    not_shown: float
    not_computable: float
    lower: float
    upper: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How often an interval holds the truth of the assumed world; `nominal` is its promise."""

    interval: str
    truth: float | None
    nominal: float
    covered: float
    lower: float
    upper: float
    median_width: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """Money in US dollars: expected, in 95 of 100 campaigns at most, and at worst.

    `worst` is every run at its cost cap; `worst_reruns` is every run rerun as well.
    """

    expected: float
    within_95: float
    worst: float
    worst_reruns: float
    budget: float | None
    over_budget: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EqualStacks:
    """How often the pass-rate hypothesis holds where all stacks are truly equal."""

    pass_rate: float
    holds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """The chance that a hypothesis holds at a number of repeats per cell."""

    hypothesis: str
    repeats: int
    runs: int
    holds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """The fewest repeats per cell, of those tried, that reach the wanted power.

    `repeats` is None where none of them does.
    """

    hypothesis: str
    power: float
    repeats: int | None
    runs: int | None
    tried_up_to: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """What a campaign can show under some assumptions (`agentbench.power/v1`)."""

    schema: Literal["agentbench.power/v1"] = POWER_SCHEMA
    protocol: str
    repeats: int
    runs: int
    seed: int
    assumptions: Assumptions
    chances: tuple[Chance, ...]
    coverage: tuple[Coverage, ...]
    spending: Spending
    equal_stacks: tuple[EqualStacks, ...]
    curve: tuple[CurvePoint, ...]
    needed: tuple[Needed, ...]
    statements: tuple[str, ...]
