"""The quickstart campaign, run by the engine: each cell ends as the pack says it does."""

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agentbench_analysis.codec import decode
from agentbench_analysis.rows.model import Row

PACK = Path(__file__).parents[2] / "examples" / "quickstart"
PROGRAM = Path(sys.executable).with_name("agent-bench")


@dataclass(frozen=True)
class End:
    """How a run of a cell ends."""

    outcome: str
    cause: str | None
    flags: tuple[str, ...]
    cost_usd: str
    tool_calls: int
    interventions: int


STORY = {
    "T01-python-oracle-r1": End("pass", None, (), "0", 0, 0),
    "T01-node-oracle-r1": End("pass", None, (), "0", 0, 0),
    "T02-python-oracle-r1": End("pass", None, (), "0", 0, 0),
    "T02-node-oracle-r1": End("pass", None, (), "0", 0, 0),
    "T01-python-sloppy-r1": End("pass", None, (), "0.1653", 8, 1),
    "T01-node-sloppy-r1": End("fail", "security", ("cross-tenant-notes",), "0.1362", 6, 0),
    "T02-python-sloppy-r1": End("fail", "security", ("unsigned-webhook",), "0.1362", 7, 0),
    "T02-node-sloppy-r1": End("fail", "cap", (), "0.0753", 20, 0),
}


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Row]:
    """The rows of the campaign with one repeat of each cell, each checked once."""
    folder = tmp_path_factory.mktemp("quickstart")
    pack, store = folder / "pack", folder / "store"
    once = {"\n  repeats: 3\n": "\n  repeats: 1\n", "\n    repeats: 3\n": "\n    repeats: 1\n"}
    copy_with(pack, once)
    done = subprocess.run(
        [PROGRAM, "run", pack, "--store", store], capture_output=True, text=True, timeout=280
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = [read(path) for path in sorted(store.glob("quickstart/rows/*/*.json"))]
    return {row.run: row for row in found}


def copy_with(pack: Path, edits: dict[str, str]) -> None:
    """Copy the pack without what a machine adds to it, and edit its campaign."""
    ignore = shutil.ignore_patterns(".agent-bench", "__pycache__", "frozen")
    shutil.copytree(PACK, pack, ignore=ignore)
    campaign = pack / "campaign.yaml"
    text = campaign.read_text()
    for old, new in edits.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    campaign.write_text(text)


def read(path: Path) -> Row:
    document: Any = json.loads(path.read_bytes())
    return decode(Row, document, str(path))


def test_every_cell_ends_as_the_pack_says(rows: dict[str, Row]) -> None:
    ends = {
        run: End(
            outcome=str(row.outcome),
            cause=str(row.cause) if row.cause else None,
            flags=tuple(flag.assertion for flag in row.security.flags),
            cost_usd=str(row.metrics["cost_usd"].value),
            tool_calls=int(row.metrics["tool_calls"].value or 0),
            interventions=int(row.metrics["interventions"].value or 0),
        )
        for run, row in rows.items()
    }
    assert ends == STORY


def test_a_failed_run_names_the_assertion_that_failed(rows: dict[str, Row]) -> None:
    failed = {
        run: [line.id for line in row.checks[0].asserts if not line.ok] for run, row in rows.items()
    }
    assert failed["T01-node-sloppy-r1"] == ["notes-other-tenant-read"]
    assert failed["T02-python-sloppy-r1"] == ["webhook-unsigned"]
    assert failed["T01-python-sloppy-r1"] == []


def test_a_cap_is_hit_exactly(rows: dict[str, Row]) -> None:
    assert {run: row.caps_hit for run, row in rows.items() if row.caps_hit} == {
        "T02-node-sloppy-r1": ("tool-calls",)
    }


def test_tokens_are_what_the_mock_model_said(rows: dict[str, Row]) -> None:
    metrics = rows["T01-python-sloppy-r1"].metrics
    assert {
        name: metrics[name].value
        for name in ("model_calls", "input_uncached", "cache_read", "cache_write_5m", "output")
    } == {
        "model_calls": 4,
        "input_uncached": 2400 + 1800 + 5200 + 900,
        "cache_read": 9000 + 9000 + 14000,
        "cache_write_5m": 9000,
        "output": 350 + 1400 + 4100 + 220,
    }
