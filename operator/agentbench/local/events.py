"""What the engine tells while it works, for a display or a log."""

from dataclasses import dataclass
from decimal import Decimal

from agentbench.core.decide import CampaignPhase, Tally
from agentbench.core.plan import PlannedRun
from agentbench_analysis.rows.model import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignStarted:
    """The engine is ready; runs recorded earlier count in the tally already."""

    runs: tuple[PlannedRun, ...]
    tally: Tally
    parallel: int
    isolation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """An attempt was started, or taken up again after an engine had been killed."""

    run: PlannedRun
    attempt: int
    resumed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProgress:
    """An attempt reached a step: `setup`, `agent`, `captured`, `grading`, or a text."""

    run: PlannedRun
    attempt: int
    step: str
    seconds: float  # since the attempt was started or taken up


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded:
    """An attempt has its row. `cost` in US dollars, None where it is not known."""

    run: PlannedRun
    attempt: int
    row: Row
    cost: Decimal | None
    tally: Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignEnded:
    """Nothing is left to do now."""

    phase: CampaignPhase
    tally: Tally


Event = CampaignStarted | RunStarted | RunProgress | RunEnded | CampaignEnded
