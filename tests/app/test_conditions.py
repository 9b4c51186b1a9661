"""What a campaign's conditions say: whose turn it is, why, and what to do."""

from decimal import Decimal
from typing import Any

import pytest
from tests.fakes.held_campaign import a_held_campaign
from tests.fakes.resources import a_frozen_campaign

from agentbench.api.place import NodeClass
from agentbench.app.campaign import APPLIED, Refused, read_campaign
from agentbench.app.hindrances import nodes_of_class
from agentbench.app.pack import BundleError
from agentbench.app.status import AnalysisSays, Hindrance, Say, refused, running, waiting
from agentbench.app.trouble import REST, MultiplePods, NameConflict, RowConflict, trouble_of
from agentbench.core.decide import CampaignPhase, Decision, Tally
from agentbench.kube.errors import Denied, Retry
from agentbench.kube.view import NodeView, instant

NOON = instant("2026-11-30T12:00:00Z")
LATER = instant("2026-11-30T13:00:00Z")
NONE = Decimal(0)


QUIET = AnalysisSays(Say("Published", False, "NotYet"))


def said(phase: CampaignPhase = CampaignPhase.RUNNING, **more: Any) -> dict[str, dict[str, Any]]:
    """Conditions by type of a campaign with 4 runs, of which one is done."""
    tally = Tally(
        total=4, done=1, live=1, passed=1, failed=0, infra=0, aborted=0, spent=NONE, reserved=NONE
    )
    fields: dict[str, Any] = {
        "digest": "sha256:" + "0" * 64,
        "frozen": True,
        "troubles": (),
        "waits": (),
        "calibration": (0, 0),
        "budget": None,
        "projected": None,
    }
    decision = Decision(start=(), abort=(), phase=phase, tally=tally)
    status = running(decision, Hindrance(**(fields | more)), QUIET, {}, 3, NOON)
    assert status["observedGeneration"] == 3
    return {each["type"]: each for each in status["conditions"]}


def test_the_first_trouble_gives_the_reason_and_all_of_them_the_message() -> None:
    stalled = said(troubles=[("NameConflict", "r1: a pod"), ("RowConflict", "r2: a row")])[
        "Stalled"
    ]
    assert (stalled["status"], stalled["reason"]) == ("True", "NameConflict")
    assert stalled["message"] == "r1: a pod; r2: a row"


def test_what_passes_by_itself_is_a_wait_and_no_stall() -> None:
    found = said(waits=[("StoreUnreachable", "no answer; rows wait")])
    assert (found["Reconciling"]["status"], found["Reconciling"]["reason"]) == (
        "True",
        "StoreUnreachable",
    )
    assert found["Stalled"]["status"] == "False"


@pytest.mark.parametrize(
    ("calibration", "status", "reason"),
    [
        ((0, 0), "True", "NotPlanned"),
        ((1, 4), "False", "Calibrating"),
        ((4, 4), "True", "Calibrated"),
    ],
)
def test_a_campaign_is_calibrated_when_its_batch_is_recorded(
    calibration: tuple[int, int], status: str, reason: str
) -> None:
    found = said(calibration=calibration)["Calibrated"]
    assert (found["status"], found["reason"]) == (status, reason)


def test_a_budget_that_has_no_room_needs_a_person_and_says_what_is_left() -> None:
    found = said(CampaignPhase.OUT_OF_BUDGET, budget=Decimal(5))
    assert found["Stalled"]["reason"] == "OutOfBudget"
    assert "3 runs are left" in found["Stalled"]["message"]
    assert found["WithinBudget"]["status"] == "False"


def test_a_condition_keeps_its_time_until_it_flips() -> None:
    first = refused("SecretMissing", "create it", {}, 1, NOON)
    again = refused("SecretIncomplete", "add the key", first, 1, LATER)
    healed = waiting("Pending", "", again, 1, LATER)

    def since(status: dict[str, Any]) -> str:
        (stalled,) = [each for each in status["conditions"] if each["type"] == "Stalled"]
        return str(stalled["lastTransitionTime"])

    assert since(first) == since(again) == "2026-11-30T12:00:00Z"
    assert since(healed) == "2026-11-30T13:00:00Z"


def test_a_campaign_that_waits_keeps_its_counts_and_its_phase() -> None:
    old = {"phase": "Running", "counts": {"done": 3}, "spend": {"spentUSD": "2"}}
    found = waiting("StoreUnreachable", "no answer", old, 2, NOON)
    assert (found["phase"], found["counts"], found["spend"]) == (
        "Running",
        {"done": 3},
        {"spentUSD": "2"},
    )


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (NameConflict("a pod"), "NameConflict"),
        (RowConflict("a row"), "RowConflict"),
        (MultiplePods("two"), "MultiplePods"),
        (Refused("BundleIncomplete", "no layer"), "BundleIncomplete"),
        (BundleError("no file"), "BundleMismatch"),
        (Denied("no verb"), "Denied"),
    ],
)
def test_what_needs_a_person_names_its_run_and_rests_before_the_next_look(
    error: Exception, reason: str
) -> None:
    found = trouble_of("r1", error, NOON)
    assert found is not None
    assert (found.reason, found.message) == (reason, f"r1: {error}")
    assert found.again == NOON + REST


@pytest.mark.parametrize("error", [Retry("no answer"), ValueError("a bug")])
def test_what_passes_and_what_is_a_bug_is_no_trouble(error: Exception) -> None:
    assert trouble_of("r1", error, NOON) is None


def node(**labels: str) -> NodeView:
    return NodeView(
        name="n", uid="u", ready=False, labels=labels, kernel="", runtime="", kubelet="",
        os_image="",
    )  # fmt: skip


def test_a_class_without_a_node_is_named_by_its_labels() -> None:
    wanted = NodeClass(selector={"disk": "ssd", "zone": "a"})
    assert "disk=ssd,zone=a" in nodes_of_class(wanted, [node(disk="ssd"), node(zone="a")])
    assert nodes_of_class(wanted, [node(disk="ssd", zone="a", more="b")]) == ""
    assert nodes_of_class(NodeClass(), [node()]) == ""


def test_a_field_that_the_api_server_dropped_is_named_from_kubectls_note() -> None:
    body = a_frozen_campaign()
    noted = '{"spec": {"paralellism": 3, "checks": {"repeatz": 1}}}'
    body["metadata"]["annotations"] = {APPLIED: noted}
    with pytest.raises(Refused, match=r"spec\.paralellism") as error:
        read_campaign(body)
    assert error.value.reason == "UnknownField"
    assert "spec.checks.repeatz" in str(error.value)


NOTES = ["", "no json", "[]", '{"kind": "?"}', '{"spec": {"repeats": 2}}']


@pytest.mark.parametrize("noted", NOTES)
def test_a_note_that_names_nothing_unknown_is_no_trouble(noted: str) -> None:
    body = a_frozen_campaign()
    body["metadata"]["annotations"] = {APPLIED: noted}
    with pytest.raises(Refused) as error:  # the digest of the fake is made up
        read_campaign(body)
    assert error.value.reason == "DigestMismatch"


def test_the_fake_campaign_is_one_that_the_operator_could_hold() -> None:
    assert a_held_campaign().limits.parallelism == 1
