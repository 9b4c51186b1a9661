"""What the command line asks of a doctor of clusters, put together."""

from pathlib import Path

from agentbench.api.campaign import CampaignSpec
from agentbench.api.place import NodeClass
from agentbench.cli.cluster.connection import Connection
from agentbench.cli.cluster.doctor.examine import Questions, examine
from agentbench.cli.cluster.errors import BadCluster
from agentbench.cli.cluster.options import Reach
from agentbench.cli.cluster.places import read_campaign_object
from agentbench.cli.exits import Exit
from agentbench.cli.findings import tell
from agentbench.cli.options import S3Wishes
from agentbench.cli.place import current
from agentbench.cli.screen import Screen
from agentbench.pack.load import CAMPAIGN_FILE


def doctor(
    pack: Path,
    reach: Reach,
    s3: S3Wishes,
    *,
    campaign: str | None,
    selector: tuple[str, ...],
    system: str | None,
    probe: bool,
    patience: float,
    as_json: bool,
) -> Exit:
    """Examine a cluster for a campaign of it, for a pack, or for a node class alone."""
    here = pack != Path() or (pack / CAMPAIGN_FILE).exists()
    loaded = current(pack) if here and campaign is None else None
    named = loaded.campaign.metadata.get("namespace") if loaded else None
    connection = Reach(reach.kubeconfig, reach.context, reach.namespace or named).connect()
    spec = loaded.spec if loaded else None
    if campaign is not None:
        spec = read_campaign_object(connection, campaign).spec
    asked = Questions(
        spec=spec,
        node_class=node_class(spec, selector),
        system=system,
        probe=probe,
        given=s3.remote(""),
        patience=patience,
    )
    screen = Screen(as_json=as_json)
    _head(connection, screen)
    return tell(list(examine(connection, asked, screen.note)), screen)


def node_class(spec: CampaignSpec | None, selector: tuple[str, ...]) -> NodeClass:
    """The class of machine that is meant: flags before the campaign's.

    Raises:
        BadCluster: a flag is no KEY=VALUE.
    """
    wanted = spec.node_class if spec else NodeClass()
    if not selector:
        return wanted
    labels = {}
    for text in selector:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise BadCluster(f"--node-selector {text!r} is no KEY=VALUE")
        labels[key] = value
    return NodeClass.model_validate({**wanted.model_dump(by_alias=True), "selector": labels})


def _head(connection: Connection, screen: Screen) -> None:
    where = f"{connection.server}, context {connection.context}"
    screen.note(f"Looking at {where}, namespace {connection.namespace}.")
