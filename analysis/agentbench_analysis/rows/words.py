"""The closed vocabularies of a row."""

from enum import StrEnum


class Phase(StrEnum):
    """Which part of the campaign a run belongs to; only the sample is analysed."""

    CALIBRATION = "calibration"
    SAMPLE = "sample"


class Outcome(StrEnum):
    """How an attempt ended."""

    PASS = "pass"
    FAIL = "fail"
    ABORTED = "aborted"  # ended by a person before it could be judged: never scored

    @property
    def scored(self) -> bool:
        """Whether this outcome counts in a pass rate."""
        return self is not Outcome.ABORTED


class Cause(StrEnum):
    """Why an attempt failed; the protocol's five, in the order in which they take the blame."""

    INFRA = "infra"
    CAP = "cap"
    INTERVENTION = "intervention"
    SECURITY = "security"
    TASK = "task"


class Availability(StrEnum):
    """Where a value comes from. An unavailable value is never zero."""

    MEASURED = "measured"
    DERIVED = "derived"
    UNAVAILABLE = "unavailable"


class CheckVerdict(StrEnum):
    """What one execution of a check said."""

    PASS = "pass"
    FAIL = "fail"
    ERROR = "error"  # the harness's part: exit code other than 0 and 1, a time-out, a lost pod


class SecurityKind(StrEnum):
    """The critical security failures of the protocol."""

    CROSS_TENANT = "cross-tenant"
    MISSING_AUTH = "missing-auth"
    UNSIGNED_WEBHOOK = "unsigned-webhook"
    SECRET_EXPOSED = "secret-exposed"
    SQL_INJECTION = "sql-injection"
