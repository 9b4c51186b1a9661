"""What one assumes of the stacks before a campaign, to see what the campaign could show."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from agentbench_analysis.codec import decode
from agentbench_analysis.errors import AnalysisError
from agentbench_analysis.spec import AnalysisSpec

ASSUMPTIONS_SCHEMA: Literal["agentbench.assumptions/v1"] = "agentbench.assumptions/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class StackAssumption:
    """One stack: the chance that a run passes, and what runs cost and take.

    Cost (US dollars) and time (seconds) are log-normal: a median, and a `spread` that is the
    standard deviation of the logarithm (0.5: about a third of runs are more than 1.6 times off).
    `security` is the chance of a critical failure in a run.
    """

    pass_: float
    cost_median: float
    cost_spread: float = 0.5
    time_median: float
    time_spread: float = 0.5
    security: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """How a task or an agent differs: added to the pass chance, factors on cost and time."""

    pass_: float = 0.0
    cost: float = 1.0
    time: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """Everything that a simulated campaign is drawn from.

    `infra` is the chance that an attempt is lost to infrastructure. `resamples` is the number
    per simulated bootstrap: fewer than the frozen one, so that many campaigns fit in a minute.
    """

    schema: Literal["agentbench.assumptions/v1"] = ASSUMPTIONS_SCHEMA
    stacks: dict[str, StackAssumption]
    tasks: dict[str, Shift] = field(default_factory=dict)
    agents: dict[str, Shift] = field(default_factory=dict)
    infra: float = 0.0
    campaigns: int = 1000
    resamples: int = 2000


def assumptions_from(document: Mapping[str, Any], spec: AnalysisSpec, file: str) -> Assumptions:
    """Read assumptions from plain data (camelCase names) and hold them against the campaign.

    Raises:
        AnalysisError: a stack is missing, an id is unknown, or a value is impossible.
    """
    found = decode(Assumptions, dict(document), file)
    for kind, factors, given in (
        ("stacks", spec.stacks, found.stacks),
        ("tasks", spec.tasks, found.tasks),
        ("agents", spec.agents, found.agents),
    ):
        known = [each.id for each in factors]
        for ident in given:
            if ident not in known:
                raise _refuse(file, f"{kind}.{ident}", "", "is not in the campaign", known)
    for stack in spec.stacks:
        if stack.id not in found.stacks:
            raise AnalysisError(
                "is missing",
                file=file,
                field=f"stacks.{stack.id}",
                cure="Assume something of every stack of the campaign.",
            )
    for ident, stack_assumed in found.stacks.items():
        _check_stack(file, ident, stack_assumed)
    _share(file, "infra", found.infra)
    for name, count in (("campaigns", found.campaigns), ("resamples", found.resamples)):
        if not 1 <= count <= 1_000_000:
            raise _range(file, name, count, "Write a number from 1 to 1000000.")
    return found


def _check_stack(file: str, ident: str, assumed: StackAssumption) -> None:
    _share(file, f"stacks.{ident}.pass", assumed.pass_)
    _share(file, f"stacks.{ident}.security", assumed.security)
    for name, value in (("costMedian", assumed.cost_median), ("timeMedian", assumed.time_median)):
        if value <= 0:
            raise _range(file, f"stacks.{ident}.{name}", value, "Write a number above zero.")
    for name, value in (("costSpread", assumed.cost_spread), ("timeSpread", assumed.time_spread)):
        if not 0 <= value <= 3:
            raise _range(file, f"stacks.{ident}.{name}", value, "Write a number from 0 to 3.")


def _share(file: str, field_name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise _range(file, field_name, value, "A chance is from 0 to 1: write 0.75 for 75 %.")


def _range(file: str, field_name: str, value: float, cure: str) -> AnalysisError:
    return AnalysisError(
        "is out of range", file=file, field=field_name, value=repr(value), cure=cure
    )


def _refuse(
    file: str, field_name: str, value: str, problem: str, known: list[str]
) -> AnalysisError:
    return AnalysisError(
        problem, file=file, field=field_name, value=value, cure=f"Known: {', '.join(known)}."
    )
