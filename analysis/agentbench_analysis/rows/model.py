"""A row as data: what one attempt was, what it used, and how it was judged."""

from dataclasses import dataclass, field
from typing import Literal

from agentbench_analysis.rows.words import (
    Availability,
    Cause,
    CheckVerdict,
    Outcome,
    Phase,
    SecurityKind,
)

ROW_SCHEMA: Literal["agentbench.row/v1"] = "agentbench.row/v1"
ADJUDICATION_SCHEMA: Literal["agentbench.adjudication/v1"] = "agentbench.adjudication/v1"

Number = int | float | str
"""A metric's value. Money is a decimal string, so that no cent is lost to binary fractions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One value and where it comes from.

    A value is `measured` or `derived` (then `reason` may say how), or `unavailable`: then it
    is None and `reason` says why.
    """

    value: Number | None
    availability: Availability
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One combination of the factors."""

    task: str
    stack: str
    agent: str
    plugins: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """One line of a check's report."""

    id: str
    ok: bool
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One execution of a task's check on the captured final state. Time in seconds."""

    repeat: int
    verdict: CheckVerdict
    exit_code: int | None = None
    seconds: float | None = None
    reason: str | None = None  # a reason code, where the verdict is not the exit code's
    asserts: tuple[Assertion, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SecurityFlag:
    """One critical security failure that the security check found."""

    kind: SecurityKind
    assertion: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Security:
    """The security check: whether it ran to its end, and what it found."""

    ran: bool
    flags: tuple[SecurityFlag, ...] = ()
    reason: str | None = None  # why it did not run


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """A stored file of an attempt, named by its sha256. Size in bytes."""

    key: str  # relative to the store's prefix
    sha256: str
    size: int
    truncated: bool = False
    withheld: str | None = None  # why nothing was stored under the key


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """The limits of the run. Wall time in seconds, cost as a decimal string of US dollars."""

    wall_seconds: float
    cost_usd: str
    tool_calls: int
    interventions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The immutable record of one attempt (`agentbench.row/v1`).

    In JSON, names are camelCase. Keys of `metrics` are the canonical metric names
    (`cost_usd`, `input_uncached`, `agent_seconds`, ...), whose units the catalog states.
    """

    schema: str
    campaign: str
    protocol: str
    digest: str  # of the frozen protocol, "sha256:..."
    draft: bool
    phase: Phase
    run: str
    attempt: int
    order: int
    repeat: int
    cell: Cell
    outcome: Outcome
    cause: Cause | None = None
    reasons: tuple[str, ...] = ()  # every reason code seen, most telling first
    evidence: tuple[str, ...] = ()  # what was seen, in words
    started_at: str  # RFC 3339, UTC: for people; durations come from a monotonic clock
    ended_at: str
    caps: Caps
    caps_hit: tuple[str, ...] = ()  # of wall, cost, tool-calls, interventions
    metrics: dict[str, Metric] = field(default_factory=dict)
    checks: tuple[Check, ...] = ()
    security: Security
    artifacts: dict[str, Artifact] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    denied_egress: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjudication:
    """A person's final word on an outcome's cause (`agentbench.adjudication/v1`), append-only.

    The highest `seq` of an attempt counts. For a suspected infra failure, `cause` infra confirms it
    (the rerun scores), any other cause refuses it (the first attempt scores with that cause).
    `security` lists the confirmed flags' assertion ids, None where the flags were not judged.
    """

    schema: str
    campaign: str
    run: str
    attempt: int
    seq: int
    cause: Cause | None
    security: tuple[str, ...] | None = None
    by: str
    at: str  # RFC 3339, UTC
    reason: str
