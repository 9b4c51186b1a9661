"""A campaign on a cluster is told with the events of one machine, and to its very end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.cluster_objects import CAMPAIGNS, PODS, RUNS, a_campaign, a_pod, a_run, recorded
from tests.fakes.kube_server import KubeServer, kube_server, refusal
from tests.fakes.local_pack import TinyPack

from agentbench.cli.cluster.connection import Connection, connect
from agentbench.cli.cluster.errors import BadCluster
from agentbench.cli.cluster.following import Follower, Stands
from agentbench.cli.progress import Event, as_document
from agentbench.core.decide import CampaignPhase
from agentbench.kube.errors import Retry
from agentbench.store.folder import FolderStore

TINY = f"{CAMPAIGNS}/tiny"


class Clock:
    """A clock that passes when somebody looks."""

    def __init__(self, step: float = 1.0) -> None:
        self.now, self.step = 100.0, step

    def monotonic(self) -> float:
        self.now += self.step
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class Story:
    """A campaign as the server tells it, one watch after the other."""

    def __init__(self, server: KubeServer) -> None:
        self.server = server
        self.windows: list[tuple[list[Any], Any]] = []
        self.campaign = a_campaign()
        self.runs: list[Any] = []
        server.on("GET", TINY, lambda _q, _b: (200, self.campaign))
        server.on("GET", RUNS, self._runs)
        server.items(PODS, [])

    def then(self, events: list[Any], campaign: Any) -> None:
        """What the next watch sees, and how the campaign stands after it."""
        self.windows.append((events, campaign))

    def _runs(self, query: dict[str, str], _body: Any) -> tuple[int, Any]:
        if "watch" not in query:
            return 200, {"items": self.runs, "metadata": {"resourceVersion": "1"}}
        events, self.campaign = self.windows.pop(0) if self.windows else ([], self.campaign)
        changed = {run["spec"]["run"]: run for run in [*self.runs, *events]}
        self.runs = list(changed.values())
        return 200, [{"type": "MODIFIED", "object": run} for run in events]


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[tuple[KubeServer, Connection]]:
    with kube_server(tmp_path) as (server, config):
        yield server, connect(config, None, None)


def follower(connection: Connection, folder: Path, **more: Any) -> tuple[Follower, list[Event]]:
    pack = TinyPack(folder=folder / "pack", agents={"A1": "oracle", "A2": "nop"})
    spec, _ = pack.freeze(FolderStore(folder / "store"))
    told: list[Event] = []
    notes: list[str] = []
    one = Follower(
        connection=connection, name="tiny", spec=spec, tell=told.append,
        note=more.pop("note", notes.append), clock=more.pop("clock", Clock()),
    )  # fmt: skip
    return one, told


def test_a_campaign_is_told_from_its_start_to_its_end(
    lab: tuple[KubeServer, Connection], tmp_path: Path
) -> None:
    server, connection = lab
    story = Story(server)
    story.then([a_run(phase="Pending")], a_campaign(live=1))
    story.then([a_run(phase="Running")], a_campaign(live=1))
    story.then([recorded()], a_campaign(live=1, done=1, passed=1))
    story.then([recorded("T1-S1-A2-r1")], a_campaign("Complete", done=2, passed=2))
    one, told = follower(connection, tmp_path)
    assert one.follow() is CampaignPhase.COMPLETE
    documents = [as_document(event) for event in told]
    assert [each["event"] for each in documents] == [
        "CampaignStarted", "RunStarted", "RunProgress", "RunEnded", "RunEnded", "CampaignEnded",
    ]  # fmt: skip
    assert documents[2]["step"] == "agent"
    assert {**documents[3], "tally": 0} == {
        "event": "RunEnded", "run": "T1-S1-A1-r1", "attempt": 1, "outcome": "pass", "cause": None,
        "reasons": [], "costUSD": "0.5", "tally": 0,
    }  # fmt: skip
    assert documents[3]["tally"]["done"] == 1
    assert documents[5]["tally"]["done"] == 2


def test_who_comes_later_is_told_what_lives_and_not_again_what_was(
    lab: tuple[KubeServer, Connection], tmp_path: Path
) -> None:
    server, connection = lab
    story = Story(server)
    story.campaign = a_campaign(live=1, done=1, passed=1)
    story.runs = [recorded(), a_run("T1-S1-A2-r1", phase="Running")]
    story.then([recorded("T1-S1-A2-r1")], a_campaign("Complete", done=2, passed=2))
    one, told = follower(connection, tmp_path)
    one.follow()
    documents = [as_document(event) for event in told]
    assert [(each["event"], each.get("run")) for each in documents[1:-1]] == [
        ("RunStarted", "T1-S1-A2-r1"), ("RunEnded", "T1-S1-A2-r1"),
    ]  # fmt: skip
    assert documents[1]["resumed"]


def test_an_end_that_no_watch_saw_is_told_from_the_list(
    lab: tuple[KubeServer, Connection], tmp_path: Path
) -> None:
    server, connection = lab
    story = Story(server)
    story.then([], a_campaign("Complete", done=1, passed=1))
    story.runs = [a_run(phase="Running")]
    one, told = follower(connection, tmp_path)

    def tell(event: Event) -> None:
        told.append(event)
        story.runs[0] = recorded()

    one.tell = tell
    one.follow()
    assert [type(event).__name__ for event in told][-2:] == ["AttemptEnded", "CampaignEnded"]


def test_a_watch_that_is_too_old_begins_anew(
    lab: tuple[KubeServer, Connection], tmp_path: Path
) -> None:
    server, connection = lab
    story = Story(server)
    story.runs = [a_run(phase="Running")]
    seen = {"watches": 0}

    def runs(query: dict[str, str], body: Any) -> tuple[int, Any]:
        if "watch" in query and seen["watches"] == 0:
            seen["watches"] += 1
            story.runs, story.campaign = [recorded()], a_campaign("Complete", done=1)
            gone = {"kind": "Status", "message": "too old resource version"}
            return 200, [{"type": "ERROR", "object": gone}]
        return story._runs(query, body)

    server.on("GET", RUNS, runs)
    one, told = follower(connection, tmp_path)
    assert one.follow() is CampaignPhase.COMPLETE
    assert sum(type(event).__name__ == "AttemptEnded" for event in told) == 1


def test_what_a_pod_waits_for_is_told_once(
    lab: tuple[KubeServer, Connection], tmp_path: Path
) -> None:
    server, connection = lab
    story = Story(server)
    story.runs = [a_run()]
    server.items(PODS, [a_pod(waits="ImagePullBackOff")])
    for _ in range(3):
        story.then([], a_campaign(live=1))
    story.then([], a_campaign("Cancelled", aborted=1))
    one, told = follower(connection, tmp_path, clock=Clock(10))
    assert one.follow() is CampaignPhase.CANCELLED
    waits = [as_document(event) for event in told if type(event).__name__ == "RunWaits"]
    assert [each["why"] for each in waits] == ["ImagePull: agent: ImagePullBackOff"]


def test_a_pod_that_merely_starts_waits_for_nothing(
    lab: tuple[KubeServer, Connection], tmp_path: Path
) -> None:
    server, connection = lab
    story = Story(server)
    story.runs = [a_run()]
    server.items(PODS, [a_pod()])
    story.then([], a_campaign(live=1))
    story.then([], a_campaign("Complete"))
    one, told = follower(connection, tmp_path, clock=Clock(10))
    one.follow()
    assert not any(type(event).__name__ == "RunWaits" for event in told)


def test_a_campaign_that_a_person_must_mend_ends_the_following(
    lab: tuple[KubeServer, Connection], tmp_path: Path
) -> None:
    server, connection = lab
    Story(server).campaign = a_campaign("Stalled", stalled="there is no Secret 'store'")
    server.on("GET", TINY, (200, a_campaign("Stalled", stalled="there is no Secret 'store'")))
    one, _ = follower(connection, tmp_path, clock=Clock(4))
    with pytest.raises(Stands, match="tiny stands: SecretMissing: there is no Secret 'store'"):
        one.follow()


def test_a_stall_that_passes_does_not(lab: tuple[KubeServer, Connection], tmp_path: Path) -> None:
    server, connection = lab
    story = Story(server)
    story.campaign = a_campaign("Stalled", stalled="the store does not answer")
    story.then([], a_campaign("Complete", done=2))
    one, _ = follower(connection, tmp_path)
    assert one.follow() is CampaignPhase.COMPLETE


def test_a_suspended_campaign_is_left_when_nothing_lives(
    lab: tuple[KubeServer, Connection], tmp_path: Path
) -> None:
    server, connection = lab
    story = Story(server)
    suspended = a_campaign("Suspended", live=1)
    suspended["spec"]["suspend"] = True
    over = a_campaign("Suspended", done=1)
    over["spec"]["suspend"] = True
    story.campaign = suspended
    story.then([], over)
    one, _ = follower(connection, tmp_path)
    assert one.follow() is CampaignPhase.SUSPENDED
    assert story.windows == []


def test_a_campaign_that_is_deleted_is_said(
    lab: tuple[KubeServer, Connection], tmp_path: Path
) -> None:
    server, connection = lab
    server.on("GET", TINY, refusal(404, "NotFound", "not found"))
    one, _ = follower(connection, tmp_path)
    with pytest.raises(BadCluster, match="somebody deleted it; its rows stay in its store"):
        one.follow()


def test_without_an_operator_there_is_a_remark(
    lab: tuple[KubeServer, Connection], tmp_path: Path
) -> None:
    server, connection = lab
    story = Story(server)
    unseen = a_campaign("Pending")
    unseen["status"] = {}
    story.campaign = unseen
    for _ in range(6):
        story.then([], unseen)
    story.then([], a_campaign("Complete", done=2))
    notes: list[str] = []
    one, _ = follower(connection, tmp_path, clock=Clock(5), note=notes.append)
    one.follow()
    assert len(notes) == 1
    assert "No operator has looked at tiny yet: agent-bench doctor --cluster" in notes[0]


def test_an_api_server_that_is_away_for_a_while_is_waited_for(
    lab: tuple[KubeServer, Connection], tmp_path: Path
) -> None:
    server, connection = lab
    story = Story(server)
    story.then([], a_campaign("Complete", done=2))
    answers = iter([refusal(503, "ServiceUnavailable", "not yet")] * 3)
    server.on("GET", TINY, lambda _q, _b: next(answers, (200, story.campaign)))
    notes: list[str] = []
    one, _ = follower(connection, tmp_path, note=notes.append)
    assert one.follow() is CampaignPhase.COMPLETE
    assert len(notes) == 1
    assert "The campaign goes on without us" in notes[0]


def test_one_that_stays_away_ends_the_following(
    lab: tuple[KubeServer, Connection], tmp_path: Path
) -> None:
    server, connection = lab
    server.on("GET", TINY, refusal(503, "ServiceUnavailable", "not yet"))
    one, _ = follower(connection, tmp_path, clock=Clock(60))
    with pytest.raises(Retry, match="not yet"):
        one.follow()
