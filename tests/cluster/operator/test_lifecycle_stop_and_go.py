"""Suspend, cancel, fewer and more slots, deletions: with the operator there, and while it is away.

The pods go to simulated nodes, where they run for as long as a test wants; all else is real.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from tests.cluster.lab.api import Object
from tests.cluster.lab.shell import wait
from tests.cluster.operator.campaign import RUNS, Campaign
from tests.cluster.operator.life import events_of, no_leftovers, run_pods, wait_running
from tests.cluster.operator.process import OperatorProcess
from tests.cluster.simulated.kubelet import SimulatedNodes
from tests.cluster.simulated.runs import script, spec
from tests.cluster.witness.observe import Witness
from tests.fakes.local_pack import TinyPack

FOREVER = 3600.0


def runs_of(folder: Path, runs: int, parallelism: int, **rest: Any) -> dict[str, Any]:
    """A pack of so many runs on simulated nodes, and the fields of its campaign."""
    return {
        "pack": TinyPack(folder=folder, agents={"A1": "nop"}),
        **spec(runs, parallelism, **rest),
    }


def outcomes(campaign: Campaign) -> list[str]:
    return sorted(row["outcome"] for row in campaign.rows().values())


def live(campaign: Campaign) -> int:
    return sum(pod["status"].get("phase") in ("Pending", "Running") for pod in run_pods(campaign))


def test_a_campaign_is_stopped_slowed_and_ended_by_its_spec(
    simulated: SimulatedNodes,
    operating: OperatorProcess,
    apply: Callable[..., Campaign],
    watching: Callable[..., AbstractContextManager[Witness]],
    tmp_path: Path,
) -> None:
    simulated.script(**script(seconds=FOREVER, failures=0))
    with watching() as witness:
        campaign = apply(name="stops", **runs_of(tmp_path / "stops", 12, 2))
        wait_running(campaign, 2)
        campaign.patch({"parallelism": 4})
        first = wait_running(campaign, 4)
        campaign.patch({"parallelism": 1})
        wait("the lower limit to be seen", lambda: seen(campaign, 3), 30)
        assert len(set(first) & set(names(campaign))) == 4, "a lowered limit kills none"
        campaign.patch({"suspend": True, "parallelism": 6})
        campaign.wait("Suspended", seconds=30)
        simulated.script(**script(seconds=0.2, failures=0))
        gone, *kept = first
        delete_run_of(campaign, gone)
        wait("the deleted run's row", lambda: outcomes(campaign) == ["aborted"], 60)
        wait("its count", lambda: counts(campaign)["aborted"] == 1, 30)
        assert live(campaign) == 3, "suspended: nothing is started in its place"

        operating.kill()
        campaign.patch({"suspend": False, "parallelism": 3})
        lost = delete_run_of(campaign, kept[0])
        operating.start()
        campaign.wait("Running", seconds=30)
        wait("four more rows", lambda: len(campaign.rows()) >= 5, 90)
        campaign.patch({"cancel": True})
        status = campaign.wait("Cancelled", seconds=60)["status"]
        rows = campaign.rows()
        assert status["counts"]["live"] == 0
        assert status["counts"]["aborted"] == outcomes(campaign).count("aborted")
        assert "while no operator was there" in str(rows[f"{lost}/1"]["evidence"])
        assert {row["attempt"] for row in rows.values()} == {1}
        assert len(rows) < 12, "a cancelled campaign starts nothing more"
        broken = witness.violations()
        campaign.cluster.kubectl(
            "-n", campaign.namespace, "delete", "benchmarkcampaign", "stops", "--timeout=60s"
        )
        assert campaign.rows() == rows, "deleting a campaign deletes no row"
    assert broken == []
    no_leftovers(campaign)


def test_deleting_a_campaign_ends_its_runs_first_even_one_that_was_deleted_meanwhile(
    simulated: SimulatedNodes,
    operating: OperatorProcess,
    apply: Callable[..., Campaign],
    watching: Callable[..., AbstractContextManager[Witness]],
    tmp_path: Path,
) -> None:
    simulated.script(**script(seconds=FOREVER, failures=0))
    with watching() as witness:
        there = apply(name="there", **runs_of(tmp_path / "there", 4, 2))
        away = apply(name="away", **runs_of(tmp_path / "away", 4, 2))
        wait_running(there, 2)
        wait_running(away, 2)
        delete(there)
        wait("rows of both live runs", lambda: outcomes(there) == ["aborted"] * 2, 60)
        operating.kill()
        delete(away)
        wait(
            "it to wait for the operator", lambda: "deletionTimestamp" in away.get()["metadata"], 9
        )
        assert live(away) == 2, "nothing ends without its row"
        operating.start()
        wait("rows of both live runs", lambda: outcomes(away) == ["aborted"] * 2, 60)
        no_leftovers(away)
        # The policies went with their campaigns: what governed the pods is not seen at the end.
        assert [each for each in witness.violations() if each.invariant != 7] == []
        again = apply(name="away", **runs_of(tmp_path / "away", 4, 2, suspend=True))
        status = again.wait("Suspended", seconds=30)["status"]
        assert status["counts"]["aborted"] == 2, "the same campaign goes on where it was"


def test_finished_pods_go_by_their_time_and_the_newest_failures_stay(
    simulated: SimulatedNodes,
    operating: OperatorProcess,
    apply: Callable[..., Campaign],
    tmp_path: Path,
) -> None:
    simulated.script(**script(seconds=0.2, failures=100))
    fields = runs_of(tmp_path / "kept", 5, 1, keepFailedPods=2)
    campaign = apply(name="kept", **fields)
    campaign.wait("Complete", seconds=120)
    rows = campaign.rows()
    order = [run for run in sorted(campaign.runs(), key=lambda run: run["spec"]["order"])]
    newest = {run["spec"]["run"] for run in order[-2:]}
    assert len(rows) == 5
    wait("the others to go", lambda: kept_runs(campaign) == newest, 60)
    told = events_of(campaign)
    assert sum(reason == "Recorded" for _, reason, _ in told) == 5
    assert sum(reason == "Admitted" for _, reason, _ in told) == 5
    assert ("BenchmarkCampaign", "Complete") in {each[:2] for each in told}
    for run in order:
        ready = next(c for c in run["status"]["conditions"] if c["type"] == "Ready")
        assert (ready["status"], ready["reason"]) == ("True", "Fail")
    campaign.patch({"keepFailedPods": 0})
    wait("the last to go", lambda: not run_pods(campaign), 60)


def names(campaign: Campaign) -> list[str]:
    return [pod["metadata"]["name"] for pod in run_pods(campaign)]


def kept_runs(campaign: Campaign) -> set[str]:
    return {pod["metadata"]["annotations"]["agentbench.dev/run"] for pod in run_pods(campaign)}


def seen(campaign: Campaign, generation: int) -> bool:
    """Whether the operator has looked at this generation, or a later one."""
    return int(campaign.get()["status"]["observedGeneration"]) >= generation


def delete(campaign: Campaign) -> None:
    campaign.cluster.kubectl(
        "-n", campaign.namespace, "delete", "benchmarkcampaign", campaign.name, "--wait=false"
    )


def counts(campaign: Campaign) -> dict[str, int]:
    return dict(campaign.get()["status"].get("counts", {}))


def run_of(campaign: Campaign, pod: str) -> tuple[str, Object]:
    """The run id of a pod, and the reference to its run object."""
    meta = next(each["metadata"] for each in run_pods(campaign) if each["metadata"]["name"] == pod)
    return meta["annotations"]["agentbench.dev/run"], meta["ownerReferences"][0]


def delete_run_of(campaign: Campaign, pod: str) -> str:
    """Delete the run object that owns a pod; gives the run's id."""
    run, owner = run_of(campaign, pod)
    campaign.cluster.api.delete(f"{RUNS.format(campaign.namespace)}/{owner['name']}")
    return run


@pytest.fixture(autouse=True)
def _limits(request: pytest.FixtureRequest) -> None:
    request.applymarker(pytest.mark.timeout(240, func_only=True))
