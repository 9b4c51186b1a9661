"""`agent-bench tables`: every table again, from results.json alone."""

from pathlib import Path

import click

from agentbench.cli.options import Address, Place, S3Wishes, example, s3_options


@click.command(
    epilog=example(
        "agent-bench tables results.json",
        "agent-bench tables results.json --out tables",
        "agent-bench tables s3://bucket/prefix/my-bench",
    )
)
@click.argument("results", type=Place())
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("tables"),
    show_default=True,
    help="Folder for the CSV and Markdown files.",
)
@click.option("--check", is_flag=True, help="Write nothing; say whether the files in --out agree.")
@s3_options
def command(results: Path | Address, out: Path, check: bool, s3: S3Wishes) -> int:
    """Make every table again from RESULTS, byte for byte, and check that its numbers follow.

    RESULTS may be in object storage: the address of a results.json, or of a campaign whose newest
    published result is meant. Exit code 1 with --check says that a table is missing or differs.
    """
    from agentbench.cli.exits import Exit
    from agentbench.pack.atomic import write_whole
    from agentbench_analysis.facade import open_results, tables

    made = tables(open_results(str(results), _content(results, s3)))
    if not check:
        for name, content in made.items():
            write_whole(out / name, content)
        click.echo(f"Wrote {len(made)} files to {out}.")
        return Exit.OK
    differ = [name for name, content in made.items() if not _same(out / name, content)]
    for name in differ:
        click.echo(f"{out / name}: is missing or differs from {results}.")
    if not differ:
        click.echo(f"All {len(made)} files in {out} follow from {results}.")
    return Exit.NEGATIVE if differ else Exit.OK


def _content(results: Path | Address, s3: S3Wishes) -> bytes:
    if isinstance(results, Path):
        return results.read_bytes()
    from agentbench.cli.published import read_results

    return read_results(s3.remote(results))


def _same(path: Path, content: bytes) -> bool:
    return path.is_file() and path.read_bytes() == content
