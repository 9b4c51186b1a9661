"""A campaign on a cluster as a place to read: protocol from the object, rows from the store."""

from pathlib import Path

from pydantic import ValidationError

from agentbench.api.campaign import BenchmarkCampaign
from agentbench.cli.cluster.access import store_of
from agentbench.cli.cluster.connection import Connection
from agentbench.cli.cluster.errors import NEWER, BadCluster
from agentbench.cli.cluster.finding import campaign_raw
from agentbench.cli.options import S3Wishes
from agentbench.cli.place import Place, bundle_texts
from agentbench.pack.load import Pack
from agentbench.pack.source import Source


def place_on_cluster(connection: Connection, name: str, s3: S3Wishes) -> Place:
    """A campaign of the cluster, with its store opened by its Secret or the environment's keys.

    Raises:
        BadCluster: there is no such campaign, its definition is of another version, or its store
            cannot be used.
    """
    campaign = read_campaign_object(connection, name)
    remote = store_of(connection, campaign.spec.store, s3.remote(""))
    file = f"campaign {connection.namespace}/{name}"
    source = Source(file=file, data={}, lines={}, written={})
    texts = bundle_texts(campaign.spec, remote.open())
    return Place(Pack(Path(), Path(), campaign, source), remote, named=True, texts=texts)


def read_campaign_object(connection: Connection, name: str) -> BenchmarkCampaign:
    """A campaign of the cluster, whole.

    Raises:
        BadCluster: there is none, or it is of another version.
    """
    raw = campaign_raw(connection, name)
    document = {key: raw[key] for key in ("apiVersion", "kind", "metadata", "spec")}
    try:
        campaign = BenchmarkCampaign.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise BadCluster(
            f"campaign {name}: {where}: {first['msg']}: it was written for another version of "
            f"agent-bench; use that one, or renew the definitions: {NEWER}"
        ) from error
    return campaign
