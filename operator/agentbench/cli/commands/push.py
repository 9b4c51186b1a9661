"""`agent-bench push`: a frozen pack's bundle, brought to its store."""

from pathlib import Path

import click

from agentbench.cli.cluster.options import Reach, cluster_options
from agentbench.cli.options import S3Wishes, example, json_option, pack_argument, s3_options


@click.command(
    epilog=example(
        "agent-bench push",
        "agent-bench push frozen/campaign.yaml --cluster --namespace bench",
        "agent-bench push --store s3://bucket/prefix --endpoint https://s3.example.com",
    )
)
@pack_argument
@click.option("--store", metavar="URL", help="s3://bucket/prefix.  [default: spec.store.url]")
@s3_options
@cluster_options()
@json_option
def command(
    pack: Path, store: str | None, s3: S3Wishes, reach: Reach | None, as_json: bool
) -> None:
    """Bring the bundle of a frozen PACK to its store, where runs on a cluster find it.

    Every layer is created once, under its hash, and is verified by reading it back; what is there
    already is verified, too. With --cluster the keys come from the campaign's Secret, else from
    the variables that every S3 client knows (AWS_ACCESS_KEY_ID, AWS_PROFILE, ...).
    """
    from agentbench.cli.cluster.pushing import push_bundle

    push_bundle(pack, store, s3, reach, as_json=as_json)
