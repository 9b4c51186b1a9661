"""`agent-bench power`: the frozen analysis, simulated before the freeze."""

import sys
from pathlib import Path

import click

from agentbench.cli.options import example, json_option


@click.command(
    epilog=example(
        "agent-bench power campaign.yaml --assume assume.yaml",
        "agent-bench power --assume assume.yaml --picture power.svg",
    )
)
@click.argument("pack", default=".", type=click.Path(path_type=Path), metavar="[PACK]")
@click.option(
    "--assume",
    required=True,
    type=click.Path(path_type=Path),
    help="YAML or JSON with assumed pass rates, costs and times per stack (see docs/cli.md).",
)
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0), help="Of the draws.")
@click.option("--picture", type=click.Path(path_type=Path), help="Also write an SVG to this file.")
@json_option
def command(pack: Path, assume: Path, seed: int, picture: Path | None, as_json: bool) -> None:
    """Simulate campaigns of PACK on assumed rates: how often would each hypothesis hold?

    Also: how often each interval covers the truth, what the campaign would cost, and how many
    repeats 80 % power needs. Look before you spend the budget.
    """
    from agentbench.cli.analysing import analysis_spec, show
    from agentbench.cli.screen import Screen
    from agentbench.pack.atomic import write_whole
    from agentbench.pack.check import require_valid
    from agentbench.pack.load import load_pack
    from agentbench.pack.problems import PackInvalid, Problem
    from agentbench.pack.source import read_yaml
    from agentbench_analysis.facade import as_json as json_of
    from agentbench_analysis.facade import power as simulate
    from agentbench_analysis.facade import power_svg, power_tables

    loaded = load_pack(pack)
    require_valid(loaded)
    assumed = read_yaml(assume, str(assume)).data
    if not isinstance(assumed, dict):
        raise PackInvalid(
            [Problem(file=str(assume), message="holds no fields", cure="See docs/cli.md.")]
        )

    def progress(done: int, total: int) -> None:
        if sys.stderr.isatty():
            click.echo(f"\r{done} of {total} campaigns", nl=done == total, err=True)

    found = simulate(analysis_spec(loaded), assumed, seed, file=str(assume), progress=progress)
    if picture is not None:
        write_whole(picture, power_svg(found))
    if as_json:
        for piece in json_of(found):
            click.echo(piece, nl=False)
        return
    screen = Screen()
    for table in power_tables(found):
        show(screen, table)
    if picture is not None:
        screen.note(f"Wrote {picture}.")
