"""Engines and keepers killed with SIGKILL, and the same command given again."""

import asyncio
import json
import os
import random
import signal
import sys
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest
from tests.fakes.local_pack import TinyPack
from tests.fakes.waiting import until

from agentbench.core.record import decode_row
from agentbench.local.job import AttemptFolder, short_path
from agentbench.local.keeper import holder
from agentbench.local.preflight import state_of
from agentbench.store.folder import FolderStore
from agentbench_analysis.rows.model import Row

ROOT = Path(__file__).parents[2]
STEPS = [
    {"shell": "echo begun >> begun; date +%s%N > /dev/null"},
    {"sleep": 1},
    {"shell": "cp /etc/passwd . && echo done >> begun"},
]

WAIT = "while [ ! -e go ]; do sleep 0.05; done"
"""What an agent plays that must still be at work when something is done to it."""


class Campaign:
    """A campaign in a store of its own, run by engines that are processes of their own."""

    def __init__(self, folder: Path, pack: TinyPack) -> None:
        self.store = FolderStore(folder / "store")
        self.mark = f"AGENT_BENCH_TEST={token_hex(8)}"
        spec, manifest = pack.freeze(self.store)
        self.file = folder / "campaign.json"
        document = {
            "store": str(self.store.root),
            "spec": spec.model_dump(mode="json", by_alias=True, exclude_defaults=True),
            "manifest": manifest.model_dump(mode="json", by_alias=True),
        }
        self.file.write_text(json.dumps(document))

    async def engine(self) -> asyncio.subprocess.Process:
        name, _, value = self.mark.partition("=")
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.fakes.engine_program", str(self.file)),
            stdout=asyncio.subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, name: value, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )

    async def finish(self) -> list[Row]:
        engine = await self.engine()
        await engine.communicate()
        assert engine.returncode == 0
        keys = self.store.list("tiny/rows/")
        return [decode_row(self.store.get(key), key) for key in keys]

    async def until_step(self, step: str, attempt: int = 1) -> asyncio.subprocess.Process:
        """An engine that has just told of a step of its first run."""
        engine = await self.engine()
        assert engine.stdout is not None
        wanted = f"RunProgress {step} {attempt}\n".encode()
        async with asyncio.timeout(120):
            while (line := await engine.stdout.readline()) != wanted:
                assert line, "the engine ended before that step"
        return engine

    def attempt(self, attempt: int = 1) -> AttemptFolder:
        return AttemptFolder(state_of(self.store) / "tiny" / "attempts" / f"T1-S1-A1-r1.{attempt}")

    def let_go(self, attempt: int = 1) -> None:
        """Let an agent that plays WAIT go on."""
        (self.attempt(attempt).work / "agent" / "workspace" / "go").touch()

    def alive(self) -> list[int]:
        """Engines, nurseries and keepers of this campaign that are alive."""
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                ours = self.mark.encode() in path.read_bytes().split(b"\0")
                zombie = b") Z " in (path.parent / "stat").read_bytes()
            except OSError:
                continue
            if ours and not zombie:
                found.append(int(path.parent.name))
        return found


async def kill(engine: asyncio.subprocess.Process) -> None:
    engine.kill()
    await engine.communicate()


def lasting(row: Row) -> dict[str, Any]:
    """A row without what time alone decides."""
    return {
        "identity": (row.run, row.attempt, row.order, row.repeat, row.cell, row.digest),
        "outcome": (row.outcome, row.cause, row.reasons, row.evidence, row.caps_hit),
        "metrics": {
            name: metric for name, metric in row.metrics.items() if not name.endswith("_seconds")
        },
        "measured": {name for name, metric in row.metrics.items() if metric.value is not None},
        "checks": [(c.repeat, c.verdict, c.exit_code, c.reason, c.asserts) for c in row.checks],
        "security": row.security,
        "artifacts": set(row.artifacts),
        "state": [row.artifacts[name].sha256 for name in ("final.tar.zst", "final.diff")],
        "where": (row.versions, row.environment, row.notes),
    }


def a_pack(folder: Path, **fields: Any) -> TinyPack:
    return TinyPack(folder=folder / "pack", **fields)


@pytest.mark.timeout(900)
async def test_rows_of_a_campaign_killed_ten_times_equal_those_of_an_undisturbed_one(
    tmp_path: Path,
) -> None:
    agents: dict[str, Any] = {"A1": "oracle", "A2": STEPS}
    spec = {"repeats": 3}
    (tmp_path / "calm").mkdir()
    (tmp_path / "wild").mkdir()
    calm = Campaign(tmp_path / "calm", a_pack(tmp_path / "calm", agents=agents, spec=spec))
    wild = Campaign(tmp_path / "wild", a_pack(tmp_path / "wild", agents=agents, spec=spec))
    undisturbed = await calm.finish()
    chance = random.Random(20260117)
    for number in range(10):
        engine = await wild.engine()
        assert engine.stdout is not None
        # Half of the kills come while it starts, half at some event of a run.
        if number % 2:
            for _ in range(chance.randint(1, 12)):
                if not await engine.stdout.readline():
                    break
        await asyncio.sleep(chance.uniform(0, 0.4))
        if engine.returncode is None:
            await kill(engine)
    disturbed = await wild.finish()
    assert [lasting(row) for row in disturbed] == [lasting(row) for row in undisturbed]
    assert len(disturbed) == 6
    assert {row.attempt for row in disturbed} == {1}
    await until(_now(wild), lambda alive: alive == [])
    assert not list((state_of(wild.store) / "tiny" / "attempts").iterdir())


