"""GitOps tools report of a campaign what is so: kstatus, Argo CD's Lua and Flux's CEL."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import celpy
import pytest
import yaml
from celpy.adapter import json_to_cel
from lupa.lua51 import LuaRuntime
from tests.fakes.kstatus import kstatus

from agentbench.app.status import AnalysisSays, Hindrance, Say, refused, running
from agentbench.core.decide import CampaignPhase, Decision, Tally

GITOPS = Path(__file__).parents[2] / "examples/gitops"
NOW = datetime(2026, 11, 30, tzinfo=UTC)
NONE = Decimal(0)
DIGEST = "sha256:" + "0" * 64


def campaign(status: dict[str, Any] | None, generation: int = 1) -> dict[str, Any]:
    body: dict[str, Any] = {"metadata": {"name": "demo", "generation": generation}}
    return body if status is None else {**body, "status": status}


def going(phase: CampaignPhase, troubles: tuple[str, ...] = ()) -> dict[str, Any]:
    """The status that the operator writes of a campaign in this phase."""
    tally = Tally(
        total=4, done=1, live=1, passed=1, failed=0, infra=0, aborted=0, spent=NONE, reserved=NONE
    )
    return running(
        Decision(start=(), abort=(), phase=phase, tally=tally),
        Hindrance(
            digest=DIGEST,
            frozen=True,
            troubles=[("NameConflict", said) for said in troubles],
            waits=(),
            calibration=(0, 0),
            budget=None,
            projected=None,
        ),
        AnalysisSays(Say("Published", False, "NotYet")),
        {},
        1,
        NOW,
    )


def lua(kind: str, body: dict[str, Any]) -> tuple[str, str]:
    """Status and message of Argo CD's script, run by the version of Lua that Argo CD has."""
    document = yaml.safe_load((GITOPS / "argocd/health.yaml").read_text())
    script = document["data"][f"resource.customizations.health.agentbench.dev_{kind}"]
    runtime = LuaRuntime()
    runtime.globals().obj = runtime.table_from(body, recursive=True)
    found = runtime.execute(script)
    return found.status, found.message


def flux(body: dict[str, Any]) -> str:
    """What Flux makes of it: the first expression that holds, in its order."""
    document = yaml.safe_load((GITOPS / "flux/campaigns.yaml").read_text())
    (rules,) = document["spec"]["healthCheckExprs"]
    environment = celpy.Environment()
    context = {name: json_to_cel(body.get(name, {})) for name in ("metadata", "status")}
    for name, found in (("inProgress", "InProgress"), ("failed", "Failed"), ("current", "Current")):
        program = environment.program(environment.compile(rules[name]))
        if program.evaluate(context):
            return found
    return "InProgress"


UNSEEN = {"observedGeneration": -1}
CASES = [
    ("before the operator has looked", UNSEEN, "InProgress", "Progressing", "InProgress"),
    ("running", going(CampaignPhase.RUNNING), "InProgress", "Progressing", "Current"),
    ("suspended", going(CampaignPhase.SUSPENDED), "InProgress", "Suspended", "Current"),
    ("being cancelled", going(CampaignPhase.CANCELLING), "InProgress", "Progressing", "Current"),
    ("complete", going(CampaignPhase.COMPLETE), "Current", "Healthy", "Current"),
    ("cancelled", going(CampaignPhase.CANCELLED), "Current", "Healthy", "Current"),
    ("out of budget", going(CampaignPhase.OUT_OF_BUDGET), "Failed", "Degraded", "Failed"),
    (
        "one foreign object in its way",
        going(CampaignPhase.RUNNING, ("a pod of that name is not ours",)),
        "Failed",
        "Degraded",
        "Failed",
    ),
    (
        "complete but for one conflict",
        going(CampaignPhase.COMPLETE, ("another row is there",)),
        "Failed",
        "Degraded",
        "Failed",
    ),
    (
        "wrong as it is",
        refused("DigestMismatch", "it is another protocol", {}, 1, NOW),
        "Failed",
        "Degraded",
        "Failed",
    ),
]


@pytest.mark.parametrize(
    ("status", "generic", "argo", "by_flux"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_every_tool_reports_a_campaign_as_it_is(
    status: dict[str, Any], generic: str, argo: str, by_flux: str
) -> None:
    body = campaign(status)
    assert kstatus(body) == generic
    assert lua("BenchmarkCampaign", body)[0] == argo
    assert flux(body) == by_flux


@pytest.mark.parametrize("phase", list(CampaignPhase))
def test_an_edit_that_the_operator_has_not_seen_is_in_progress(phase: CampaignPhase) -> None:
    body = campaign(going(phase), generation=2)
    assert kstatus(body) == "InProgress"
    assert lua("BenchmarkCampaign", body)[0] == "Progressing"
    assert flux(body) == "InProgress"


@pytest.mark.parametrize("phase", list(CampaignPhase))
@pytest.mark.parametrize("troubles", [(), ("a row is another's",)])
def test_reconciling_and_stalled_are_never_both_true(
    phase: CampaignPhase, troubles: tuple[str, ...]
) -> None:
    true = {
        each["type"] for each in going(phase, troubles)["conditions"] if each["status"] == "True"
    }
    assert len(true & {"Ready", "Reconciling", "Stalled"}) == 1


def test_argo_shows_progress_and_what_a_person_must_do() -> None:
    assert lua("BenchmarkCampaign", campaign(going(CampaignPhase.RUNNING)))[1] == (
        "Running: 1 of 4 runs are recorded"
    )
    said = refused("SecretMissing", "create it", {}, 1, NOW)
    assert lua("BenchmarkCampaign", campaign(said))[1] == "SecretMissing: create it"
    assert lua("BenchmarkCampaign", campaign(None))[0] == "Progressing"


@pytest.mark.parametrize(
    ("status", "health", "message"),
    [
        (None, "Progressing", "Pending"),
        ({"phase": "Running", "attempts": [{"number": 1}]}, "Progressing", "Running"),
        ({"phase": "Recorded", "attempts": [{"outcome": "pass"}]}, "Healthy", "pass"),
        (
            {
                "phase": "Recorded",
                "attempts": [
                    {"outcome": "fail", "cause": "infra", "reason": "NodeLost"},
                    {"outcome": "fail", "cause": "task", "reason": "CheckFailed"},
                ],
            },
            "Healthy",
            "fail: task (CheckFailed)",
        ),
    ],
)
def test_a_failed_run_is_a_result_and_no_ill_health(
    status: dict[str, Any] | None, health: str, message: str
) -> None:
    assert lua("BenchmarkRun", campaign(status)) == (health, message)


def test_every_example_is_an_object_that_names_no_default_namespace() -> None:
    for path in GITOPS.rglob("*.yaml"):
        for body in yaml.safe_load_all(path.read_text()):
            assert {"apiVersion", "kind", "metadata"} <= body.keys(), path
            assert body["kind"] == "Namespace" or body["metadata"]["namespace"], path
