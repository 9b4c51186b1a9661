"""Where a command reads from: a pack, a store, or a cluster."""

from pathlib import Path

from agentbench.cli.cluster.errors import BadCluster
from agentbench.cli.cluster.options import Reach
from agentbench.cli.options import Address, S3Wishes
from agentbench.cli.place import Place, place_to_read


def place_of(
    name: Path | Address,
    store: Path | Address | None,
    reach: Reach | None,
    s3: S3Wishes,
    *,
    draft: bool,
) -> Place:
    """Where a command reads: a pack, a campaign in a store, or with `reach` one on a cluster."""
    if reach is None:
        return place_to_read(name, store, draft=draft, s3=s3)
    if store is not None or draft:
        what = "--draft" if draft else "--store"
        raise BadCluster(f"{what} means nothing with --cluster: name the campaign instead")
    if isinstance(name, Address) or str(name) == ".":
        raise BadCluster("with --cluster name the campaign; agent-bench list --cluster lists them")
    # Here, since one machine needs no client of Kubernetes.
    from agentbench.cli.cluster.places import place_on_cluster

    return place_on_cluster(reach.connect(), str(name), s3)
