"""Events tell transitions once, within an allowance, and never hurt a run."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.fakes.held_campaign import a_held_campaign

from agentbench.app.events import BURST, Allowance, Teller, transitions
from agentbench.app.ledger import RunFacts
from agentbench.app.status import refused, waiting
from agentbench.kube.errors import ClusterError, Denied, Retry, Taken
from agentbench.kube.view import instant

NOON = instant("2026-11-30T12:00:00Z")
RUN = RunFacts(run="T1-S1-A1-r1", name="t1-s1-a1-r1-abc", uid="run-uid")
BODY = {"metadata": {"namespace": "bench", "name": "tiny", "uid": "uid-1"}}


class Wall:
    """Takes events as an API server does, or refuses them."""

    def __init__(self, error: ClusterError | None = None, seconds: float = 0) -> None:
        self.told: list[dict[str, Any]] = []
        self.error = error
        self.seconds = seconds

    async def create(self, manifest: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(self.seconds)
        if self.error is not None:
            raise self.error
        self.told.append(manifest)
        return manifest


def teller(wall: Wall, now: datetime = NOON) -> Teller:
    return Teller(wall, lambda: now)  # type: ignore[arg-type]


def tell(wall: Wall, *messages: str, warning: bool = False) -> None:
    one, campaign = teller(wall), a_held_campaign()
    for message in messages:
        one.of_run(campaign, RUN, "Recorded", message, warning=warning)
    asyncio.run(one.flush(campaign.uid))


def test_an_event_is_about_the_run_and_in_its_namespace() -> None:
    wall = Wall()
    tell(wall, "attempt 1: pass")
    (event,) = wall.told
    assert event["metadata"]["namespace"] == "bench"
    assert event["involvedObject"]["uid"] == "run-uid"
    assert (event["type"], event["reason"]) == ("Normal", "Recorded")


def test_the_same_transition_has_the_same_name_after_a_restart_and_another_one_has_not() -> None:
    wall = Wall()
    tell(wall, "attempt 1: pass")
    tell(wall, "attempt 1: pass")
    tell(wall, "attempt 2: pass")
    first, again, other = (each["metadata"]["name"] for each in wall.told)
    assert first == again != other


@pytest.mark.parametrize("error", [Taken("there"), Denied("no verb"), Retry("no answer")])
def test_an_event_that_cannot_be_told_hurts_nobody(error: ClusterError) -> None:
    tell(Wall(error), "attempt 1: pass")


def test_a_slow_api_server_is_not_waited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentbench.app.events.PATIENCE", 0.05)
    tell(Wall(seconds=60), "attempt 1: pass")


def test_ten_thousand_runs_tell_only_their_campaigns_allowance_and_warnings_have_their_own() -> (
    None
):
    wall = Wall()
    one, campaign = teller(wall), a_held_campaign()
    for number in range(10_000):
        one.of_run(campaign, RUN, "Recorded", f"{number}")
    one.of_run(campaign, RUN, "Recorded", "infra", warning=True)
    asyncio.run(one.flush(campaign.uid))
    assert len(wall.told) == BURST + 1
    assert wall.told[-1]["type"] == "Warning"


def test_an_allowance_comes_back_slowly_and_never_grows_past_its_size() -> None:
    allowance = Allowance()
    assert sum(allowance.take(NOON) for _ in range(BURST + 5)) == BURST
    later = NOON + timedelta(seconds=60)
    assert sum(allowance.take(later) for _ in range(10)) == 3
    much_later = NOON + timedelta(days=2)
    assert sum(allowance.take(much_later) for _ in range(BURST + 5)) == BURST


def test_a_stall_is_told_once_with_its_cure_and_its_end_too() -> None:
    fine = waiting("Pending", "", {}, 1, NOON)
    stalled = refused("SecretMissing", "create it", fine, 1, NOON)
    (note,) = transitions(fine, stalled)
    assert (note.reason, note.message, note.warning) == ("SecretMissing", "create it", True)
    assert transitions(stalled, stalled) == ()
    healed = {**waiting("Pending", "", stalled, 1, NOON), "phase": "Running"}
    assert [each.reason for each in transitions(stalled, healed)] == ["Running", "Resumed"]


def test_a_second_stall_for_the_same_reason_is_another_event() -> None:
    wall = Wall()
    one = teller(wall)
    old: dict[str, Any] = {}
    for minute in range(2):
        at = NOON + timedelta(minutes=minute)
        fine = waiting("Pending", "", old, 1, at)
        old = refused("SecretMissing", "create it", fine, 1, at)
        one.of_campaign(BODY, transitions(fine, old))
    asyncio.run(one.flush("uid-1"))
    names = [each["metadata"]["name"] for each in wall.told if each["type"] == "Warning"]
    assert len(set(names)) == 2
