"""`agent-bench resume`: a suspended campaign on a cluster goes on."""

import click

from agentbench.cli.cluster.options import Reach, cluster_options
from agentbench.cli.completing import complete_campaign
from agentbench.cli.options import example, json_option


@click.command(
    epilog=example(
        "agent-bench resume my-bench --cluster", "agent-bench resume my-bench --namespace bench"
    )
)
@click.argument("campaign", shell_complete=complete_campaign)
@cluster_options(implied=True)
@json_option
def command(campaign: str, reach: Reach, as_json: bool) -> None:
    """Start runs of a suspended CAMPAIGN on a cluster again.

    It is about a cluster with or without --cluster: a campaign on this machine lives in its
    agent-bench run, which Ctrl-C ends and the same command takes up again.
    """
    from agentbench.cli.cluster.steering import resume, tell
    from agentbench.cli.screen import Screen

    tell(resume(reach.connect(), campaign), Screen(as_json=as_json))
