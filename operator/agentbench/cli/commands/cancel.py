"""`agent-bench cancel`: a campaign on a cluster ends for good."""

import click

from agentbench.cli.cluster.options import Reach, cluster_options
from agentbench.cli.completing import complete_campaign
from agentbench.cli.options import example, json_option


@click.command(
    epilog=example(
        "agent-bench cancel my-bench --cluster", "agent-bench cancel my-bench --cluster --yes"
    )
)
@click.argument("campaign", shell_complete=complete_campaign)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@cluster_options(implied=True)
@json_option
def command(campaign: str, yes: bool, reach: Reach, as_json: bool) -> None:
    """End CAMPAIGN on a cluster for good: live runs end now and are recorded as aborted.

    It says what that costs, and asks. It is about a cluster with or without --cluster: a campaign
    on this machine lives in its agent-bench run.
    """
    from agentbench.cli.cluster.steering import cancel, tell
    from agentbench.cli.screen import Screen

    screen = Screen(as_json=as_json)
    tell(cancel(reach.connect(), campaign, sure=yes, screen=screen), screen)
