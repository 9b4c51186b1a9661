"""`agent-bench run`: a campaign, on this machine or on a cluster."""

from pathlib import Path

import click

from agentbench.cli.cluster.options import Reach, cluster_options, only_without_cluster
from agentbench.cli.options import (
    STORE_HELP,
    S3Wishes,
    example,
    json_option,
    pack_argument,
    s3_options,
    show_option,
)


@click.command(
    epilog=example(
        "agent-bench run examples/quickstart",
        "agent-bench run frozen/campaign.yaml --parallel 4",
        "agent-bench run --dry-run",
        "agent-bench run --cluster --namespace bench frozen/campaign.yaml",
    )
)
@pack_argument
@click.option("--store", type=click.Path(path_type=Path), help=STORE_HELP)
@click.option(
    "-j",
    "--parallel",
    type=click.IntRange(1, 1000),
    help="Live runs at once.  [default: the pack's]",
)
@click.option("--draft", is_flag=True, help="Run the draft, though the pack is frozen.")
@click.option(
    "--isolation",
    type=click.Choice(["namespace", "user-namespace", "process-group"]),
    help="What keeps a run in.  [default: the best that works here]",
)
@show_option
@click.option("--keep-work", is_flag=True, help="Leave the files of finished attempts.")
@click.option("--dry-run", is_flag=True, help="Check everything and say what would start.")
@click.option("--no-push", is_flag=True, help="With --cluster: the bundle is in the store.")
@s3_options
@cluster_options()
@json_option
def command(
    pack: Path,
    store: Path | None,
    parallel: int | None,
    draft: bool,
    isolation: str | None,
    show: tuple[Path, ...],
    keep_work: bool,
    dry_run: bool,
    no_push: bool,
    s3: S3Wishes,
    reach: Reach | None,
    as_json: bool,
) -> int:
    """Run the campaign of PACK on this machine or a cluster, or go on with it where it was.

    A frozen pack is verified first; one changed byte stops it. A draft runs too: its rows are
    marked and give no verdict. Killed at any moment, the same command goes on: nothing runs
    twice. Ctrl-C once lets live runs end and starts no more, twice leaves them to the next run.
    With --json every event is a line of JSON.

    With --cluster the bundle is pushed to the campaign's store if it is not there, the frozen
    manifest is applied, and its progress told. Ctrl-C leaves the campaign running; the same
    command watches it again.
    """
    if reach is not None:
        only_without_cluster(
            reach, store=store, parallel=parallel, draft=draft, isolation=isolation, show=show,
            keep_work=keep_work,
        )  # fmt: skip
        from agentbench.cli.cluster.running import run_on_cluster

        return run_on_cluster(
            pack, reach, s3, dry_run=dry_run, push_bundle=not no_push, as_json=as_json
        )
    if s3.said or no_push:
        raise click.UsageError(f"{s3.said or '--no-push'} is for --cluster.")
    from agentbench.cli.running import Wishes, run_campaign

    return run_campaign(
        pack,
        Wishes(
            store=store,
            parallel=parallel,
            draft=draft,
            isolation=isolation,
            show=show,
            keep_work=keep_work,
            dry_run=dry_run,
            as_json=as_json,
        ),
    )
