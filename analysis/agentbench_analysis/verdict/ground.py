"""What every verdict stands on, and what is printed beside it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from agentbench_analysis.results.model import Attempt, CellLine, Figure, Finding, Standing
from agentbench_analysis.rows.words import Outcome
from agentbench_analysis.sample.cells import Sample
from agentbench_analysis.spec import AnalysisSpec, Hypothesis

Rules = Literal["frozen", "amended"]


@dataclass(frozen=True, slots=True)
class Ruling:
    """A decision with the numbers that it published."""

    finding: Finding
    figures: tuple[Figure, ...]


@dataclass(frozen=True, slots=True)
class Ground:
    """The sample, the attempts behind it, and the rules in force."""

    spec: AnalysisSpec
    sample: Sample
    attempts: Sequence[Attempt]
    rules: Rules = "frozen"

    def ident(self, hypothesis: Hypothesis, name: str) -> str:
        """The id of a number that belongs to a hypothesis."""
        return f"{'amended/' if self.rules == 'amended' else ''}{hypothesis.id}/{name}"

    def name(self, stack: str) -> str:
        """A stack's name for people."""
        return next(each.name for each in self.spec.stacks if each.id == stack)

    def no_ground(self) -> tuple[str, ...]:
        """Why no comparison of stacks can be computed at all; empty where it can."""
        reasons = []
        if self.spec.draft:
            reasons.append("the protocol is a draft, whose rows give no verdict")
        if not self.spec.others:
            reasons.append("there is no other stack to compare with")
        empty = self.sample.empty
        if empty:
            first = cell_name(empty[0])
            more = f" and {len(empty) - 1} more" if len(empty) > 1 else ""
            reasons.append(f"cell {first}{more} has no scored run")
        return tuple(reasons)

    def beside(self) -> tuple[str, ...]:
        """What touches every comparison of stacks, in words."""
        return tuple(self._beside())

    def _beside(self) -> Iterator[str]:
        lines = [cell.line for cell in self.sample.cells]
        short = [line for line in lines if line.incomplete]
        if short:
            named = ", ".join(
                f"{cell_name(line)} {line.scored} of {line.planned}" for line in short[:3]
            )
            yield f"{len(short)} of {len(lines)} cells are incomplete: {named}" + (
                f", and {len(short) - 3} more" if len(short) > 3 else ""
            )
        flat = sum(line.degenerate for line in lines)
        if flat:
            yield (
                f"{flat} of {len(lines)} cells are degenerate (no run or every run passed): "
                "resampling shows no spread there"
            )
        yield from self.unjudged()

    def unjudged(self) -> Iterator[str]:
        """What adjudication has yet to settle."""
        provisional = [e.run for e in self.attempts if e.standing is Standing.PROVISIONAL]
        if provisional:
            yield (
                f"{counted(len(provisional), 'rerun')} scored provisionally, while the infra label "
                f"of the first attempt is unadjudicated: {', '.join(provisional[:3])}"
                + (", ..." if len(provisional) > 3 else "")
            )
        unread = sum(e.unjudged and e.outcome is Outcome.FAIL for e in self.attempts)
        if unread:
            yield f"{counted(unread, 'failed attempt')} unadjudicated"

    @property
    def unsettled(self) -> bool:
        """Whether a run or an adjudication is missing."""
        return any(cell.line.incomplete for cell in self.sample.cells) or any(
            each.unjudged or each.standing is Standing.PROVISIONAL for each in self.attempts
        )


def counted(number: int, noun: str) -> str:
    """A number and its noun: `1 rerun`, `2 reruns`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def cell_name(line: CellLine) -> str:
    """A cell for people: task / stack / agent, and plugins where there are any."""
    return " / ".join((line.task, line.stack, line.agent, *line.plugins))
