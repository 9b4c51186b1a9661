"""`agent-bench show`: one run, or a campaign on a cluster."""

from pathlib import Path

import click

from agentbench.cli.cluster.options import Reach, cluster_options, only_without_cluster
from agentbench.cli.completing import complete_campaign, complete_run
from agentbench.cli.options import (
    Address,
    S3Wishes,
    example,
    json_option,
    place_option,
    remote_store_option,
    s3_options,
)


@click.command(
    epilog=example(
        "agent-bench show T01-S1-A1-r1",
        "agent-bench show T01-S1-A1-r1 --json",
        "agent-bench show my-bench --cluster",
        "agent-bench show T01-S1-A1-r1 --pack s3://bucket/prefix/my-bench",
    )
)
@click.argument("run", shell_complete=complete_run)
@place_option
@remote_store_option
@click.option("--draft", is_flag=True, help="The draft's rows, though the pack is frozen.")
@click.option(
    "--campaign",
    shell_complete=complete_campaign,
    help="With --cluster: the run's campaign, where several have a run of its id.",
)
@click.option("--all", "everything", is_flag=True, help="With --cluster: every recorded run.")
@s3_options
@cluster_options()
@json_option
def command(
    run: str,
    pack: Path | Address,
    store: Path | Address | None,
    draft: bool,
    campaign: str | None,
    everything: bool,
    s3: S3Wishes,
    reach: Reach | None,
    as_json: bool,
) -> None:
    """Show every attempt of RUN: outcome, checks, security, metrics, artifacts, environment.

    With --cluster RUN may be a campaign: then its state, conditions, live runs with where their
    pods are and what they wait for, and recorded runs. A run there has its pods, too.
    """
    from agentbench.cli.screen import Screen

    if reach is not None:
        only_without_cluster(reach, store=store, draft=draft)
        from agentbench.cli.cluster.showing import show

        show(
            reach.connect(), run, of=campaign, everything=everything, s3=s3,
            screen=Screen(as_json=as_json),
        )  # fmt: skip
        return
    if campaign or everything:
        raise click.UsageError(f"{'--campaign' if campaign else '--all'} is for --cluster.")
    from agentbench.cli.listing import attempts_of
    from agentbench.cli.place import place_to_read
    from agentbench.cli.showing import show_row
    from agentbench_analysis.codec import encode

    rows = attempts_of(place_to_read(pack, store, draft=draft, s3=s3), run)
    screen = Screen(as_json=as_json)
    if as_json:
        screen.data([encode(row) for row in rows])
        return
    for row in rows:
        show_row(screen, row)
