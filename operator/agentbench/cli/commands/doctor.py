"""`agent-bench doctor`: what this machine or a cluster lacks, and how to mend it."""

from pathlib import Path

import click

from agentbench.cli.cluster.options import Reach, cluster_options, only_without_cluster
from agentbench.cli.completing import complete_campaign
from agentbench.cli.options import (
    S3Wishes,
    example,
    json_option,
    pack_argument,
    s3_options,
    show_option,
)


@click.command(
    epilog=example(
        "agent-bench doctor",
        "agent-bench doctor examples/quickstart",
        "agent-bench doctor --cluster --namespace bench frozen/campaign.yaml",
        "agent-bench doctor --cluster --node-selector bench/class=pinned",
    )
)
@pack_argument
@show_option
@click.option(
    "--campaign",
    shell_complete=complete_campaign,
    help="With --cluster: for this campaign of the cluster, not for a pack.",
)
@click.option(
    "--node-selector",
    multiple=True,
    metavar="KEY=VALUE",
    help="With --cluster: labels of the node class.  [default: the campaign's]",
)
@click.option("--system-namespace", help="With --cluster: the operator's.  [default: looked for]")
@click.option("--no-probe", is_flag=True, help="With --cluster: make no pods.")
@click.option(
    "--pull-timeout",
    type=click.FloatRange(1),
    default=180.0,
    show_default=True,
    help="With --cluster: seconds for a probe pod to start.",
)
@s3_options
@cluster_options()
@json_option
def command(
    pack: Path,
    show: tuple[Path, ...],
    campaign: str | None,
    node_selector: tuple[str, ...],
    system_namespace: str | None,
    no_probe: bool,
    pull_timeout: float,
    s3: S3Wishes,
    reach: Reach | None,
    as_json: bool,
) -> int:
    """Say whether this machine can run PACK: tools, services, agents, keys, prices, disk, ports.

    Every lack comes with how to mend it. Without a pack, the machine alone is looked at. Exit
    code 1 says that something is missing; a warning alone is exit code 0.

    With --cluster it looks at a cluster instead: its version, our definitions, your rights, the
    operator, the node class, the store, and with two pods whether NetworkPolicy is enforced, the
    gateway answers and the images can be pulled. What it makes it deletes, though interrupted.
    """
    if reach is not None:
        only_without_cluster(reach, show=show)
        from agentbench.cli.cluster.doctor.command import doctor

        return doctor(
            pack, reach, s3, campaign=campaign, selector=node_selector, system=system_namespace,
            probe=not no_probe, patience=pull_timeout, as_json=as_json,
        )  # fmt: skip
    if campaign or node_selector or system_namespace or no_probe or s3.said:
        raise click.UsageError("These options are for --cluster.")
    from agentbench.cli.doctoring import examine
    from agentbench.cli.findings import tell
    from agentbench.cli.screen import Screen
    from agentbench.pack.load import CAMPAIGN_FILE, load_pack

    alone = pack == Path() and not (pack / CAMPAIGN_FILE).exists()
    loaded = None if alone else load_pack(pack)
    return tell(examine(loaded, show), Screen(as_json=as_json))
