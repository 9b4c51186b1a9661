"""What an analysis publishes, as data: `results.json` and `verdict.json`."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from agentbench_analysis.rows.model import Metric, Security
from agentbench_analysis.rows.words import Availability, Cause, CheckVerdict, Outcome
from agentbench_analysis.spec import AnalysisSpec, Rule

RESULTS_SCHEMA: Literal["agentbench.results/v1"] = "agentbench.results/v1"
VERDICT_SCHEMA: Literal["agentbench.verdict/v1"] = "agentbench.verdict/v1"


class Decision(StrEnum):
    """What may be said of a hypothesis or claim; there is no word for "worse"."""

    HOLDS = "holds"
    NOT_SHOWN = "not shown"
    NOT_COMPUTABLE = "not computable"


class Standing(StrEnum):
    """Whether an attempt is the one of its run that counts."""

    SCORES = "scores"
    PROVISIONAL = "scores provisionally"  # a rerun whose infra label nobody has confirmed yet
    REPLACED = "replaced by its rerun"
    SET_ASIDE = "rerun set aside"  # the infra label of the first attempt was refused
    UNSCORED = "not scored"  # an infra failure or an aborted attempt without a scoring rerun

    @property
    def counts(self) -> bool:
        """Whether the attempt is in the denominators."""
        return self in (Standing.SCORES, Standing.PROVISIONAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckLine:
    """One execution of the task's check, with the assertions that failed."""

    repeat: int
    verdict: CheckVerdict
    reason: str | None = None
    failed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The adjudication that counts for an attempt."""

    seq: int
    cause: Cause | None
    security: tuple[str, ...] | None
    by: str
    at: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One row as the analysis keeps it, and how it counts.

    `key` and `sha256` name the raw row in the store; `cause` is the row's, `final_cause` is the
    cause after adjudication. `flags_standing` are the security flags that count: the confirmed
    ones, or all of them while nobody has judged them.
    """

    run: str
    attempt: int
    key: str
    sha256: str
    order: int
    repeat: int
    task: str
    stack: str
    agent: str
    plugins: tuple[str, ...] = ()
    outcome: Outcome
    cause: Cause | None
    final_cause: Cause | None
    reasons: tuple[str, ...] = ()
    caps_hit: tuple[str, ...] = ()
    started_at: str
    ended_at: str
    metrics: dict[str, Metric] = field(default_factory=dict)
    checks: tuple[CheckLine, ...] = ()
    security: Security
    flags_standing: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()  # artifacts that were not published
    notes: tuple[str, ...] = ()
    standing: Standing
    judgement: Judgement | None = None
    unjudged: bool = False  # a failure or a flag that an adjudicator has yet to read


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptOut:
    """Rows that were read and kept out of the sample, and why. Counts of rows."""

    reason: str  # calibration, draft, foreign digest, foreign campaign
    rows: int
    example: str  # one file, so that somebody can look


@dataclass(frozen=True, slots=True, kw_only=True)
class CellLine:
    """One cell: how many of its planned runs are scored, and how many of these pass."""

    task: str
    stack: str
    agent: str
    plugins: tuple[str, ...]
    planned: int
    scored: int
    passed: int

    @property
    def incomplete(self) -> bool:
        """Whether runs are missing after reruns."""
        return self.scored < self.planned

    @property
    def degenerate(self) -> bool:
        """Whether all runs agree, so that resampling the cell shows no spread."""
        return self.scored > 0 and self.passed in (0, self.scored)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One published number, under an id that a claim can link to.

    `value`, `lower` and `upper` are in `unit`; None with a `reason` where the number does not
    exist. `unbounded` says that the upper bound is infinite. `count` of `total` runs reported a
    value (or passed, for a rate).
    """

    id: str
    label: str
    unit: str  # share, difference of shares, ratio, USD, seconds, tokens, count
    value: float | None
    lower: float | None = None
    upper: float | None = None
    unbounded: bool = False
    count: int | None = None
    total: int | None = None
    method: str = ""
    availability: Availability = Availability.DERIVED
    reason: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The decision on one hypothesis under one set of rules.

    `rules` is `frozen`, or `amended` where an amendment changed the rule after runs began; the
    frozen one is the verdict, the amended one is printed beside it. `figures` are the ids of the
    numbers that decided; `reasons` say why; `beside` is everything that touches the decision.
    """

    hypothesis: str
    rule: Rule
    statement: str
    rules: Literal["frozen", "amended"]
    decision: Decision
    condition: str
    threshold: float
    figures: tuple[str, ...]
    reasons: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    incomplete: bool = False  # a value, a run or an adjudication that it rests on is missing


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimFinding:
    """The decision on one condition of the claim."""

    claim: str
    statement: str
    rules: Literal["frozen", "amended"]
    decision: Decision
    hypotheses: tuple[str, ...]
    reasons: tuple[str, ...] = ()
    incomplete: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The decisions of a campaign (`agentbench.verdict/v1`).

    `headline` says whether every condition of the claim holds under the frozen rules.
    `complete` says whether every planned run is scored and every failure adjudicated.
    """

    schema: Literal["agentbench.verdict/v1"] = VERDICT_SCHEMA
    protocol: str
    campaign: str
    digest: str | None
    draft: bool
    claim: str
    headline: Decision
    complete: bool
    scored_runs: int
    planned_runs: int
    findings: tuple[Finding, ...]
    claims: tuple[ClaimFinding, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """A campaign's rows, compiled, with every number drawn from them (`agentbench.results/v1`).

    Every table and page can be made again from this alone.
    """

    schema: Literal["agentbench.results/v1"] = RESULTS_SCHEMA
    spec: AnalysisSpec
    verdict: Verdict
    kept_out: tuple[KeptOut, ...]
    cells: tuple[CellLine, ...]
    figures: tuple[Figure, ...]
    notes: tuple[str, ...]
    attempts: tuple[Attempt, ...]

    def figure(self, figure_id: str) -> Figure:
        """The number under an id; KeyError where nothing was published under it."""
        for each in self.figures:
            if each.id == figure_id:
                return each
        raise KeyError(figure_id)

    @property
    def scored(self) -> tuple[Attempt, ...]:
        """The attempts that count, one per run."""
        return tuple(each for each in self.attempts if each.standing.counts)
