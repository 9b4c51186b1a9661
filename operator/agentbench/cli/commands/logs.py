"""`agent-bench logs`: what a run's agent did."""

from pathlib import Path

import click

from agentbench.cli.cluster.options import Reach, cluster_options, only_without_cluster
from agentbench.cli.completing import complete_campaign, complete_run
from agentbench.cli.options import (
    Address,
    S3Wishes,
    example,
    place_option,
    remote_store_option,
    s3_options,
)

PARTS = ["trace", "events", "usage", "diff", "checks", "security"]


@click.command(
    epilog=example(
        "agent-bench logs T01-S1-A1-r1",
        "agent-bench logs T01-S1-A1-r1 --part checks",
        "agent-bench logs T01-S1-A1-r1 --part events | jq .",
        "agent-bench logs T01-S1-A1-r1 --cluster --container warden --follow",
    )
)
@click.argument("run", shell_complete=complete_run)
@place_option
@remote_store_option
@click.option("--draft", is_flag=True, help="The draft's rows, though the pack is frozen.")
@click.option("--attempt", type=click.IntRange(1, 2), help="[default: the last]")
@click.option(
    "--part",
    type=click.Choice(PARTS),
    help="The agent's steps; its raw events; every model call; what it changed; what the checks "
    "said; what the security check said.  [default: trace]",
)
@click.option("--container", help="With --cluster: of the live pod.  [default: agent]")
@click.option("-f", "--follow", is_flag=True, help="With --cluster: go on while the pod lives.")
@click.option(
    "--campaign",
    shell_complete=complete_campaign,
    help="With --cluster: the run's campaign, where several have a run of its id.",
)
@s3_options
@cluster_options()
def command(
    run: str,
    pack: Path | Address,
    store: Path | Address | None,
    draft: bool,
    attempt: int | None,
    part: str | None,
    container: str | None,
    follow: bool,
    campaign: str | None,
    s3: S3Wishes,
    reach: Reach | None,
) -> None:
    """Print what the agent of RUN did, from its redacted artifacts.

    With --cluster an attempt that is not recorded yet shows the logs of its pod; a recorded one
    shows its artifacts, unless a container is named whose pod is still there.
    """
    if reach is not None:
        only_without_cluster(reach, store=store, draft=draft)
        if part is not None and (container or follow):
            raise click.UsageError("--part is of a recorded attempt, --container of a live pod.")
        from agentbench.cli.cluster.logs import show_logs

        show_logs(
            reach.connect(), run, of=campaign, attempt=attempt, container=container,
            follow=follow, part=part, s3=s3,
        )  # fmt: skip
        return
    for name, given in (("container", container), ("follow", follow), ("campaign", campaign)):
        if given:
            raise click.UsageError(f"--{name} is for --cluster.")
    from agentbench.cli.artifacts import print_part
    from agentbench.cli.listing import attempts_of
    from agentbench.cli.place import place_to_read

    place = place_to_read(pack, store, draft=draft, s3=s3)
    rows = attempts_of(place, run)
    chosen = next((row for row in rows if row.attempt == attempt), None) if attempt else rows[-1]
    if chosen is None:
        raise click.UsageError(f"{run} has no attempt {attempt}.")
    print_part(place.open(), chosen, part or "trace")
