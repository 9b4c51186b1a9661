"""One run on a cluster: its attempts, its pods, its rows."""

from agentbench.cli.cluster.access import store_of_object
from agentbench.cli.cluster.connection import Connection
from agentbench.cli.cluster.documents import pod_document, run_document
from agentbench.cli.cluster.paths import CAMPAIGNS
from agentbench.cli.cluster.views import AttemptView, CampaignView, RunView, age, utc_now
from agentbench.cli.cluster.waiting import PodLine, line_of, pods_of
from agentbench.cli.options import S3Wishes
from agentbench.cli.screen import Screen
from agentbench.cli.showing import show_row
from agentbench.core.record import decode_row
from agentbench.kube.errors import ClusterError, Denied
from agentbench.store.port import StoreError
from agentbench_analysis.codec import encode
from agentbench_analysis.rows.model import Row


def show_run(
    connection: Connection, campaign: CampaignView, run: RunView, s3: S3Wishes, screen: Screen
) -> None:
    """Show a run with everything that the cluster and the store know of it."""
    pods = [
        each for each in pod_lines(connection, campaign, screen, live=False) if each.run == run.run
    ]
    rows = rows_of(connection, campaign, run, s3, screen)
    if screen.as_json:
        screen.data(
            run_document(run)
            | {
                "campaign": campaign.name,
                "pods": [pod_document(each) for each in pods],
                "rows": [encode(row) for row in rows],
            }
        )
        return
    plugins = f", plugins {', '.join(run.plugins)}" if run.plugins else ""
    screen.heading(f"{run.run} of {campaign.name}: {run.phase}")
    screen.say(f"  task {run.task}, stack {run.stack}, agent {run.agent}{plugins}")
    screen.say(f"  run {run.order + 1} of the plan, repeat {run.repeat}, object {run.name}")
    screen.say()
    screen.heading("Attempts")
    screen.table(
        ["#", "Phase", "Outcome", "Cause", "Reason", "Cost", "Tools", "Node", "Started", "Ended"],
        [_attempt(each) for each in run.attempts],
        right=["#", "Cost", "Tools"],
    )
    screen.say()
    if pods:
        now = utc_now()
        screen.heading("Pods")
        screen.table(
            ["Pod", "Role", "Attempt", "Phase", "Node", "Age", "Waits for"],
            [
                [p.pod, p.role, p.attempt, p.phase, p.node, age(p.created.isoformat(), now), p.why]
                for p in pods
            ],
            right=["Attempt"],
        )
        screen.say()
    for row in rows:
        show_row(screen, row)


def rows_of(
    connection: Connection, campaign: CampaignView, run: RunView, s3: S3Wishes, screen: Screen
) -> list[Row]:
    """The rows of a run; without the store there are none, and a remark says why."""
    keys = [each.row for each in run.attempts if each.row]
    if not keys:
        return []
    raw = connection.get(CAMPAIGNS, campaign.name)
    try:
        store = store_of_object(connection, raw, s3.remote("")).open()
        return [decode_row(store.get(key), key) for key in keys]
    except (StoreError, ClusterError, ValueError) as error:
        screen.note(f"{', '.join(keys)} in {campaign.store}: {error}")
        return []


def _attempt(each: AttemptView) -> list[object]:
    return [
        each.number,
        each.phase,
        each.outcome,
        each.cause,
        each.reason,
        each.cost or "",
        "" if each.tool_calls is None else each.tool_calls,
        each.node,
        each.started,
        each.ended,
    ]


def pod_lines(
    connection: Connection, campaign: CampaignView, screen: Screen, *, live: bool = True
) -> list[PodLine]:
    """The pods of a campaign in short; without the right to see them none, and a remark."""
    now = utc_now()
    try:
        return [line_of(pod, now) for pod in pods_of(connection, campaign.uid, live=live)]
    except Denied as error:
        screen.note(f"Pods are not shown: {error}.")
        return []
