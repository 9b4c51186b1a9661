"""`agent-bench list --cluster`: campaigns, one in a line."""

from datetime import datetime
from typing import Any

from agentbench.cli.cluster.connection import Connection
from agentbench.cli.cluster.paths import CAMPAIGNS
from agentbench.cli.cluster.views import CampaignView, age, campaign_view, utc_now
from agentbench.cli.exits import Exit
from agentbench.cli.screen import Screen

HEADERS = (
    "Campaign", "Protocol", "Phase", "Done", "Live", "Pass", "Fail", "Infra", "Spent", "Age", "Why",
)  # fmt: skip
RIGHT = ("Done", "Live", "Pass", "Fail", "Infra", "Spent")


def list_campaigns(connection: Connection, *, everywhere: bool, as_json: bool) -> Exit:
    """List campaigns, of one namespace or of all; exit code 1 if there are none."""
    page = connection.list(CAMPAIGNS, "" if everywhere else None)
    found = sorted((campaign_view(raw) for raw in page.items), key=lambda c: (c.namespace, c.name))
    screen = Screen(as_json=as_json)
    if as_json:
        screen.data([document(each) for each in found])
    if not found:
        where = "in any namespace" if everywhere else f"in namespace {connection.namespace}"
        screen.note(f"No campaigns {where}.")
        return Exit.NEGATIVE
    now = utc_now()
    first = ["Namespace"] if everywhere else []
    screen.table(
        [*first, *HEADERS],
        [[*([each.namespace] if everywhere else []), *line(each, now)] for each in found],
        right=RIGHT,
    )
    return Exit.OK


def line(found: CampaignView, now: datetime) -> list[object]:
    """A campaign's cells below HEADERS."""
    tally, stalled = found.tally, found.stalled
    budget = f" of {found.budget}" if found.budget else ""
    return [
        found.name,
        found.protocol,
        found.phase,
        f"{tally.done}/{tally.total}" if tally.total else "",
        tally.live,
        tally.passed,
        tally.failed,
        tally.infra,
        f"${tally.spent:.2f}{budget}",
        age(found.created, now),
        f"{stalled.reason}: {stalled.message}" if stalled else found.waits,
    ]


def document(found: CampaignView) -> dict[str, Any]:
    """A campaign as JSON values."""
    tally = found.tally
    return {
        "campaign": found.name,
        "namespace": found.namespace,
        "uid": found.uid,
        "protocol": found.protocol,
        "digest": found.digest,
        "draft": found.draft,
        "phase": found.phase,
        "parallelism": found.parallelism,
        "suspend": found.suspend,
        "cancel": found.cancel,
        "store": found.store,
        "counts": {
            "total": tally.total,
            "done": tally.done,
            "live": tally.live,
            "passed": tally.passed,
            "failed": tally.failed,
            "infra": tally.infra,
            "aborted": tally.aborted,
        },
        "spentUSD": str(tally.spent),
        "reservedUSD": str(tally.reserved),
        "projectedUSD": found.projected,
        "budgetUSD": found.budget,
        "verdict": dict(found.verdict),
        "createdAt": found.created,
        "conditions": [
            {
                "type": each.type,
                "status": each.status,
                "reason": each.reason,
                "message": each.message,
                "since": each.since,
            }
            for each in found.conditions.values()
        ],
    }
