"""`agent-bench suspend`: a campaign on a cluster starts no more runs."""

import click

from agentbench.cli.cluster.options import Reach, cluster_options
from agentbench.cli.completing import complete_campaign
from agentbench.cli.options import example, json_option


@click.command(
    epilog=example(
        "agent-bench suspend my-bench --cluster", "agent-bench suspend my-bench --namespace bench"
    )
)
@click.argument("campaign", shell_complete=complete_campaign)
@cluster_options(implied=True)
@json_option
def command(campaign: str, reach: Reach, as_json: bool) -> None:
    """Start no more runs of CAMPAIGN on a cluster; live ones go on to their rows.

    It is about a cluster with or without --cluster: a campaign on this machine lives in its
    agent-bench run, which Ctrl-C ends and the same command takes up again.
    """
    from agentbench.cli.cluster.steering import suspend, tell
    from agentbench.cli.screen import Screen

    tell(suspend(reach.connect(), campaign), Screen(as_json=as_json))