def _now(campaign: Campaign) -> Any:
    async def look() -> list[int]:
        return campaign.alive()

    return look


async def test_an_agent_goes_on_while_no_engine_is_there(tmp_path: Path) -> None:
    campaign = Campaign(tmp_path, a_pack(tmp_path, agents={"A1": STEPS}))
    await kill(await campaign.until_step("agent"))
    keeper = holder(campaign.attempt())
    assert keeper is not None

    async def finished() -> bool:
        return campaign.attempt().row.exists()

    await until(finished, bool, within=120)
    (row,) = await campaign.finish()
    assert row.attempt == 1
    assert row.metrics["tool_calls"].value == 2
    diff = campaign.store.get(row.artifacts["final.diff"].key)
    assert diff.count(b"+begun\n") == 1
    assert campaign.alive() == []


async def test_a_second_engine_follows_the_same_keeper(tmp_path: Path) -> None:
    campaign = Campaign(tmp_path, a_pack(tmp_path, agents={"A1": [{"shell": WAIT}]}))
    await kill(await campaign.until_step("agent"))
    first = holder(campaign.attempt())
    second_engine = await campaign.until_step("agent")
    assert holder(campaign.attempt()) == first
    campaign.let_go()
    await second_engine.communicate()
    assert len(list(campaign.store.list("tiny/rows/"))) == 1


async def test_an_attempt_whose_agent_was_killed_with_everything_is_infra_and_rerun(
    tmp_path: Path,
) -> None:
    pack = a_pack(tmp_path, agents={"A1": [{"shell": WAIT}]})
    campaign = Campaign(tmp_path, pack)
    engine = await campaign.until_step("agent")
    keeper = holder(campaign.attempt())
    assert keeper is not None
    os.kill(keeper, signal.SIGKILL)
    await kill(engine)
    rerun = await campaign.until_step("agent", attempt=2)
    campaign.let_go(attempt=2)
    await rerun.communicate()
    first, second = await campaign.finish()
    assert (first.attempt, first.reasons) == (1, ("EngineKilled",))
    assert (second.attempt, second.reasons[:1]) == (2, ("AppNotStarted",))
    assert campaign.alive() == []
    assert not any(short_path(campaign.attempt(number).root).exists() for number in (1, 2))


async def test_a_keeper_killed_while_grading_is_followed_by_one_that_grades_again(
    tmp_path: Path,
) -> None:
    pack = a_pack(tmp_path, check='import time; time.sleep(1); say("x", True); sys.exit(0)\n')
    campaign = Campaign(tmp_path, pack)
    engine = await campaign.until_step("grading")
    keeper = holder(campaign.attempt())
    assert keeper is not None
    os.kill(keeper, signal.SIGKILL)
    await engine.communicate()
    (row,) = await campaign.finish()
    assert (row.attempt, row.outcome) == (1, "pass")
    assert row.metrics["setup_seconds"].value is not None
    assert "final.diff" in row.artifacts


async def test_a_keeper_killed_in_set_up_starts_the_same_attempt_again(tmp_path: Path) -> None:
    pack = a_pack(tmp_path, stack={"setup": {"run": "sleep 1"}})
    campaign = Campaign(tmp_path, pack)
    engine = await campaign.until_step("setup")
    keeper = holder(campaign.attempt())
    assert keeper is not None
    os.kill(keeper, signal.SIGKILL)
    await engine.communicate()
    (row,) = await campaign.finish()
    assert (row.attempt, row.outcome) == (1, "pass")
    assert campaign.alive() == []


async def test_a_full_disk_stops_the_campaign_with_its_cure_and_loses_nothing(
    tmp_path: Path,
) -> None:
    place = tmp_path / "small"
    place.mkdir()
    campaign = Campaign(tmp_path, a_pack(tmp_path))
    document = json.loads(campaign.file.read_text())
    script = (
        'set -e; mount -t tmpfs -o size=6m none "$1"; cp -r "$2" "$1/store"; '
        'head -c 7m /dev/zero > "$1/ballast" 2>/dev/null || true; '
        'if "$3" -m tests.fakes.engine_program "$4" > "$5" 2>&1; then exit 9; fi; '
        'rm "$1/ballast"; "$3" -m tests.fakes.engine_program "$4"; cp -r "$1/store/tiny" "$6"'
    )
    document["store"] = str(place / "store")
    campaign.file.write_text(json.dumps(document))
    told, rows = tmp_path / "told", tmp_path / "rows"
    process = await asyncio.create_subprocess_exec(
        *("unshare", "--mount", "sh", "-c", script, "sh", str(place), str(campaign.store.root)),
        *(sys.executable, str(campaign.file), str(told), str(rows)),
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert await process.wait() == 0, told.read_text()
    assert "space" in told.read_text()
    (path,) = (rows / "rows").rglob("*.json")
    assert decode_row(path.read_bytes(), "row").outcome == "pass"


async def test_a_keeper_told_to_stop_before_it_listens_leaves_an_aborted_row(
    tmp_path: Path,
) -> None:
    campaign = Campaign(tmp_path, a_pack(tmp_path, agents={"A1": [{"shell": WAIT}]}))
    engine = await campaign.engine()
    folder = campaign.attempt()

    async def keeper() -> int | None:
        return holder(folder)

    pid = await until(keeper, lambda found: found is not None, within=120)
    assert pid is not None
    os.kill(pid, signal.SIGTERM)
    await engine.communicate()
    (row,) = await campaign.finish()
    assert row.outcome == "aborted"
    assert campaign.alive() == []
