"""Which attempt of a run scores, and with which cause: reruns and adjudication.

A first attempt whose cause is infra is suspected until a person says so. Confirmed, its rerun
scores; refused, the first attempt scores with the cause that the adjudicator gave; not yet
judged, the rerun scores provisionally and is printed as such. There is never a third attempt.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agentbench_analysis.errors import AnalysisError
from agentbench_analysis.results.model import Judgement, Standing
from agentbench_analysis.rows.model import Adjudication
from agentbench_analysis.rows.read import parse_adjudication
from agentbench_analysis.rows.words import Cause, Outcome
from agentbench_analysis.spec import AnalysisSpec


@dataclass(frozen=True, slots=True)
class Suspect:
    """What decides whether an attempt scores."""

    attempt: int
    outcome: Outcome
    cause: Cause | None
    judged: Cause | None  # the adjudicator's cause, None while nobody has judged it

    @property
    def final(self) -> Cause | None:
        """The cause after adjudication."""
        return self.judged if self.judged is not None else self.cause

    @property
    def blocked(self) -> bool:
        """Whether the attempt itself cannot score: infra, or ended by a person."""
        return self.outcome is Outcome.ABORTED or self.final is Cause.INFRA


def standings(attempts: Sequence[Suspect]) -> tuple[Standing, ...]:
    """The standing of each attempt of one run, in order of attempt."""
    *first, last = attempts
    if not first:
        if last.blocked:
            return (Standing.UNSCORED,)
        alone = last.attempt == 1
        return (Standing.SCORES if alone else Standing.PROVISIONAL,)
    head = first[0]
    if not head.blocked:
        return (Standing.SCORES, Standing.SET_ASIDE)
    if last.blocked:
        return (Standing.REPLACED, Standing.UNSCORED)
    confirmed = head.judged is Cause.INFRA
    return (Standing.REPLACED, Standing.SCORES if confirmed else Standing.PROVISIONAL)


@dataclass(frozen=True, slots=True)
class Flagged:
    """What an adjudication is checked against."""

    outcome: Outcome
    flags: tuple[str, ...]


def judgements(
    documents: Iterable[tuple[str, bytes]],
    spec: AnalysisSpec,
    rows: Mapping[tuple[str, int], Flagged],
) -> tuple[dict[tuple[str, int], Judgement], tuple[str, ...]]:
    """The adjudication that counts for each attempt, and the files that are about no row.

    The highest `seq` counts; where it leaves cause or security open, the earlier word stays.

    Raises:
        AnalysisError: one is malformed, by a harness author, about no row, written twice, or
            gives a cause to a passing attempt.
    """
    found: defaultdict[tuple[str, int], list[Adjudication]] = defaultdict(list)
    orphans: list[str] = []
    taken: dict[tuple[str, int], str] = {}
    for file, data in documents:
        each = parse_adjudication(file, data)
        if each.campaign != spec.campaign:
            raise AnalysisError(
                "is about another campaign",
                file=file,
                field="campaign",
                value=each.campaign,
                cure=f"Adjudications of {spec.campaign} only: move the file.",
            )
        if each.by in spec.harness_authors:
            raise AnalysisError(
                "is a harness author, who may not adjudicate",
                file=file,
                field="by",
                value=each.by,
                cure="Have a person who did not build the harness read the run.",
            )
        other = taken.setdefault((each.run, each.seq), file)
        if other != file:
            raise AnalysisError(
                f"is used twice for {each.run}",
                file=file,
                field="seq",
                value=str(each.seq),
                cure=f"The other is {other}: adjudications are append-only, use the next number.",
            )
        row = rows.get((each.run, each.attempt))
        if row is None:
            orphans.append(file)
            continue
        _fits(file, each, row)
        found[each.run, each.attempt].append(each)
    return {key: _last(entries) for key, entries in found.items()}, tuple(sorted(orphans))


def _fits(file: str, each: Adjudication, row: Flagged) -> None:
    if row.outcome is Outcome.PASS and each.cause is not None:
        raise AnalysisError(
            f"gives a cause to a passing attempt of {each.run}",
            file=file,
            field="cause",
            value=each.cause.value,
            cure="A pass has no cause: write null, and list confirmed flags under `security`.",
        )
    unknown = sorted(set(each.security or ()).difference(row.flags))
    if unknown:
        raise AnalysisError(
            f"confirms a flag that the row of {each.run} does not have",
            file=file,
            field="security",
            value=unknown[0],
            cure=f"Flags of this row: {', '.join(sorted(row.flags)) or 'none'}.",
        )


def _last(entries: Sequence[Adjudication]) -> Judgement:
    """The final word: the highest seq; a part that it leaves open keeps the earlier word."""
    ordered = sorted(entries, key=lambda each: each.seq)
    last = ordered[-1]
    cause = next((each.cause for each in reversed(ordered) if each.cause is not None), None)
    flags = next((each.security for each in reversed(ordered) if each.security is not None), None)
    return Judgement(
        seq=last.seq, cause=cause, security=flags, by=last.by, at=last.at, reason=last.reason
    )
