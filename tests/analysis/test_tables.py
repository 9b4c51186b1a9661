"""Tables: raw in CSV, rounded in Markdown, and safe with any text."""

import csv
import io

import pytest
from tests.fakes.rows import (
    a_row,
    a_spec,
    adjudication_documents,
    an_adjudication,
    full_rows,
    row_documents,
)

from agentbench_analysis.facade import (
    analyse,
    catalog_table,
    metrics_catalog,
    metrics_run,
    metrics_tables,
    report,
)
from agentbench_analysis.results.model import Results
from agentbench_analysis.tables.files import csv_bytes, markdown
from agentbench_analysis.tables.model import Kind, Table, Value, columns, readable
from agentbench_analysis.tables.report import all_tables


def table(results: Results, ident: str) -> Table:
    return next(each for each in all_tables(results) if each.id == ident)


def column(found: Table, name: str) -> list[Value]:
    place = [each.name for each in found.columns].index(name)
    return [row[place] for row in found.rows]


def a_table(*rows: tuple[Value, ...]) -> Table:
    return Table(id="t", title="T", columns=columns(what=Kind.TEXT, share=Kind.SHARE), rows=rows)


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (None, Kind.USD, "\N{EN DASH}"),
        (0.123456, Kind.SHARE, "12.3 %"),
        (-0.1, Kind.POINTS, "-10.0 pp"),
        (1.2, Kind.RATIO, "1.200"),
        (1.255, Kind.USD, "$1.25"),
        (61.7, Kind.SECONDS, "62 s"),
        (23924800.0, Kind.COUNT, "23924800"),
        (2.5, Kind.COUNT, "2.5"),
        (0.123456, Kind.NUMBER, "0.1235"),
        (531700.4, Kind.NUMBER, "531700"),
        (True, Kind.FLAG, "yes"),
        ("infinite", Kind.NUMBER, "infinite"),
    ],
)
def test_values_are_readable(value: Value, kind: Kind, text: str) -> None:
    assert readable(value, kind) == text


def test_csv_keeps_raw_values_and_reads_back() -> None:
    found = a_table(("a, b", 1 / 3), ('say "hi"', None), ("two\nlines", 1.0))
    rows = list(csv.reader(io.StringIO(csv_bytes(found).decode())))
    assert rows == [
        ["what", "share"],
        ["a, b", repr(1 / 3)],
        ['say "hi"', ""],
        ["two\nlines", "1"],
    ]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\tx"])
def test_text_that_a_spreadsheet_would_run_is_made_plain(text: str) -> None:
    assert csv_bytes(a_table((text, None))).decode().splitlines()[1].startswith(("'", "\"'"))


def test_markdown_survives_pipes_tags_and_line_breaks() -> None:
    found = markdown(a_table(("<script>|*x*|`y`\n# z", 0.5)))
    line = found.splitlines()[4]
    assert line == "| &lt;script>\\|\\*x\\*\\|\\`y\\` # z | 50.0 % |"


def test_an_empty_table_says_so() -> None:
    assert "Nothing to show." in markdown(a_table())


def test_a_row_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(ValueError, match="does not have 2 values"):
        a_table(("alone",))


def test_where_the_reference_stack_lost_names_every_task_it_did_worse_on() -> None:
    rows = full_rows({"AB-S1": 4, "AB-S2": 4, "AB-S3": 3})
    for row in rows:
        cell = row["cell"]
        if (cell["task"], cell["stack"]) == ("AB-T02", "AB-S1"):
            row |= {"outcome": "fail", "cause": "task", "reasons": ["CheckFailed"]}
        if (cell["task"], cell["stack"]) == ("AB-T05", "AB-S2"):
            row["metrics"]["cost_usd"]["value"] = "0.50"
    lost = table(analyse(a_spec(), row_documents(rows)), "where-we-lost")
    found = [(row[0], row[2], row[5]) for row in lost.rows]
    assert found == [
        ("AB-T02", "pass-rate", "T3"),
        ("AB-T02", "pass-rate", "Laravel"),
        ("AB-T02", "cost", "T3"),
        ("AB-T02", "cost", "Laravel"),
        ("AB-T02", "time", "T3"),
        ("AB-T02", "time", "Laravel"),
        ("AB-T05", "cost", "T3"),
    ]
    assert lost.rows[2][7] == "no passing run"


def test_every_failed_run_is_there_with_its_cost_and_the_adjudicators_words() -> None:
    rows = [a_row(), a_row(repeat=2, passed=False, cost="3.10"), a_row(repeat=3, passed=False)]
    word = an_adjudication(rows[1]["run"], "task", reason="wrong tenant")
    results = analyse(a_spec(), row_documents(rows), adjudication_documents([word]))
    failed = table(results, "failed-runs")
    assert column(failed, "run") == [rows[1]["run"], rows[2]["run"]]
    assert column(failed, "cost") == [3.10, 1.25]
    assert column(failed, "adjudicated") == ["by reader", "unadjudicated"]
    assert column(failed, "adjudicator says") == ["wrong tenant", None]


def test_spend_is_an_exact_sum_over_all_attempts() -> None:
    rows = [a_row(repeat=n, cost="0.10") for n in (1, 2, 3)]
    rows.append(a_row(repeat=4, cost="0.10", outcome="fail", cause="infra"))
    rows.append(a_row(repeat=5, cost=None))
    found = analyse(a_spec(), row_documents(rows)).figure("spend/total")
    assert (found.value, found.count, found.total) == (0.4, 4, 5)
    assert found.notes == ("1 attempts reported no cost",)


def test_interventions_above_the_cap_have_a_column_of_their_own() -> None:
    row = a_row(passed=False, cause="intervention")
    row["metrics"]["interventions"]["value"] = 4
    found = table(analyse(a_spec(), row_documents([row])), "interventions-and-repairs")
    assert found.rows[0] == ("interventions", "AB-S1", 0, 0, 0, 0, 1, 4.0, 1, 1)


def test_the_terminals_tables_show_the_same_numbers() -> None:
    results = analyse(a_spec(), row_documents(full_rows()))
    shown = {each.id: each for each in report(results)}
    assert {"claims", "hypotheses", "beside", "pass-rates", "medians", "spend"} <= set(shown)
    assert "kept-out" not in shown
    rates = table(results, "pass-rates")
    assert column(shown["pass-rates"], "rate") == column(rates, "rate")[:11]
    assert not any(each.name == "id" for each in shown["hypotheses"].columns)


def test_the_catalog_and_metrics_are_tables_too() -> None:
    catalog = catalog_table(metrics_catalog())
    assert len(catalog.rows) == len(metrics_catalog())
    documents = row_documents([a_row()])
    assert [each.id for each in metrics_tables(metrics_run(documents))] == ["metrics"]
    both = metrics_tables(metrics_run(documents, documents))
    assert [each.id for each in both] == ["metrics", "deltas"]
