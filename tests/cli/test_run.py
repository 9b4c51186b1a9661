"""A campaign from its gates to its site, as a user types it, on this machine."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.command import PROGRAM, agent_bench
from tests.fakes.packs import a_pack, edit, frozen, tree

RUNS = {"T01-S1-A1-r1", "T01-S1-A2-r1", "T01-S2-A1-r1", "T01-S2-A2-r1"}
pytestmark = pytest.mark.timeout(600)


def short(pack: Path) -> Path:
    """Make a pack's campaign four runs, each checked once."""
    edit(pack, "  repeats: 3\n  order", "  repeats: 1\n  order")
    edit(pack, "checks: { repeats: 3,", "checks: { repeats: 1,")
    return pack


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pack that passed its gates, was frozen and ran."""
    pack = short(a_pack(tmp_path_factory.mktemp("done")))
    said = agent_bench("gate", pack, "--json")
    assert said.code == 0, said.err
    assert said.json["passed"]
    assert len(said.json["results"]) == 5
    said = agent_bench("freeze", pack)
    assert said.code == 0, said.err
    said = agent_bench("run", pack, "--json")
    assert said.code == 0, said.err
    events = [json.loads(line) for line in said.out.splitlines()]
    assert [event["event"] for event in events][:: len(events) - 1] == [
        "CampaignStarted",
        "CampaignEnded",
    ]
    assert {event["run"] for event in events if event["event"] == "RunEnded"} == RUNS
    assert events[-1]["tally"] | {"spent": "0"} == {
        "total": 4, "done": 4, "live": 0, "passed": 2, "failed": 2, "infra": 0, "aborted": 0,
        "spent": "0", "reserved": "0",
    }  # fmt: skip
    return pack


def test_the_rows_are_listed_in_the_order_of_the_plan(done: Path) -> None:
    plan = [run["run"] for run in agent_bench("plan", done, "--json").json["order"]]
    rows = agent_bench("list", done, "--json").json
    assert [row["run"] for row in rows] == plan
    assert {row["outcome"] for row in rows if row["agent"] == "A1"} == {"pass"}
    assert not any(row["draft"] for row in rows)
    failed = agent_bench("list", done, "--outcome", "fail", "--cause", "task")
    assert failed.code == 0
    assert failed.out.count("CheckFailed") == 2
    assert agent_bench("list", done, "--cause", "security").code == 1


def test_a_run_is_shown_with_its_checks_and_metrics(done: Path) -> None:
    said = agent_bench("show", "T01-S1-A2-r1", "--pack", done)
    assert said.code == 0
    assert "T01-S1-A2-r1, attempt 1: fail (task)" in said.out
    assert "greets, refuses-no-name" in said.out
    assert "agent_seconds" in said.out
    (row,) = agent_bench("show", "T01-S1-A2-r1", "--pack", done, "--json").json
    assert row["schema"] == "agentbench.row/v1"


def test_a_run_that_is_not_there_is_told_its_nearest(done: Path) -> None:
    said = agent_bench("show", "T01-S1-A1-r9", "--pack", done)
    assert said.code == 2
    assert "there is no row of run T01-S1-A1-r9. Did you mean T01-S1-A" in said.err
    assert agent_bench("show", "../../x", "--pack", done).code == 2


def test_the_logs_of_a_run_are_its_artifacts(done: Path) -> None:
    def logs(part: str) -> str:
        said = agent_bench("logs", "T01-S1-A1-r1", "--pack", done, "--part", part)
        assert said.code == 0, said.err
        return said.out

    assert "Add `GET /greet?name=NAME`" in logs("trace")
    assert "+            if name:" in logs("diff")
    assert '"id": "greets"' in logs("checks")
    assert all(json.loads(line) for line in logs("events").splitlines())
    said = agent_bench("logs", "T01-S1-A1-r1", "--pack", done, "--part", "security")
    assert said.code == 2
    assert "security.json is not there. This attempt has: check-1.json" in said.err


def test_run_ids_complete_in_the_packs_folder(done: Path) -> None:
    found = subprocess.run(
        [PROGRAM],
        cwd=done,
        env={
            **os.environ,
            "_AGENT_BENCH_COMPLETE": "bash_complete",
            "COMP_WORDS": "agent-bench show T01-S1",
            "COMP_CWORD": "2",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert {line.split(",")[1] for line in found.stdout.split()} == {"T01-S1-A1-r1", "T01-S1-A2-r1"}


def test_the_report_the_tables_and_the_site_say_the_same(done: Path, tmp_path: Path) -> None:
    said = agent_bench("report", done, "--out", tmp_path)
    assert said.code == 0, said.err
    assert "4 of 4 runs scored" in said.out
    results = json.loads(agent_bench("report", done, "--json").out)
    assert results == json.loads((tmp_path / "results.json").read_text())
    check = ["tables", tmp_path / "results.json", "--out", tmp_path / "tables", "--check"]
    assert agent_bench(*check).code == 0
    some = next((tmp_path / "tables").glob("*.csv"))
    some.write_text("changed")
    said = agent_bench(*check)
    assert said.code == 1
    assert f"{some}: is missing or differs" in said.out
    said = agent_bench("site", done, "--out", tmp_path / "site")
    assert said.code == 0, said.err
    assert "BENCH-1" in (tmp_path / "site/index.html").read_text()
    assert agent_bench("site", done, "--out", tmp_path / "site").code == 0
    said = agent_bench("site", done, "--out", tmp_path / "tables")
    assert said.code == 2
    assert "holds something that is no site of ours" in said.err


def test_metrics_are_measured_on_rows(done: Path) -> None:
    rows = done / ".agent-bench/store/bench/rows"
    said = agent_bench("metrics", "run", rows, "--baseline", rows, "--json")
    assert said.code == 0, said.err
    assert said.json
    assert "agent_seconds" in agent_bench("metrics", "catalog").out
    assert agent_bench("metrics", "catalog", "--group", "speed").code == 2


def test_running_again_starts_nothing(done: Path) -> None:
    before = {name: text for name, text in tree(done).items() if "/rows/" in name}
    said = agent_bench("run", done)
    assert said.code == 0
    assert "4 runs recorded before." in said.out
    assert {name: text for name, text in tree(done).items() if "/rows/" in name} == before


def test_the_draft_of_a_frozen_pack_keeps_its_rows_apart(done: Path) -> None:
    said = agent_bench("list", done, "--draft")
    assert said.code == 1
    assert agent_bench("run", done, "--draft", "--dry-run").out.startswith("4 runs would go to")
    assert "drafts" in agent_bench("run", done, "--draft", "--dry-run").out


def test_a_store_that_another_digest_has_used_is_refused(done: Path, tmp_path: Path) -> None:
    pack = short(a_pack(tmp_path))
    edit(pack, "wall: 5m", "wall: 6m")
    before = tree(pack)
    said = agent_bench("run", pack, "--store", done / ".agent-bench/store")
    assert said.code == 2
    assert "use another store" in said.err
    assert tree(pack) == before


def test_a_layer_that_was_lost_from_the_bundle_stops_the_run(tmp_path: Path) -> None:
    pack = short(a_pack(tmp_path))
    frozen(pack)
    next((pack / "frozen/bundle/layers").iterdir()).unlink()
    said = agent_bench("run", pack)
    assert said.code == 2
    assert "cannot be read: No such file or directory" in said.err
    assert not (pack / ".agent-bench").exists()


@contextmanager
def running(pack: Path) -> Iterator[subprocess.Popen[str]]:
    """An engine that has started its first run, of one at a time."""
    engine = subprocess.Popen(
        [PROGRAM, "run", str(pack), "-j", "1", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert engine.stdout is not None
    try:
        for line in engine.stdout:
            if json.loads(line)["event"] == "RunStarted":
                break
        yield engine
    finally:
        if engine.poll() is None:
            os.killpg(engine.pid, signal.SIGKILL)
        engine.communicate()


def stopped(engine: subprocess.Popen[str]) -> tuple[dict[str, Any], str]:
    """Interrupt an engine once; its last event and its remarks when it has ended."""
    engine.send_signal(signal.SIGINT)
    out, err = engine.communicate(timeout=200)
    assert engine.returncode == 130
    last: dict[str, Any] = json.loads(out.splitlines()[-1])
    return last, err


def test_an_interrupted_campaign_lets_its_run_end_and_goes_on(tmp_path: Path) -> None:
    pack = short(a_pack(tmp_path))
    with running(pack) as engine:
        last, err = stopped(engine)
    assert "goes on" in err
    assert last["phase"] == "Suspended"
    assert last["tally"]["done"] == 1
    said = agent_bench("run", pack, "-j", "2")
    assert said.code == 0, said.err
    assert "1 run recorded before." in said.out
    rows = agent_bench("list", pack, "--json").json
    assert {row["run"] for row in rows} == RUNS
    assert all(row["draft"] and row["attempt"] == 1 for row in rows)


def test_two_engines_never_share_a_store(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    edit(pack, "  repeats: 3\n  order", "  repeats: 50\n  order")
    with running(pack) as engine:
        other = agent_bench("run", pack)
        assert other.code == 3
        assert "another engine works on the store" in other.err
        stopped(engine)


def test_the_mock_provider_serves_until_it_is_stopped(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text("schema: agentbench.mock/v1\nturns: [{text: hello}]\n")
    command = [PROGRAM, "mock-provider", str(script), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        first = server.stdout.readline()
        server.send_signal(signal.SIGINT)
        assert server.wait(60) == 0
    assert first.startswith("mock provider: http://127.0.0.1:")
    script.write_text("turns: 5\n")
    said = agent_bench("mock-provider", script)
    assert said.code == 2
    assert str(script) in said.err
