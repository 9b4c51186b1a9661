"""Wrong input: an error that names file, field, value and cure, and no results."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.fakes.rows import (
    a_flag,
    a_row,
    a_spec,
    adjudication_documents,
    an_adjudication,
    full_rows,
    row_document,
    row_documents,
)

from agentbench_analysis.errors import AnalysisError, NoRowsError
from agentbench_analysis.facade import analyse, metrics_run, open_results
from agentbench_analysis.results.files import results_json
from agentbench_analysis.rows.read import digest_of, parse_row

Row = dict[str, Any]


def refused(row: Row) -> AnalysisError:
    """The error for a campaign whose second row is wrong."""
    with pytest.raises(AnalysisError) as caught:
        analyse(a_spec(), row_documents([a_row(repeat=2), row]))
    return caught.value


def metric(name: str, value: object, availability: str = "measured", reason: str = "") -> Row:
    entry = {"value": value, "availability": availability, "reason": reason or None}
    return a_row(metrics={name: entry})


WRONG_ROWS: dict[str, tuple[Row, str, str]] = {
    "an unknown schema": (a_row(schema="agentbench.row/v9"), "schema", "agentbench.row/v9"),
    "a negative cost": (metric("cost_usd", "-1.00"), "metrics.cost_usd.value", "-1.00"),
    "a cost that is not a number": (metric("cost_usd", "NaN"), "metrics.cost_usd.value", "NaN"),
    "an infinite cost": (metric("cost_usd", "Infinity"), "metrics.cost_usd.value", "Infinity"),
    "a cost as a binary fraction": (metric("cost_usd", 1.25), "metrics.cost_usd.value", "1.25"),
    "a cost as a whole number": (metric("cost_usd", 1), "metrics.cost_usd.value", "1"),
    "a negative time": (metric("agent_seconds", -3.5), "metrics.agent_seconds.value", "-3.5"),
    "a negative count": (metric("tool_calls", -1), "metrics.tool_calls.value", "-1"),
    "a value that is said to be unavailable": (
        metric("tool_calls", 3, "unavailable", "why"),
        "metrics.tool_calls.value",
        "3",
    ),
    "an unavailable value without a reason": (
        metric("tool_calls", None, "unavailable"),
        "metrics.tool_calls.value",
        "None",
    ),
    "an absent value that is said to be measured": (
        metric("tool_calls", None),
        "metrics.tool_calls.value",
        "None",
    ),
    "a cause on a passing run": (a_row(cause="task"), "cause", "task"),
    "a failed run without a cause": (a_row(passed=False, cause=None), "cause", "null"),
    "an unknown cause": (a_row(passed=False, cause="weather"), "cause", "weather"),
    "a third attempt": (a_row(attempt=3), "attempt", "3"),
    "a repeat below one": (a_row(repeat=0), "repeat", "0"),
    "a repeat beyond the design": (a_row(repeat=6), "repeat", "6"),
    "a task of another protocol": (a_row(task="AB-T09"), "cell.task", "AB-T09"),
    "a stack of another protocol": (a_row(stack="AB-S9"), "cell.stack", "AB-S9"),
    "an agent of another protocol": (a_row(agent="AB-A9"), "cell.agent", "AB-A9"),
    "a plugin that the protocol does not have": (
        a_row(cell={"task": "AB-T01", "stack": "AB-S1", "agent": "AB-A1", "plugins": ["p"]}),
        "cell.plugins",
        "p",
    ),
    "an unknown field": (a_row(score=1), "score", ""),
    "text where a number belongs": (a_row(order="first"), "order", "first"),
    "a flag where a number belongs": (a_row(order=True), "order", "True"),
    "the place of another run": (a_row(repeat=2, run="AB-other"), "run", "AB-other"),
}


@pytest.mark.parametrize("kind", WRONG_ROWS)
def test_a_wrong_row_is_refused_by_file_field_value_and_cure(kind: str) -> None:
    row, field, value = WRONG_ROWS[kind]
    error = refused(row)
    assert error.file == row_document(row)[0]
    assert error.field == field
    assert value in error.value
    assert error.cure.endswith(".")
    assert str(error).startswith(f"{error.file}: {error.field}: ")


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_numbers_that_json_does_not_have_are_refused(constant: str) -> None:
    name, data = row_document(a_row(seconds=600.0))
    with pytest.raises(AnalysisError, match=r"number|finite") as caught:
        analyse(a_spec(), [(name, data.replace(b"600.0", constant.encode()))])
    assert caught.value.file == name


def test_a_missing_field_is_named() -> None:
    row = a_row()
    del row["security"]
    error = refused(row)
    assert (error.field, error.problem) == ("security", "is missing")


def test_a_wrong_value_deep_inside_is_named_by_its_path() -> None:
    row = a_row()
    row["checks"][1]["verdict"] = "maybe"
    assert refused(row).field == "checks.1.verdict"


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (lambda data: data[: len(data) // 2], "not whole JSON"),
        (lambda data: b"", "not whole JSON"),
        (lambda data: b"\xff\xfe" + data, "not UTF-8"),
        (lambda data: b"[]", "not a document of agentbench.row/v1"),
        (lambda data: b"null", "not a document of agentbench.row/v1"),
    ],
)
def test_a_document_that_is_no_row_is_refused(
    spoil: Callable[[bytes], bytes], problem: str
) -> None:
    name, data = row_document(a_row())
    with pytest.raises(AnalysisError, match=problem) as caught:
        analyse(a_spec(), [(name, spoil(data))])
    assert caught.value.file == name


def test_two_rows_of_one_attempt_are_refused_and_both_files_named() -> None:
    name, data = row_document(a_row())
    with pytest.raises(AnalysisError, match="second row of attempt 1 of AB-T01-S1-A1-r1") as caught:
        analyse(a_spec(), [(name, data), ("copy.json", data)])
    assert caught.value.file == "copy.json"
    assert name in caught.value.cure


def test_a_row_that_differs_from_its_status_is_refused() -> None:
    documents = row_documents([a_row(), a_row(repeat=2)])
    statuses = {("AB-T01-S1-A1-r2", 1): digest_of(documents[1][1])}
    analyse(a_spec(), documents, (), statuses)
    statuses["AB-T01-S1-A1-r1", 1] = "0" * 64
    with pytest.raises(AnalysisError, match="not the row that the run's status names") as caught:
        analyse(a_spec(), documents, (), statuses)
    assert caught.value.field == "sha256"
    with pytest.raises(AnalysisError, match="status"):
        parse_row(*documents[0], "sha256:" + "0" * 64)


def test_a_draft_without_a_digest_refuses_rows_of_two_digests() -> None:
    spec = a_spec(protocol={"id": "AB-PROTO-1", "draft": True})
    other = a_row(repeat=2, draft=True, digest="sha256:" + "e" * 64)
    first = row_document(a_row(draft=True))
    with pytest.raises(AnalysisError, match="differs from the digest of") as caught:
        analyse(spec, [first, row_document(other)])
    assert first[0] in caught.value.problem
    assert caught.value.field == "digest"


def test_metrics_of_two_digests_are_not_averaged() -> None:
    rows = [a_row(), a_row(repeat=2, digest="sha256:" + "e" * 64)]
    with pytest.raises(AnalysisError, match="differs from the digest of"):
        metrics_run(row_documents(rows))


def test_an_empty_store_says_no_rows() -> None:
    with pytest.raises(NoRowsError, match="no rows") as caught:
        analyse(a_spec(), [])
    assert caught.value.file == "ab-proto-1"
    with pytest.raises(NoRowsError, match="no rows"):
        metrics_run([])


def test_a_store_with_nothing_but_rows_that_are_kept_out_says_which() -> None:
    rows = [a_row(phase="calibration"), a_row(repeat=2, draft=True)]
    with pytest.raises(NoRowsError, match="kept out: 1 calibration, 1 draft"):
        analyse(a_spec(), row_documents(rows))


FAILED = a_row(passed=False)
RUN = FAILED["run"]
WRONG_ADJUDICATIONS: dict[str, tuple[Row, Row, str, str]] = {
    "a harness author": (FAILED, an_adjudication(RUN, "task", by="builder"), "by", "builder"),
    "a cause for a pass": (a_row(), an_adjudication(RUN, "task"), "cause", "task"),
    "a flag that nobody raised": (
        a_row(security=a_flag()),
        an_adjudication(RUN, None, security=["something-else"]),
        "security",
        "something-else",
    ),
    "another campaign": (
        FAILED,
        an_adjudication(RUN, "task", campaign="other"),
        "campaign",
        "other",
    ),
    "an unknown schema": (FAILED, an_adjudication(RUN, "task", schema="x"), "schema", "x"),
}


@pytest.mark.parametrize("kind", WRONG_ADJUDICATIONS)
def test_a_wrong_adjudication_is_refused(kind: str) -> None:
    row, entry, field, value = WRONG_ADJUDICATIONS[kind]
    spec = a_spec(
        protocol={
            "id": "AB-PROTO-1",
            "freeze": {"digest": row["digest"]},
            "harnessAuthors": ["builder"],
        }
    )
    with pytest.raises(AnalysisError) as caught:
        analyse(spec, row_documents([row]), adjudication_documents([entry]))
    assert caught.value.field == field
    assert value in caught.value.value


def test_two_adjudications_of_one_number_are_refused() -> None:
    data = json.dumps(an_adjudication(RUN, "task")).encode()
    with pytest.raises(AnalysisError, match="used twice"):
        analyse(a_spec(), row_documents([FAILED]), [("a.json", data), ("b.json", data)])


def test_a_truncated_results_file_is_refused() -> None:
    data = results_json(analyse(a_spec(), row_documents(full_rows())))
    with pytest.raises(AnalysisError, match="not whole JSON") as caught:
        open_results("results.json", data[: len(data) * 2 // 3])
    assert "cut short" in caught.value.cure


def test_a_results_file_of_another_schema_is_refused() -> None:
    with pytest.raises(AnalysisError, match=r"not a document of agentbench\.results/v1"):
        open_results("results.json", b'{"schema": "agentbench.results/v7"}')


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        (b'"outcome": "fail"', b'"outcome": "pass"', "figures"),
        (b'"decision": "not shown"', b'"decision": "holds"', "verdict"),
        (b'"unit": "USD",\n   "value": 1.25', b'"unit": "USD",\n   "value": 0.5', "figures"),
    ],
)
def test_an_edited_results_file_is_refused(old: bytes, new: bytes, field: str) -> None:
    data = results_json(analyse(a_spec(), row_documents(full_rows())))
    assert old in data
    with pytest.raises(AnalysisError, match="does not follow from the rows") as caught:
        open_results("results.json", data.replace(old, new, 1))
    assert caught.value.field.startswith(field)
