"""Shell completion of what only the rows know."""

from pathlib import Path

import click
from click.shell_completion import CompletionItem


def complete_run(
    ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Ids of the runs that have a row and begin with what was typed."""
    if ctx.params.get("cluster"):
        return _on_cluster(ctx, incomplete, runs=True)
    from agentbench.cli.listing import run_ids
    from agentbench.cli.place import place_to_read

    pack, store = ctx.params.get("pack") or Path(), ctx.params.get("store")
    try:
        place = place_to_read(Path(pack), store, draft=bool(ctx.params.get("draft")))
        known = run_ids(place)
    except (ValueError, RuntimeError, OSError):
        return []  # a shell's line is no place for an error
    return [CompletionItem(run) for run in known if run.startswith(incomplete)]


def complete_campaign(
    ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Names of the campaigns of a cluster's namespace."""
    return _on_cluster(ctx, incomplete, runs=False)


def _on_cluster(ctx: click.Context, incomplete: str, *, runs: bool) -> list[CompletionItem]:
    """Campaigns, and runs where a word begins like a run's id."""
    from agentbench.cli.cluster.finding import runs_of
    from agentbench.cli.cluster.options import Reach
    from agentbench.cli.cluster.paths import CAMPAIGNS
    from agentbench.cli.cluster.views import campaign_view

    wanted = ctx.params
    reach = Reach(wanted.get("kubeconfig"), wanted.get("context"), wanted.get("namespace"))
    try:
        connection = reach.connect()
        campaigns = [campaign_view(raw) for raw in connection.list(CAMPAIGNS).items]
        known = [each.name for each in campaigns]
        if runs and incomplete[:1].isupper():
            known = [run.run for each in campaigns for run in runs_of(connection, each)]
    except (ValueError, RuntimeError, OSError):
        return []  # a shell's line is no place for an error
    return [CompletionItem(name) for name in known if name.startswith(incomplete)]
