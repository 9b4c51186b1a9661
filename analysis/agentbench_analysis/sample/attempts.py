"""From documents to attempts: every row of the sample, with how it counts."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import chain
from sys import intern

from agentbench_analysis.parsing import Read
from agentbench_analysis.results.model import Attempt, CheckLine, Judgement, KeptOut, Standing
from agentbench_analysis.rows.model import Row, Security
from agentbench_analysis.rows.words import Cause, CheckVerdict, Outcome
from agentbench_analysis.sample.admit import Gate
from agentbench_analysis.sample.scoring import (
    Flagged,
    Suspect,
    judgements,
    standings,
)
from agentbench_analysis.spec import AnalysisSpec

_CLEAN = Security(ran=True)

Documents = Iterable[tuple[str, bytes]]


@dataclass(frozen=True, slots=True)
class Reading:
    """The sample as it was read: attempts by frozen order, and what was kept out."""

    attempts: tuple[Attempt, ...]
    kept_out: tuple[KeptOut, ...]
    notes: tuple[str, ...]


def read_attempts(
    spec: AnalysisSpec,
    rows: Documents,
    adjudications: Documents = (),
    expected: Mapping[tuple[str, int], str] | None = None,
    read: Read | None = None,
) -> Reading:
    """Read rows one at a time and decide which attempt of each run scores.

    Raises:
        AnalysisError: a row or an adjudication is wrong; nothing is returned then.
        NoRowsError: there is no row of this campaign's sample.
    """
    gate = Gate(spec, expected or {}, read)
    kept = [_attempt(file, sha, row) for file, sha, row in gate.sample(rows)]
    judged, orphans = judgements(
        adjudications,
        spec,
        {(each.run, each.attempt): Flagged(each.outcome, each.flags_standing) for each in kept},
    )
    runs: defaultdict[str, list[Attempt]] = defaultdict(list)
    for each in kept:
        runs[each.run].append(each)
    settled = chain.from_iterable(_settle(attempts, judged) for attempts in runs.values())
    kept_out = tuple(sorted(gate.kept_out.values(), key=lambda each: each.reason))
    notes = [f"{each.rows} rows kept out: {each.reason} ({each.example})" for each in kept_out]
    if orphans:
        notes.append(f"{len(orphans)} adjudications are about no row of the sample ({orphans[0]})")
    return Reading(
        attempts=tuple(sorted(settled, key=lambda each: (each.order, each.run, each.attempt))),
        kept_out=kept_out,
        notes=tuple(notes),
    )


def _check_lines(row: Row) -> tuple[CheckLine, ...]:
    """The checks of a row as results keep them: verdicts, and which assertions failed."""
    return tuple(
        _check_line(
            check.repeat,
            check.verdict,
            check.reason,
            tuple(line.id for line in check.asserts if not line.ok),
        )
        for check in row.checks
    )


@lru_cache(maxsize=4096)
def _check_line(
    repeat: int, verdict: CheckVerdict, reason: str | None, failed: tuple[str, ...]
) -> CheckLine:
    """Most runs say the same: equal lines are kept once."""
    return CheckLine(repeat=repeat, verdict=verdict, reason=reason, failed=failed)


def _attempt(file: str, sha: str, row: Row) -> Attempt:
    """A row as results keep it, if it is its run's only attempt and nobody has judged it."""
    cell = row.cell
    security = row.security if row.security != _CLEAN else _CLEAN
    return Attempt(
        run=row.run,
        attempt=row.attempt,
        key=file,
        sha256=sha,
        order=row.order,
        repeat=row.repeat,
        task=intern(cell.task),
        stack=intern(cell.stack),
        agent=intern(cell.agent),
        plugins=cell.plugins,
        outcome=row.outcome,
        cause=row.cause,
        final_cause=row.cause,
        reasons=row.reasons,
        caps_hit=row.caps_hit,
        started_at=row.started_at,
        ended_at=row.ended_at,
        metrics=row.metrics,
        checks=_check_lines(row),
        security=security,
        flags_standing=tuple(flag.assertion for flag in security.flags) if security.flags else (),
        withheld=tuple(name for name, each in row.artifacts.items() if each.withheld)
        if row.artifacts
        else (),
        notes=row.notes,
        standing=_alone(row.attempt, row.outcome, row.cause),
        unjudged=row.outcome is Outcome.FAIL or bool(security.flags),
    )


@cache
def _alone(attempt: int, outcome: Outcome, cause: Cause | None) -> Standing:
    """How the only attempt of a run counts while nobody has judged it."""
    return standings((Suspect(attempt, outcome, cause, None),))[0]


def _settle(
    attempts: list[Attempt], judged: Mapping[tuple[str, int], Judgement]
) -> Iterable[Attempt]:
    attempts.sort(key=lambda each: each.attempt)
    words = [judged.get((each.run, each.attempt)) for each in attempts]
    if len(attempts) == 1 and words[0] is None:
        return attempts
    return _judged(attempts, words)


def _judged(attempts: list[Attempt], words: list[Judgement | None]) -> Iterator[Attempt]:
    suspects = [
        Suspect(each.attempt, each.outcome, each.cause, word.cause if word else None)
        for each, word in zip(attempts, words, strict=True)
    ]
    for each, word, suspect, standing in zip(
        attempts, words, suspects, standings(suspects), strict=True
    ):
        failed = each.outcome is Outcome.FAIL and suspect.judged is None
        flagged = bool(each.security.flags) and (word is None or word.security is None)
        yield replace(
            each,
            final_cause=suspect.final,
            flags_standing=each.flags_standing
            if word is None or word.security is None
            else word.security,
            standing=standing,
            judgement=word,
            unjudged=failed or flagged,
        )
