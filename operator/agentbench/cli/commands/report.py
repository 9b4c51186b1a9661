"""`agent-bench report`: the verdict and its numbers."""

from pathlib import Path

import click

from agentbench.cli.cluster.options import Reach, cluster_options
from agentbench.cli.options import (
    Address,
    S3Wishes,
    example,
    json_option,
    place_argument,
    remote_store_option,
    s3_options,
)

BRIEF = ("claims", "hypotheses", "pass-rates", "causes")


@click.command(
    epilog=example(
        "agent-bench report",
        "agent-bench report --brief",
        "agent-bench report --json | jq .verdict",
        "agent-bench report --out .",
        "agent-bench report s3://bucket/prefix/my-bench",
        "agent-bench report my-bench --cluster",
    )
)
@place_argument
@remote_store_option
@click.option("--draft", is_flag=True, help="The draft's rows, though the pack is frozen.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Also write results.json, verdict.json and tables/ to this folder.",
)
@click.option("--brief", is_flag=True, help="Decisions, pass rates and causes alone.")
@s3_options
@cluster_options()
@json_option
def command(
    pack: Path | Address,
    store: Path | Address | None,
    draft: bool,
    out: Path | None,
    brief: bool,
    s3: S3Wishes,
    reach: Reach | None,
    as_json: bool,
) -> None:
    """Analyse the rows of PACK and print the verdict, pass rates, costs, times and losses.

    PACK may be a campaign in object storage (s3://bucket/prefix/campaign), or with --cluster the
    name of one there. The analysis reads rows and adjudications and nothing else. A draft's rows
    are counted, and give no verdict.
    """
    from agentbench.cli.analysing import results_of, show
    from agentbench.cli.cluster.reading import place_of
    from agentbench.cli.screen import Screen
    from agentbench.pack.atomic import write_whole
    from agentbench_analysis.facade import files, report, results_json_pieces

    place = place_of(pack, store, reach, s3, draft=draft)
    results = results_of(place)
    screen = Screen(as_json=as_json)
    if out is not None:
        for name, content in files(results).items():
            write_whole(out / name, content)
        screen.note(f"Wrote {out / 'results.json'}, {out / 'verdict.json'} and {out / 'tables'}.")
    if as_json:
        for piece in results_json_pieces(results):
            click.echo(piece, nl=False)
        return
    verdict = results.verdict
    screen.heading(f"{verdict.protocol}, campaign {verdict.campaign}")
    screen.say(f"  {verdict.scored_runs} of {verdict.planned_runs} runs scored, {place.store}")
    if verdict.draft:
        screen.say("  A draft: these rows are for trying things out and give no verdict.")
    screen.say()
    for table in report(results):
        if not brief or table.id in BRIEF:
            show(screen, table)
    if brief:
        return
    for note in (*verdict.notes, *results.notes):
        screen.say(f"  {note}")
