"""What tests of a campaign's life look at: conditions, events, and what the operator asks for."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

from tests.cluster.lab.api import Object
from tests.cluster.lab.shell import wait
from tests.cluster.operator.campaign import Campaign
from tests.cluster.operator.process import OperatorProcess

PODS = "/api/v1/namespaces/{}/pods"
EVENTS = "/api/v1/namespaces/{}/events"


def stalled(campaign: Campaign) -> Object:
    """The condition Stalled, if it is true; else nothing."""
    found = campaign.condition("Stalled")
    return found if found.get("status") == "True" else {}


def wait_stalled(campaign: Campaign, reason: str, seconds: float = 60) -> str:
    """Wait until a campaign is stalled for a reason; gives the message."""

    def there() -> bool:
        return str(stalled(campaign).get("reason")) == reason

    wait(f"campaign {campaign.name} to be stalled: {reason}", there, seconds)
    return str(stalled(campaign)["message"])


def wait_healed(campaign: Campaign, seconds: float = 60) -> None:
    """Wait until a campaign is no longer stalled."""
    wait(f"campaign {campaign.name} to be healed", lambda: not stalled(campaign), seconds)


def waits_for(campaign: Campaign) -> str:
    """What a campaign says it waits for; a row is stored before the status tells of it."""
    return str(campaign.condition("Reconciling").get("message", ""))


def run_pods(campaign: Campaign) -> list[Object]:
    """The run pods of a campaign, by their labels."""
    uid = campaign.get()["metadata"]["uid"]
    selected = f"?labelSelector=agentbench.dev/campaign={uid},agentbench.dev/role=run"
    found: list[Object] = campaign.cluster.api.get(PODS.format(campaign.namespace) + selected)[
        "items"
    ]
    return found


def agents_running(campaign: Campaign) -> list[str]:
    """Names of run pods whose agent's container runs."""
    return [
        pod["metadata"]["name"]
        for pod in run_pods(campaign)
        for each in pod.get("status", {}).get("containerStatuses", ())
        if each["name"] == "agent" and "running" in each["state"]
    ]


def wait_running(campaign: Campaign, number: int, seconds: float = 90) -> list[str]:
    """Wait until so many agents run; gives the names of their pods."""
    what = f"{number} agents of {campaign.name} to run"
    wait(what, lambda: len(agents_running(campaign)) >= number, seconds)
    return agents_running(campaign)


def events_of(campaign: Campaign) -> list[tuple[str, str, str]]:
    """Kind of object, reason and message of every event of a campaign and its runs."""
    names = {campaign.name} | {run["metadata"]["name"] for run in campaign.runs()}
    return [
        (each["involvedObject"]["kind"], each["reason"], each["message"])
        for each in campaign.cluster.api.get(EVENTS.format(campaign.namespace))["items"]
        if each["involvedObject"]["name"] in names
        and each["involvedObject"]["kind"].startswith("Benchmark")
    ]


def requests(operator: OperatorProcess) -> float:
    """Requests that the operator has sent to the API server so far, its watches apart."""
    found = re.findall(r"^agentbench_api_requests_total\{[^}]*\} (\S+)$", operator.metrics(), re.M)
    assert found, "the operator counts its requests under another name"
    return sum(map(float, found))


def requests_in(operator: OperatorProcess, seconds: float) -> float:
    """How many it sends in a time in which nothing happens."""
    before = requests(operator)
    time.sleep(seconds)
    return requests(operator) - before


def no_leftovers(campaign: Campaign, seconds: float = 60) -> None:
    """Wait until nothing of a namespace's campaigns is there, or being deleted."""
    kinds = "benchmarkcampaigns,benchmarkruns,pods,jobs"

    def left() -> str:
        return campaign.cluster.kubectl("-n", campaign.namespace, "get", kinds, "-o", "name")

    wait(f"nothing to be left in {campaign.namespace}", lambda: not left().strip(), seconds)


def with_spec(**fields: Any) -> Callable[[Object], None]:
    """An edit of a manifest: set these fields of its spec, after the freeze."""

    def edit(body: Object) -> None:
        body["spec"] |= fields

    return edit
