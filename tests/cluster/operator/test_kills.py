"""The operator is killed again and again while a campaign runs: the rows are the same.

The instants are drawn from a seed; AGENTBENCH_KILL_SEED repeats one that a failure printed.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from tests.cluster.lab.shell import wait
from tests.cluster.operator.campaign import Campaign
from tests.cluster.operator.fates import small
from tests.cluster.operator.process import OperatorProcess
from tests.cluster.simulated.kubelet import SimulatedNodes
from tests.cluster.simulated.runs import pack as a_pack
from tests.cluster.simulated.runs import script, spec
from tests.cluster.witness.observe import Witness
from tests.fakes.local_pack import APP, TinyPack

KILLS, RUNS, PARALLELISM = 20, 60, 3
SOLVED = 'ok = get("/health") == "solved"\nsay("solved", ok)\nsys.exit(not ok)\n'
"""Passes on what the oracle leaves, fails on what is there before."""
PACE = (3, 18)
"""Changes of run pods between two kills: a run or two go by."""


@pytest.mark.soak
@pytest.mark.timeout(1800, func_only=True)
def test_killed_while_real_pods_come_and_go_the_rows_are_the_same(
    operating: OperatorProcess,
    apply: Callable[..., Campaign],
    watching: Callable[..., AbstractContextManager[Witness]],
    tmp_path: Path,
) -> None:
    pack = TinyPack(
        folder=tmp_path / "pack",
        agents={"A1": "oracle", "A2": "nop"},
        seed={"app.py": APP},
        solution={"app.py": APP.replace('"ok"', '"solved"')},
        check=SOLVED,
    )
    with watching() as witness:
        campaign = apply(
            pack,
            parallelism=PARALLELISM,
            repeats=RUNS // 2,
            ttlAfterRecorded="0s",
            nodeClass=small(),
        )
        story, killed = killing(operating, campaign, witness, KILLS)
        rows, broken = campaign.rows(), witness.violations()
    found = {name: (row["outcome"], row["cause"]) for name, row in rows.items()}
    assert found == wanted(RUNS, {"A1": ("pass", None), "A2": ("fail", "task")}), story
    assert broken == [], story
    assert killed == KILLS, story


@pytest.mark.timeout(400, func_only=True)
def test_killed_at_twenty_instants_of_sixty_runs_the_rows_are_the_same(
    operating: OperatorProcess,
    simulated: SimulatedNodes,
    apply: Callable[..., Campaign],
    watching: Callable[..., AbstractContextManager[Witness]],
    tmp_path: Path,
) -> None:
    simulated.script(**script(seconds=0.5, failures=0))
    with watching() as witness:
        campaign = apply(a_pack(tmp_path / "pack", agents=2), **spec(RUNS // 2, PARALLELISM))
        story, killed = killing(operating, campaign, witness, KILLS)
        rows, broken = campaign.rows(), witness.violations()
    found = {name: (row["outcome"], row["cause"]) for name, row in rows.items()}
    assert found == wanted(RUNS, {"A1": ("pass", None), "A2": ("pass", None)}), story
    assert broken == [], story
    assert killed == KILLS, story


def killing(
    operating: OperatorProcess, campaign: Campaign, witness: Witness, kills: int
) -> tuple[str, int]:
    """Kill and start the operator until the campaign is complete; what was done, in words."""
    seed = int(os.environ.get("AGENTBENCH_KILL_SEED") or random.SystemRandom().randrange(1 << 32))
    chance, killed = random.Random(seed), 0
    while killed < kills and campaign.phase != "Complete":
        some = len(witness.timeline().pods("run")) + chance.randint(*PACE)

        def went_on(some: int = some) -> bool:
            return len(witness.timeline().pods("run")) >= some or campaign.phase == "Complete"

        wait("some pods to go on", went_on, 180)
        time.sleep(chance.uniform(0, 1))
        operating.kill()
        killed += 1
        operating.start()
    campaign.wait("Complete", seconds=900)
    return f"seed {seed}, killed {killed} times", killed


def wanted(
    runs: int,
    endings: dict[str, tuple[str, str | None]],
) -> dict[str, tuple[str, str | None]]:
    """The one row of every run, by each agent's ending."""
    return {
        f"T1-S1-{agent}-r{repeat}/1": ending
        for agent, ending in endings.items()
        for repeat in range(1, runs // 2 + 1)
    }
