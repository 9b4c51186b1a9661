"""`agent-bench metrics`: the metric catalog, and records measured by it."""

from collections.abc import Iterator
from pathlib import Path

import click

from agentbench.cli.options import example, json_option


@click.group(
    epilog=example("agent-bench metrics catalog", "agent-bench metrics run rows/ --baseline old/")
)
def command() -> None:
    """Show the metric catalog, or measure records by it."""


@command.command(
    epilog=example(
        "agent-bench metrics catalog --group efficiency", "agent-bench metrics catalog --json"
    )
)
@click.option("--group", help="quality, efficiency, agent_runtime, knowledge or reliability.")
@json_option
def catalog(group: str | None, as_json: bool) -> None:
    """List every metric: its group, unit, source, and whether it can be measured at all."""
    from agentbench.cli.analysing import show
    from agentbench.cli.screen import Screen
    from agentbench_analysis.codec import encode
    from agentbench_analysis.facade import catalog_table, metrics_catalog

    found = metrics_catalog(group)
    screen = Screen(as_json=as_json)
    if as_json:
        screen.data([encode(descriptor) for descriptor in found])
        return
    show(screen, catalog_table(found))


@command.command(
    epilog=example(
        "agent-bench metrics run .agent-bench/store/my-bench/rows",
        "agent-bench metrics run new/ --baseline old/ --json",
    )
)
@click.argument("records", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--baseline",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A record or folder of records to compare with; may be given again.",
)
@json_option
def run(records: tuple[Path, ...], baseline: tuple[Path, ...], as_json: bool) -> None:
    """Measure RECORDS (rows, or folders of rows) by every metric of the catalog.

    A mean is taken over the runs that reported, with their number and share beside it.
    """
    from agentbench.cli.analysing import show
    from agentbench.cli.screen import Screen
    from agentbench_analysis.facade import as_json as json_of
    from agentbench_analysis.facade import metrics_run, metrics_tables

    found = metrics_run(_documents(records), _documents(baseline) if baseline else None)
    if as_json:
        for piece in json_of(found):
            click.echo(piece, nl=False)
        return
    for table in metrics_tables(found):
        show(Screen(), table)


def _documents(paths: tuple[Path, ...]) -> Iterator[tuple[str, bytes]]:
    for path in paths:
        files = sorted(path.rglob("*.json")) if path.is_dir() else [path]
        for file in files:
            yield str(file), file.read_bytes()
