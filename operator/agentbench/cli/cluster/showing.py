"""`agent-bench show --cluster`: a campaign with its runs, or one run."""

from collections.abc import Sequence
from datetime import datetime

from agentbench.cli.cluster.connection import Connection
from agentbench.cli.cluster.documents import pod_document, run_document
from agentbench.cli.cluster.finding import campaign_raw, find_run, runs_of
from agentbench.cli.cluster.listing import document
from agentbench.cli.cluster.paths import CAMPAIGNS
from agentbench.cli.cluster.showing_run import pod_lines, show_run
from agentbench.cli.cluster.views import (
    CampaignView,
    RunView,
    age,
    campaign_view,
    utc_now,
)
from agentbench.cli.cluster.waiting import PodLine
from agentbench.cli.options import S3Wishes
from agentbench.cli.progress import totals
from agentbench.cli.screen import Screen, count
from agentbench.kube.names import GRADER_ROLE

RECENT = 20
"""Recorded runs that a campaign shows unless all are asked for."""


def show(
    connection: Connection, name: str, *, of: str | None, everything: bool, s3: S3Wishes,
    screen: Screen,
) -> None:  # fmt: skip
    """Show the campaign or the run of a name.

    Raises:
        BadCluster: there is neither.
    """
    raw = None if of else connection.find(CAMPAIGNS, name) if name == name.lower() else None
    if raw is not None:
        _campaign(connection, campaign_view(raw), everything, screen)
        return
    try:
        campaign, run = find_run(connection, name, of)
    except ValueError:
        if name == name.lower():
            campaign_raw(connection, name)  # which names the nearest campaign
        raise
    show_run(connection, campaign, run, s3, screen)


def _campaign(
    connection: Connection, found: CampaignView, everything: bool, screen: Screen
) -> None:
    runs, now = runs_of(connection, found), utc_now()
    pods = pod_lines(connection, found, screen)
    if screen.as_json:
        screen.data(
            document(found)
            | {
                "runs": [run_document(run) for run in runs],
                "pods": [pod_document(each) for each in pods],
            }
        )
        return
    kind = "draft" if found.draft else "frozen"
    screen.heading(f"{found.name}: {found.protocol} ({kind}), {found.phase}")
    screen.say(
        f"  namespace {found.namespace}, {age(found.created, now)} old, rows in {found.store}"
    )
    screen.say(f"  {totals(found.tally, found.tally.live)}{_money(found)}")
    screen.say(f"  at most {count(found.parallelism, 'live run')}, digest {found.digest}")
    for hypothesis, word in found.verdict.items():
        screen.say(f"  {hypothesis}: {word}")
    screen.say()
    _conditions(found, now, screen)
    live = [run for run in runs if not run.last.row]
    if live:
        screen.heading("Live runs")
        screen.table(
            ["Run", "Attempt", "Phase", "Pod", "Node", "For", "Waits for"],
            _live(live, pods, now),
            right=["Attempt"],
        )
        screen.say()
    done = [run for run in runs if run.last.row]
    done.sort(key=lambda run: run.last.ended)
    shown = done if everything else done[-RECENT:]
    if shown:
        rest = len(done) - len(shown)
        title = (
            f"Recorded runs (the last {len(shown)}; {rest} more with --all)"
            if rest
            else "Recorded runs"
        )
        screen.heading(title)
        screen.table(
            ["Run", "Attempt", "Outcome", "Cause", "Reason", "Cost", "Node", "Ended"],
            [_recorded(run) for run in shown],
            right=["Attempt", "Cost"],
        )


def _conditions(found: CampaignView, now: datetime, screen: Screen) -> None:
    told = [each for each in found.conditions.values() if each.message or each.status]
    if not told:
        return
    screen.heading("Conditions")
    screen.table(
        ["Condition", "Status", "Reason", "Since", "Message"],
        [
            [each.type, each.status, each.reason, age(each.since, now), each.message]
            for each in told
        ],
    )
    screen.say()


def _live(runs: Sequence[RunView], pods: Sequence[PodLine], now: datetime) -> list[list[object]]:
    """Live runs with their pods; one whose pod is not there yet has a line, too."""
    lines: list[list[object]] = []
    for run in runs:
        mine = [each for each in pods if (each.run, each.attempt) == (run.run, run.last.number)]
        lines += [_with_pod(run, pod, now) for pod in mine] or [
            [run.run, run.last.number, run.last.phase, run.last.pod, run.last.node, "", ""]
        ]
    return lines


def _with_pod(run: RunView, pod: PodLine, now: datetime) -> list[object]:
    phase = f"Grading ({pod.phase})" if pod.role == GRADER_ROLE else run.last.phase
    since = age(pod.created.isoformat(), now)
    return [run.run, run.last.number, phase, pod.pod, pod.node, since, pod.why]


def _recorded(run: RunView) -> list[object]:
    last = run.last
    return [
        run.run,
        last.number,
        last.outcome,
        last.cause,
        last.reason,
        last.cost or "",
        last.node,
        last.ended,
    ]


def _money(found: CampaignView) -> str:
    budget = f" of ${found.budget}" if found.budget else ""
    more = f", ${found.projected} projected" if found.projected else ""
    return f"{budget}{more}"
