"""The golden campaign: every awkward case in 180 runs, its tables reviewed by hand."""

import json
from pathlib import Path
from statistics import median

import pytest
from tests.analysis.golden.generate import HERE, published, sources

from agentbench_analysis.facade import files, open_results, tables
from agentbench_analysis.results.model import Decision, Results, Standing

PUBLISHED = HERE / "published"


def stored(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture(scope="module")
def golden() -> Results:
    return open_results("results.json", (PUBLISHED / "results.json").read_bytes())


def test_the_script_writes_the_same_rows_again() -> None:
    for name, data in sources().items():
        assert (HERE / name).read_bytes() == data, name


def test_the_rows_give_every_published_byte_again() -> None:
    assert published() == stored(PUBLISHED)


def test_every_table_regenerates_byte_for_byte_from_results_alone(golden: Results) -> None:
    expected = {name.removeprefix("tables/"): data for name, data in stored(PUBLISHED).items()}
    found = tables(golden)
    assert found == {name: expected[name] for name in found}
    assert set(expected) - set(found) == {"results.json", "verdict.json"}


def test_results_read_back_are_written_the_same(golden: Results) -> None:
    assert files(golden)["results.json"] == (PUBLISHED / "results.json").read_bytes()


def test_the_campaign_has_180_runs_of_which_178_score(golden: Results) -> None:
    assert golden.spec.planned_runs == 180
    assert len({each.run for each in golden.attempts}) == 180
    assert len(golden.scored) == golden.verdict.scored_runs == 178
    assert not golden.verdict.complete


def test_pass_counts_are_those_that_were_planned(golden: Results) -> None:
    counts = {
        stack: (
            golden.figure(f"pass-rate/stack/{stack}").count,
            golden.figure(f"pass-rate/stack/{stack}").total,
        )
        for stack in ("AB-S1", "AB-S2", "AB-S3", "AB-S4")
    }
    # One run of AB-S4 is infra twice, another was aborted.
    assert counts == {"AB-S1": (34, 45), "AB-S2": (30, 45), "AB-S3": (30, 45), "AB-S4": (0, 43)}


def test_every_awkward_case_is_there(golden: Results) -> None:
    standings = [each.standing for each in golden.attempts]
    assert standings.count(Standing.PROVISIONAL) == 1
    assert standings.count(Standing.SET_ASIDE) == 1
    assert standings.count(Standing.REPLACED) == 3
    assert standings.count(Standing.UNSCORED) == 2
    cells = golden.cells
    assert {(each.scored, each.passed) for each in cells} >= {(5, 5), (5, 0), (4, 0)}
    assert golden.figure("cost/stack/AB-S2").count == 28
    assert golden.figure("cost/stack/AB-S2").total == 30
    assert golden.figure("cost/stack/AB-S4").value is None
    assert any(each.final_cause == "intervention" for each in golden.attempts)
    assert {each.reason.split(" ")[0] for each in golden.kept_out} == {
        "calibration",
        "draft",
        "foreign",
    }


def test_the_verdict_is_the_one_reviewed_by_hand(golden: Results) -> None:
    found = [(each.hypothesis, each.rules, each.decision) for each in golden.verdict.findings]
    assert found == [
        ("AB-H1", "frozen", Decision.HOLDS),
        ("AB-H2", "frozen", Decision.NOT_SHOWN),
        ("AB-H3", "frozen", Decision.NOT_SHOWN),
        ("AB-H4", "frozen", Decision.HOLDS),
        ("AB-H2", "amended", Decision.HOLDS),
    ]
    assert golden.verdict.headline is Decision.NOT_SHOWN


def test_every_published_number_has_an_id_of_its_own(golden: Results) -> None:
    ids = [each.id for each in golden.figures]
    assert len(ids) == len(set(ids))
    for table in (PUBLISHED / "tables").glob("*.csv"):
        header, *rows = table.read_text().splitlines()
        if header.endswith(",id"):
            assert {row.rsplit(",", 1)[1] for row in rows} <= {"", *ids}, table.name


def test_counts_and_medians_agree_with_a_plain_count_of_the_rows(golden: Results) -> None:
    rows = [json.loads(line) for line in (HERE / "rows.jsonl").read_text().splitlines()]
    left_out = {
        ("AB-T01-S2-A2-r1", 1),
        ("AB-T03-S3-A1-r2", 1),
        ("AB-T02-S3-A1-r5", 2),
        ("AB-T01-S4-A3-r4", 1),
        ("AB-T01-S4-A3-r4", 2),
        ("AB-T03-S4-A1-r3", 1),
    }  # replaced, set aside, infra twice, aborted
    sample = [
        row
        for row in rows
        if row["phase"] == "sample"
        and not row["draft"]
        and "-x" not in row["run"]
        and (row["run"], row["attempt"]) not in left_out
    ]
    for stack in ("AB-S1", "AB-S2", "AB-S3", "AB-S4"):
        mine = [row for row in sample if row["cell"]["stack"] == stack]
        passing = [row for row in mine if row["outcome"] == "pass"]
        rate = golden.figure(f"pass-rate/stack/{stack}")
        assert (rate.count, rate.total) == (len(passing), len(mine))
        for name, metric in (("cost", "cost_usd"), ("time", "agent_seconds")):
            values = [row["metrics"][metric]["value"] for row in passing]
            there = [float(value) for value in values if value is not None]
            expected = pytest.approx(median(there)) if there else None
            assert golden.figure(f"{name}/stack/{stack}").value == expected
