"""`agent-bench logs --cluster`: a live pod's logs, else what a recorded attempt left."""

from collections.abc import Sequence

import click

from agentbench.cli.artifacts import print_part
from agentbench.cli.cluster.access import store_of_object
from agentbench.cli.cluster.connection import Connection
from agentbench.cli.cluster.errors import BadCluster
from agentbench.cli.cluster.finding import find_run
from agentbench.cli.cluster.paths import CAMPAIGNS, path
from agentbench.cli.cluster.views import AttemptView, CampaignView, RunView
from agentbench.cli.options import S3Wishes
from agentbench.cli.screen import Screen, plain
from agentbench.core.record import decode_row
from agentbench.kube.errors import Invalid, Missing
from agentbench.kube.names import CAMPAIGN_LABEL, RUN_ROLE
from agentbench.kube.view import PodView, pod_view

AGENT = "agent"


def show_logs(
    connection: Connection,
    name: str,
    *,
    of: str | None,
    attempt: int | None,
    container: str | None,
    follow: bool,
    part: str | None,
    s3: S3Wishes,
) -> None:
    """Print the logs of a live pod, or a part of what a recorded attempt left.

    Raises:
        BadCluster: there is no such run, attempt or container, or no pod to follow.
    """
    campaign, run = find_run(connection, name, of)
    chosen = _attempt(run, attempt)
    if container is None and not follow and (part is not None or chosen.row):
        _stored(connection, campaign, run, chosen, part or "trace", s3)
        return
    pods = _pods_of(connection, campaign, run, chosen)
    if not pods:
        stored = " agent-bench logs without --container shows its trace." if chosen.row else ""
        raise BadCluster(f"{run.run}, attempt {chosen.number}, has no pod now.{stored}")
    pod = _pod_with(pods, container)
    _print(connection, pod, container or _main(pod), follow=follow)


def _attempt(run: RunView, number: int | None) -> AttemptView:
    found = [each for each in run.attempts if number in (None, each.number)]
    if not found:
        raise BadCluster(f"{run.run} has no attempt {number}: it has {len(run.attempts)}")
    return found[-1]


def _stored(
    connection: Connection,
    campaign: CampaignView,
    run: RunView,
    attempt: AttemptView,
    part: str,
    s3: S3Wishes,
) -> None:
    if not attempt.row:
        raise BadCluster(
            f"{run.run}, attempt {attempt.number}, is {attempt.phase} and has no row yet; "
            "agent-bench logs without --part shows its pod's logs"
        )
    raw = connection.get(CAMPAIGNS, campaign.name)
    store = store_of_object(connection, raw, s3.remote("")).open()
    print_part(store, decode_row(store.get(attempt.row), attempt.row), part)


def _pods_of(
    connection: Connection, campaign: CampaignView, run: RunView, attempt: AttemptView
) -> list[PodView]:
    """The pods of an attempt: a grader that lives comes first, then the run pod."""
    page = connection.list("pods", labels=f"{CAMPAIGN_LABEL}={campaign.uid}")
    pods = [pod_view(raw) for raw in page.items]
    mine = [pod for pod in pods if (pod.run, pod.attempt) == (run.run, attempt.number)]
    return sorted(mine, key=lambda pod: (pod.ended, pod.role == RUN_ROLE, pod.name))


def _pod_with(pods: Sequence[PodView], container: str | None) -> PodView:
    if container is None:
        return pods[0]
    for pod in pods:
        if container in pod.containers:
            return pod
    known = sorted({name for pod in pods for name in pod.containers})
    has = ", ".join(known) or "none that has started"
    raise BadCluster(f"no pod of this attempt has a container {container!r}: there are {has}")


def _main(pod: PodView) -> str:
    """The container that is worth reading: the agent's, else the last one."""
    return (
        AGENT if AGENT in pod.containers else list(pod.containers)[-1] if pod.containers else AGENT
    )


def _print(connection: Connection, pod: PodView, container: str, *, follow: bool) -> None:
    screen = Screen()
    screen.note(f"pod {pod.name}, container {container}")
    query = {"container": container, "follow": "true" if follow else ""}
    where = path("pods", connection.namespace, pod.name) + "/log"
    try:
        with connection.lines(where, query, patience=None) as lines:
            for line in lines:
                click.echo(plain(line.decode("utf-8", "replace")))
    except Missing as error:
        raise BadCluster(f"pod {pod.name} is gone: {error}") from error
    except Invalid as error:
        waits = pod.containers.get(container)
        why = f" ({waits.waiting_reason} {waits.waiting_message})".rstrip() if waits else ""
        raise BadCluster(
            f"container {container} of pod {pod.name} has no logs yet{why}: {error}"
        ) from error
