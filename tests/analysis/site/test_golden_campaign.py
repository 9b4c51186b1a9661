"""The campaign with every awkward case: its site is made from results.json and nothing else."""

import json
from pathlib import Path

import pytest

from agentbench_analysis.facade import open_results
from agentbench_analysis.results.model import Results
from agentbench_analysis.site.build import build_site, count_files
from agentbench_analysis.site.charts import spending, spread
from agentbench_analysis.site.names import Names
from agentbench_analysis.site.protocol import protocol_page

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture(scope="module")
def results() -> Results:
    return open_results("results.json", (GOLDEN / "published" / "results.json").read_bytes())


@pytest.fixture(scope="module")
def pages(results: Results) -> dict[str, str]:
    source = json.loads((GOLDEN / "campaign.json").read_text())
    protocol = protocol_page(source, results.spec)
    files = dict(build_site(protocol, results, lambda key: None))
    assert len(files) == count_files(protocol, results)
    return {name: data.decode() for name, data in files.items() if name.endswith(".html")}


def test_a_stack_without_a_pass_is_shown_with_the_reason_and_never_as_zero(
    pages: dict[str, str],
) -> None:
    row = pages["numbers.html"].split('id="cost/stack/AB-S4"')[1].split("</tr>")[0]
    assert "no passing run" in row
    assert "$0.00" not in row


def test_what_was_kept_out_is_counted_out_loud(pages: dict[str, str], results: Results) -> None:
    assert {each.reason.split()[0] for each in results.kept_out} >= {"calibration", "draft"}
    for each in results.kept_out:
        assert f"Kept out: {each.reason}" in pages["index.html"]


def test_both_rules_are_shown_where_an_amendment_changed_one(pages: dict[str, str]) -> None:
    part = pages["index.html"].split('id="AB-H2-amended"')[1].split("</tr>")[0]
    assert part.index("not shown") < part.index("holds")


def test_incomplete_cells_are_named(pages: dict[str, str], results: Results) -> None:
    incomplete = [cell for cell in results.cells if cell.incomplete]
    assert incomplete
    for cell in incomplete:
        words = f"{cell.task} {cell.stack} {cell.agent} ({cell.scored} of {cell.planned})"
        assert words in pages["index.html"]


def test_every_failed_attempt_is_listed_with_its_cost(
    pages: dict[str, str], results: Results
) -> None:
    failed = [each for each in results.attempts if each.outcome.value == "fail"]
    assert failed
    assert f"{len(failed)} failed attempts" in pages["lost.html"]
    for each in failed:
        assert f">{each.run}</a>" in pages["lost.html"]


def test_the_spend_that_is_drawn_is_the_published_sum(results: Results) -> None:
    drawn = spending(results)
    published = results.figure("spend/total")
    assert published.value is not None
    assert drawn.total == pytest.approx(published.value, abs=1e-4)
    assert drawn.unknown == (published.total or 0) - (published.count or 0)
    assert drawn.points[-1][1] == drawn.total
    assert drawn.table[-1] == drawn.points[-1]


def test_only_passing_runs_with_a_value_are_drawn(results: Results) -> None:
    drawn = spread(results, Names(results.spec), "cost_usd")
    rows = drawn["rows"]
    assert isinstance(rows, list)
    for stack in results.spec.stacks:
        shown = sum(row[0] == stack.id for row in rows)
        assert shown == results.figure(f"cost/stack/{stack.id}").count
