"""`agent-bench list`: the rows of a campaign, or the campaigns of a cluster."""

from pathlib import Path

import click

from agentbench.cli.cluster.options import Reach, cluster_options, only_without_cluster
from agentbench.cli.exits import Exit
from agentbench.cli.options import (
    Address,
    S3Wishes,
    example,
    json_option,
    place_argument,
    remote_store_option,
    s3_options,
)


@click.command(
    epilog=example(
        "agent-bench list",
        "agent-bench list --outcome fail --cause security",
        "agent-bench list --json | jq -r '.[] | select(.outcome == \"fail\").run'",
        "agent-bench list s3://bucket/prefix/my-bench",
        "agent-bench list --cluster -A",
    )
)
@place_argument
@remote_store_option
@click.option("--draft", is_flag=True, help="The draft's rows, though the pack is frozen.")
@click.option("--outcome", type=click.Choice(["pass", "fail", "aborted"]), help="Only these.")
@click.option(
    "--cause",
    type=click.Choice(["infra", "cap", "intervention", "security", "task"]),
    help="Only failures of this cause.",
)
@click.option("-A", "--all-namespaces", is_flag=True, help="With --cluster: campaigns of all.")
@s3_options
@cluster_options()
@json_option
def command(
    pack: Path | Address,
    store: Path | Address | None,
    draft: bool,
    outcome: str | None,
    cause: str | None,
    all_namespaces: bool,
    s3: S3Wishes,
    reach: Reach | None,
    as_json: bool,
) -> int:
    """List the rows of PACK: one line for every attempt, in the order of the plan.

    With --cluster it lists the campaigns there; agent-bench show CAMPAIGN --cluster lists a
    campaign's runs. PACK may be a campaign in object storage, too: s3://bucket/prefix/campaign.
    """
    if reach is not None:
        only_without_cluster(reach, store=store, draft=draft, outcome=outcome, cause=cause)
        if str(pack) != ".":
            raise click.UsageError(f"agent-bench show {pack} --cluster shows one campaign.")
        from agentbench.cli.cluster.listing import list_campaigns

        return list_campaigns(reach.connect(), everywhere=all_namespaces, as_json=as_json)
    if all_namespaces:
        raise click.UsageError("--all-namespaces is for --cluster.")
    from agentbench.cli.listing import lines_of
    from agentbench.cli.place import place_to_read
    from agentbench.cli.screen import Screen

    place = place_to_read(pack, store, draft=draft, s3=s3)
    rows = [
        row
        for row in sorted(lines_of(place), key=lambda row: (row.order, row.attempt))
        if (outcome is None or row.outcome == outcome) and (cause is None or row.cause == cause)
    ]
    screen = Screen(as_json=as_json)
    if as_json:
        screen.data([row.document() for row in rows])
    if not rows:
        screen.note(f"No rows in {place.store} for {place.campaign}.")
        return Exit.NEGATIVE
    screen.table(
        ["Run", "Attempt", "Outcome", "Cause", "Reasons", "Cost", "Agent time", "Ended"],
        [
            [
                row.run,
                row.attempt,
                row.outcome,
                row.cause or "",
                ",".join(row.reasons),
                row.cost_usd or "unavailable",
                _seconds(row.agent_seconds),
                row.ended_at,
            ]
            for row in rows
        ],
        right=["Attempt", "Cost", "Agent time"],
    )
    return Exit.OK


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.1f} s"
