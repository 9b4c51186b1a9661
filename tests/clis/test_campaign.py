"""A campaign of the quickstart's tasks with the real Claude Code and Codex, run by the engine."""

import base64
import json
import os
import subprocess
import sys
import tarfile
from io import BytesIO
from pathlib import Path

import pytest
import zstandard
from tests.fakes.cli_campaign import CODEX_MODEL, KEY, RETURNED, write_pack
from tests.fakes.clis import CLAUDE_FOLDER, CODEX_FOLDER

from agentbench_analysis.codec import decode
from agentbench_analysis.rows.model import Row
from agentbench_analysis.rows.words import Availability

pytestmark = [pytest.mark.clis, pytest.mark.timeout(900)]
PROGRAM = Path(sys.executable).with_name("agent-bench")


@pytest.fixture(scope="module")
def store(agents: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("campaign")
    write_pack(folder / "pack")
    shown = [part for name in (CLAUDE_FOLDER, CODEX_FOLDER) for part in ("--show", agents / name)]
    done = subprocess.run(
        [PROGRAM, "run", folder / "pack", "--store", folder / "store", *shown],
        env={**os.environ, "CAMPAIGN_KEY": KEY},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "store"


@pytest.fixture(scope="module")
def rows(store: Path) -> dict[str, Row]:
    paths = sorted(store.glob("quickstart/rows/*/*.json"))
    found = [decode(Row, json.loads(path.read_bytes()), str(path)) for path in paths]
    return {row.run: row for row in found}


def exact(row: Row, *names: str) -> list[object]:
    """The values of some metrics, every one of them measured."""
    metrics = [row.metrics[name] for name in names]
    assert {metric.availability for metric in metrics} == {Availability.MEASURED}
    return [metric.value for metric in metrics]


def content(path: Path) -> bytes:
    """An artifact's bytes, unpacked."""
    if path.suffix != ".zst":
        return path.read_bytes()
    with zstandard.ZstdDecompressor().stream_reader(path.read_bytes()) as stream:
        return stream.read()


def final_file(store: Path, run: str, name: str) -> bytes:
    """A file of the workspace as it was captured."""
    (archive,) = store.glob(f"quickstart/artifacts/{run}/1/final.tar.zst")
    with tarfile.open(fileobj=BytesIO(content(archive))) as tar:
        member = tar.extractfile(name)
        assert member is not None
        return member.read()


COUNTS = ("model_calls", "tool_calls", "interventions", "model_call_failures")
INPUT = ("input_uncached", "cache_read")


def test_each_run_ends_as_its_agent_left_the_app(rows: dict[str, Row]) -> None:
    ends = {run: (str(row.outcome), row.cause and str(row.cause)) for run, row in rows.items()}
    assert ends == {
        "T01-python-claude-r1": ("pass", None),
        "T01-python-codex-r1": ("fail", "security"),
        "T02-python-claude-r1": ("fail", "cap"),
        "T02-python-codex-r1": ("fail", "cap"),
    }
    (hole,) = rows["T01-python-codex-r1"].security.flags
    assert hole.assertion == "cross-tenant-notes"


def test_claude_code_with_a_question_is_counted_to_the_cent(rows: dict[str, Row]) -> None:
    row = rows["T01-python-claude-r1"]
    assert exact(row, *COUNTS) == [5, 6, 1, 0]
    writes = ("cache_write_5m", "cache_write_1h")
    assert exact(row, *INPUT, *writes, "output") == [505, 150_035, 10_015, 0, 1_055]
    # 505 x $2 + 150,035 x $0.10 + 10,015 x $2.50 + 1,055 x $10, a million
    assert exact(row, "cost_usd", "cost_overshoot_usd") == ["0.051601", "0"]
    assert row.metrics["reasoning"].availability is Availability.UNAVAILABLE
    assert row.caps_hit == ()
    assert row.environment["modelsReturned"] == RETURNED


def test_codex_is_counted_to_the_cent(rows: dict[str, Row]) -> None:
    row = rows["T01-python-codex-r1"]
    assert exact(row, *COUNTS) == [2, 3, 0, 0]
    assert exact(row, *INPUT, "output", "reasoning") == [9_996, 30_026, 614, 106]
    # 9,996 x $2 + 30,026 x $0.10 + 614 x $10, a million
    assert exact(row, "cost_usd", "cost_overshoot_usd") == ["0.0291346", "0"]
    assert row.caps_hit == ()
    assert row.environment["modelsReturned"] == CODEX_MODEL


def test_of_24_tool_calls_the_20_that_are_allowed_run(rows: dict[str, Row], store: Path) -> None:
    row = rows["T02-python-claude-r1"]
    assert row.caps_hit == ("tool-calls",)
    assert exact(row, *COUNTS) == [2, 20, 0, 0]
    assert exact(row, "cost_usd", "cost_overshoot_usd") == ["0.0206404", "0"]
    assert final_file(store, row.run, "ran.log") == b"x\n" * 20


def test_the_call_that_crosses_the_cost_cap_is_the_last(rows: dict[str, Row], store: Path) -> None:
    row = rows["T02-python-codex-r1"]
    assert row.caps_hit == ("cost",)
    assert exact(row, *COUNTS) == [2, 1, 0, 0]
    assert exact(row, *INPUT, "output") == [200_000, 0, 20_000]
    assert exact(row, "cost_usd", "cost_overshoot_usd") == ["0.6", "0.1"]
    assert final_file(store, row.run, "ran.log") == b"x\n"


def test_every_row_says_how_long_where_and_with_what_it_ran(rows: dict[str, Row]) -> None:
    for row in rows.values():
        (seconds,) = exact(row, "agent_seconds")
        assert isinstance(seconds, float)
        assert 0 < seconds < row.caps.wall_seconds
        assert row.environment["isolation"] == "namespace"
        assert row.attempt == 1
    ran = {(row.versions["adapter"], row.versions["agent"]) for row in rows.values()}
    assert ran == {("claude-code", "2.1.332"), ("codex", "0.171.0")}


def test_no_artifact_holds_the_key_that_the_model_gave_away(
    rows: dict[str, Row], store: Path
) -> None:
    hidden = base64.b64encode(f"key={KEY}".encode())[6:-3]
    named = [artifact for row in rows.values() for artifact in row.artifacts.values()]
    stored = [store / artifact.key for artifact in named if artifact.withheld is None]
    assert len(stored) == len(named) - 1
    assert set(stored) == {path for path in store.glob("quickstart/artifacts/**/*.*")}
    for path in [*stored, *store.glob("quickstart/rows/*/*.json")]:
        plain = content(path)
        assert KEY.encode() not in plain, path
        assert hidden not in plain, path
    told = content(store / rows["T01-python-claude-r1"].artifacts["final.diff"].key)
    assert b"[redacted:provider-key]" in told
    withheld = rows["T01-python-claude-r1"].artifacts["final.tar.zst"].withheld
    assert withheld == "it holds provider-key"
