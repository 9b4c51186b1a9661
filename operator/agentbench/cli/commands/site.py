"""`agent-bench site`: the results as a website that works from a file."""

from pathlib import Path

import click

from agentbench.cli.cluster.options import Reach, cluster_options
from agentbench.cli.options import (
    Address,
    S3Wishes,
    example,
    place_argument,
    remote_store_option,
    s3_options,
)


@click.command(
    epilog=example(
        "agent-bench site",
        "agent-bench site --out public && open public/index.html",
        "agent-bench site s3://bucket/prefix/my-bench --out public",
    )
)
@place_argument
@remote_store_option
@click.option("--draft", is_flag=True, help="The draft's rows, though the pack is frozen.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder of the site.  [default: site, beside the store's rows]",
)
@s3_options
@cluster_options()
def command(
    pack: Path | Address,
    store: Path | Address | None,
    draft: bool,
    out: Path | None,
    s3: S3Wishes,
    reach: Reach | None,
) -> None:
    """Write PACK's verdict, plots, runs and trace replays as a static, self-contained site.

    PACK may be a campaign in object storage (s3://bucket/prefix/campaign), or with --cluster the
    name of one there. Before the first run it is the protocol page alone. The site makes no
    network request.
    """
    from agentbench.cli.cluster.reading import place_of
    from agentbench.cli.publishing import write_site

    place = place_of(pack, store, reach, s3, draft=draft)
    folder = out or place.site
    files, runs = write_site(place, folder)
    what = f"{runs} runs" if runs else "the protocol page; there are no rows yet"
    click.echo(f"Wrote {files} files: {what}.")
    click.echo(folder.resolve() / "index.html")
