"""The frozen choices that an analysis obeys; nothing here is chosen after data."""

import dataclasses
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import Literal

from agentbench_analysis.rows.words import Cause


class Rule(StrEnum):
    """What a hypothesis asks; each has its own file under `verdict`."""

    PASS = "pass-rate"
    COST = "cost"
    TIME = "time"
    SECURITY = "security"


class BestOther(StrEnum):
    """When the best of the other stacks is picked."""

    PER_RESAMPLE = "perResample"
    FIXED = "fixed"


class QuantileRule(StrEnum):
    """How a quantile is read between two sorted resamples, as numpy names it."""

    LINEAR = "linear"  # Hyndman and Fan's type 7
    LOWER = "lower"
    HIGHER = "higher"
    NEAREST = "nearest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """One task, stack or agent: its immutable id, and the name that people read.

    `label` is a public remark, such as how far a model id was verified.
    """

    id: str
    name: str
    label: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Margins:
    """Thresholds: pass-rate difference (a share), and ratios of cost and of time."""

    pass_rate: float = -0.10
    cost: float = 0.85
    time: float = 1.00


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """Limits of every run: seconds, US dollars, counts."""

    wall_seconds: float
    cost_usd: float
    tool_calls: int
    interventions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypothesis:
    """One hypothesis: its immutable id, the rule that decides it, and its words."""

    id: str
    rule: Rule
    statement: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One condition of the claim: it holds where all its hypotheses hold."""

    id: str
    hypotheses: tuple[str, ...]
    statement: str


_MARGINS = {
    "margins.passRate": "pass_rate",
    "margins.cost": "cost",
    "margins.time": "time",
}
AMENDABLE = (*_MARGINS, "confidence", "resamples", "bestOther", "quantile")
"""Fields of the frozen analysis that an amendment can set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What an amendment changes, as data: one field of the frozen choices and its new value."""

    field: str  # margins.passRate, margins.cost, margins.time, confidence, resamples, ...
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Amendment:
    """One dated change of the protocol; `note` is its effect in words."""

    seq: int
    date: str
    change: str
    why: str
    any_run_started: bool
    effects: tuple[Effect, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisSpec:
    """Everything frozen that the analysis obeys.

    Shares and ratios are plain numbers (0.10 is ten percentage points). `digest` is None for a
    draft that was never frozen. `headline` is what may be said if every claim holds.
    """

    schema: Literal["agentbench.analysis-spec/v1"] = "agentbench.analysis-spec/v1"
    protocol: str
    campaign: str
    digest: str | None
    draft: bool
    tasks: tuple[Factor, ...]
    stacks: tuple[Factor, ...]
    agents: tuple[Factor, ...]
    plugins: tuple[Factor, ...] = ()
    repeats: int
    caps: Caps
    budget_usd: float | None = None
    resamples: int = 10_000
    seed: int = 0
    confidence: float = 0.95
    margins: Margins = Margins()
    best_other: BestOther = BestOther.PER_RESAMPLE
    quantile: QuantileRule = QuantileRule.LINEAR
    cause_order: tuple[Cause, ...] = tuple(Cause)
    reference: str
    harness_authors: tuple[str, ...] = ()
    hypotheses: tuple[Hypothesis, ...]
    claims: tuple[Claim, ...]
    headline: str = ""
    amendments: tuple[Amendment, ...] = ()

    @property
    def plugin_sets(self) -> tuple[tuple[str, ...], ...]:
        """Every on/off combination of the plugins; one empty set where there are none."""
        ids = [plugin.id for plugin in self.plugins]
        return tuple(chosen for size in range(len(ids) + 1) for chosen in combinations(ids, size))

    @property
    def others(self) -> tuple[Factor, ...]:
        """The stacks that the reference stack is compared with, in frozen order."""
        return tuple(stack for stack in self.stacks if stack.id != self.reference)

    @property
    def reference_name(self) -> str:
        """The reference stack's name for people."""
        return next(stack.name for stack in self.stacks if stack.id == self.reference)

    @property
    def planned_cells(self) -> int:
        """Cells of the design."""
        return len(self.tasks) * len(self.stacks) * len(self.agents) * len(self.plugin_sets)

    @property
    def planned_runs(self) -> int:
        """Runs of the whole sample."""
        return self.planned_cells * self.repeats

    def with_effect(self, effect: Effect) -> "AnalysisSpec":
        """The same choices with one amended field.

        Raises:
            ValueError: the field takes no amendment, or the value does not fit it.
        """
        name, value = effect.field, effect.value
        if name not in AMENDABLE:
            raise ValueError(f"analysis.{name} takes no amendment")
        if name in _MARGINS:
            margins = dataclasses.replace(self.margins, **{_MARGINS[name]: float(value)})
            return dataclasses.replace(self, margins=margins)
        match name:
            case "confidence":
                return dataclasses.replace(self, confidence=float(value))
            case "resamples":
                return dataclasses.replace(self, resamples=int(value))
            case "bestOther":
                return dataclasses.replace(self, best_other=BestOther(value))
            case _:
                return dataclasses.replace(self, quantile=QuantileRule(value))
