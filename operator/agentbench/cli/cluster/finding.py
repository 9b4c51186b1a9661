"""Finding what a user names: a campaign, or a run of one."""

from agentbench.cli.cluster.connection import Connection, Raw
from agentbench.cli.cluster.errors import BadCluster
from agentbench.cli.cluster.paths import CAMPAIGNS, RUNS
from agentbench.cli.cluster.views import CampaignView, RunView, campaign_view, run_view
from agentbench.kube.names import CAMPAIGN_LABEL, run_name
from agentbench.pack.problems import nearest


def campaign_raw(connection: Connection, name: str) -> Raw:
    """The campaign of a name.

    Raises:
        BadCluster: there is none in the namespace; the nearest one is named.
    """
    found = connection.find(CAMPAIGNS, name)
    if found is not None:
        return found
    known = [each["metadata"]["name"] for each in connection.list(CAMPAIGNS).items]
    raise BadCluster(_no(connection, "campaign", name, known))


def campaign(connection: Connection, name: str) -> CampaignView:
    """The same, as a view."""
    return campaign_view(campaign_raw(connection, name))


def find_run(
    connection: Connection, name: str, of: str | None = None
) -> tuple[CampaignView, RunView]:
    """The run of an id, such as `T01-S1-A1-r1`, or of its object's name.

    A run's object is named by its campaign's uid and the run, so one request per campaign finds
    it among ten thousand.

    Args:
        connection: the cluster and namespace.
        name: the run.
        of: its campaign, where several have a run of this id.

    Raises:
        BadCluster: there is none, or there are several.
    """
    campaigns = (
        [campaign(connection, of)]
        if of
        else [campaign_view(raw) for raw in connection.list(CAMPAIGNS).items]
    )
    found = []
    for each in campaigns:
        raw = connection.find(RUNS, run_name(each.uid, name))
        if raw is not None and raw["spec"]["run"] == name:
            found.append((each, run_view(raw)))
    if not found:
        raw = connection.find(RUNS, name) if name == name.lower() else None
        owner = next((c for c in campaigns if raw and c.uid == raw["spec"]["campaignUid"]), None)
        if raw is not None and owner is not None:
            return owner, run_view(raw)
        raise BadCluster(_no_run(connection, name, campaigns))
    if len(found) > 1:
        names = ", ".join(each.name for each, _ in found)
        raise BadCluster(f"several campaigns have a run {name}: {names}; say which with --campaign")
    return found[0]


def runs_of(connection: Connection, found: CampaignView) -> list[RunView]:
    """Every run of a campaign that was admitted, in the order of the plan."""
    page = connection.list(RUNS, labels=f"{CAMPAIGN_LABEL}={found.uid}")
    return sorted((run_view(raw) for raw in page.items), key=lambda run: run.order)


def _no(connection: Connection, what: str, name: str, known: list[str]) -> str:
    meant = nearest(name, known)
    if meant:
        hint = f"did you mean {meant}?"
    elif known:
        hint = f"there are: {', '.join(sorted(known)[:10])}"
    else:
        hint = "there is none at all; agent-bench list --cluster -A looks into every namespace"
    return f"there is no {what} {name!r} in namespace {connection.namespace}: {hint}"


def _no_run(connection: Connection, name: str, campaigns: list[CampaignView]) -> str:
    known = [run.run for each in campaigns[:5] for run in runs_of(connection, each)]
    where = f"namespace {connection.namespace}"
    if not known:
        return f"there is no run {name!r} in {where}: no run was admitted there yet"
    meant = nearest(name, known)
    hint = f"did you mean {meant}?" if meant else "agent-bench show CAMPAIGN --cluster lists them"
    return f"there is no run {name!r} in {where}: {hint}"
