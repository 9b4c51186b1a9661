"""Rows as bytes become rows as values, or an error that says what to correct."""

import math
import re
from hashlib import sha256
from typing import Any

from agentbench_analysis.codec import decode
from agentbench_analysis.errors import AnalysisError, shown
from agentbench_analysis.parsing import Read, load_json
from agentbench_analysis.rows.model import (
    ADJUDICATION_SCHEMA,
    ROW_SCHEMA,
    Adjudication,
    Metric,
    Row,
)
from agentbench_analysis.rows.words import Availability, Outcome

_MONEY = re.compile(r"\d+(\.\d+)?")
MONEY_SUFFIX = "_usd"
"""Metrics with this ending are amounts of US dollars, written as decimal strings."""


def parse_row(
    file: str,
    data: bytes,
    expected_sha256: str | None = None,
    *,
    slim: bool = False,
    read: Read | None = None,
) -> Row:
    """Read one row, whole and strictly. `file` is its name, for the error message.

    `expected_sha256` is what the run's status says of the row, with or without `sha256:`. A
    `slim` row leaves out what no statistic reads: artifacts that were stored as they should be,
    and assertions that passed. `read` may be a faster parser of JSON.

    Raises:
        AnalysisError: the row differs from its status, is no row of a known schema, or
            contradicts itself.
    """
    if expected_sha256 is not None:
        found = digest_of(data)
        if found != "sha256:" + expected_sha256.removeprefix("sha256:"):
            raise AnalysisError(
                "is not the row that the run's status names",
                file=file,
                field="sha256",
                value=f"{found}, the status says {expected_sha256}",
                cure="A row never changes: restore it from the store's versions, or find who "
                "wrote it.",
            )
    document = load_json(file, data, read)
    _known_schema(file, document, ROW_SCHEMA)
    if slim:
        _slim(document)
    row = decode(Row, document, file)
    problem = contradiction(row)
    if problem is not None:
        field, value, what, cure = problem
        raise AnalysisError(what, file=file, field=field, value=value, cure=cure)
    return row


def parse_adjudication(file: str, data: bytes) -> Adjudication:
    """Read one adjudication, whole and strictly.

    Raises:
        AnalysisError: it is no adjudication of a known schema.
    """
    document = load_json(file, data)
    _known_schema(file, document, ADJUDICATION_SCHEMA)
    return decode(Adjudication, document, file)


def digest_of(data: bytes) -> str:
    """The sha256 of a document's bytes, as statuses and results name it."""
    return "sha256:" + sha256(data).hexdigest()


def _known_schema(file: str, document: Any, schema: str) -> None:
    found = document.get("schema") if isinstance(document, dict) else None
    if found != schema:
        raise AnalysisError(
            f"is not a document of {schema}",
            file=file,
            field="schema",
            value=shown(found),
            cure="Read it with the version of agent-bench that wrote it, or remove the file.",
        )


def contradiction(row: Row) -> tuple[str, str, str, str] | None:
    """What a well-formed row says that cannot be: field, value, problem, cure; None if nothing."""
    if row.outcome is Outcome.FAIL:
        if row.cause is None:
            return ("cause", "null", "is missing on a failed run", "A fail names its cause.")
    elif row.cause is not None and row.outcome is Outcome.PASS:
        return (
            "cause",
            row.cause.value,
            "is given for a passing run",
            "A pass has no cause: write null, or correct the outcome.",
        )
    if row.attempt not in (1, 2):
        return ("attempt", str(row.attempt), "is not 1 or 2", "A run is rerun at most once.")
    if row.repeat < 1:
        return ("repeat", str(row.repeat), "is below 1", "Repeats count from 1.")
    for name, metric in row.metrics.items():
        value, available = metric.value, metric.availability is not Availability.UNAVAILABLE
        if value is None:
            sound = not available and bool(metric.reason)
        elif isinstance(value, str):
            sound = False
        else:
            sound = available and 0 <= value < math.inf and name[-4:] != MONEY_SUFFIX
        if sound:
            continue
        problem = _metric_problem(name, metric)
        if problem is not None:
            return (f"metrics.{name}.value", shown(value), *problem)
    return None


def _slim(document: dict[str, Any]) -> None:
    artifacts, checks = document.get("artifacts"), document.get("checks")
    if isinstance(artifacts, dict):
        document["artifacts"] = {
            name: each
            for name, each in artifacts.items()
            if not isinstance(each, dict) or each.get("withheld") is not None
        }
    for check in checks if isinstance(checks, list) else ():
        asserts = check.get("asserts") if isinstance(check, dict) else None
        if isinstance(asserts, list):
            check["asserts"] = [
                each for each in asserts if not isinstance(each, dict) or each.get("ok") is not True
            ]


def _metric_problem(name: str, metric: Metric) -> tuple[str, str] | None:
    value = metric.value
    if metric.availability is Availability.UNAVAILABLE:
        if value is not None:
            return "is given though the metric is unavailable", "Write null, or say measured."
        if not metric.reason:
            return "is unavailable without a reason", "Say why in `reason`."
        return None
    if value is None:
        return "is null though the metric is available", "Say unavailable, with a reason."
    if name.endswith(MONEY_SUFFIX):
        if type(value) is not str or _MONEY.fullmatch(value) is None:
            return (
                "is not an amount of money",
                'Write US dollars as a decimal string of zero or more, such as "1.25".',
            )
    elif not isinstance(value, str) and (value < 0 or not math.isfinite(value)):
        return "is negative or not finite", "Durations and counts are zero or more."
    return None


def number_of(metric: Metric | None) -> float | None:
    """A metric's value as a number; None where it was not reported or is text."""
    if metric is None or metric.value is None:
        return None
    if type(metric.value) is str:
        try:
            return float(metric.value)
        except ValueError:
            return None
    return float(metric.value)
