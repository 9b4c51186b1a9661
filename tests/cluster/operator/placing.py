"""Puts a frozen protocol on this cluster: its bundle in the store, images and machines named."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from tests.cluster.lab import stores
from tests.cluster.lab.handle import Cluster
from tests.cluster.operator.campaign import CAMPAIGNS, Campaign

from agentbench.api.campaign import CampaignSpec
from agentbench.core.digest import digest
from agentbench.store.port import Conflict, Store
from agentbench.store.s3 import S3Store, connect

QUICKSTART = Path(__file__).parents[3] / "examples/quickstart"
NODES: Mapping[str, Any] = {
    "selector": {"agentbench.dev/node-class": "pinned"},
    "tolerations": [{"key": "agentbench.dev/dedicated", "value": "runs", "effect": "NoSchedule"}],
    "agent": {"cpu": "200m", "memory": "256Mi", "disk": "256Mi"},
    "app": {"cpu": "200m", "memory": "256Mi", "disk": "256Mi"},
    "service": {"cpu": "100m", "memory": "128Mi", "disk": "128Mi"},
}
"""The cluster's pinned machines, with as little of each as its small nodes allow."""
ROOMY = {**NODES, "app": {"cpu": "500m", "memory": "256Mi", "disk": "256Mi"}}
"""With more for each app, for stacks whose apps must start within a frozen time."""


def placed(spec: Mapping[str, Any], image: str, store: Mapping[str, Any], **more: Any) -> Any:
    """A frozen spec with this cluster's images, machines and store, and so with another digest.

    The bundle (prompts, scripts, checks, start states) stays what it is.
    """
    document: dict[str, Any] = json.loads(json.dumps(dict(spec)))
    for stack in document["stacks"]:
        stack["image"] = image
    for agent in document["agents"]:
        agent["images"] = {stack["id"]: image for stack in document["stacks"]}
    document |= {"store": dict(store), "nodeClass": dict(NODES), **more}
    document["protocol"] |= {"draft": False}
    document["protocol"]["bundle"] |= {"url": store["url"]}
    document["protocol"].pop("freeze", None)
    document["protocol"]["freeze"] = {
        "digest": digest(CampaignSpec.model_validate(document)),
        "frozenAt": "2026-11-30T12:00:00Z",
    }
    return document


def quickstart() -> dict[str, Any]:
    """The spec of the quickstart as it was frozen."""
    text = (QUICKSTART / "frozen/campaign.yaml").read_text()
    spec: dict[str, Any] = yaml.safe_load(text)["spec"]
    return spec


def push(bundle: Path, store: Store) -> None:
    """Put a frozen pack's bundle into a store; what is there already is the same by its name."""
    for path in sorted(bundle.glob("*/*")):
        try:
            store.create_only(f"{path.parent.name}/{path.name}", path.read_bytes())
        except Conflict:
            continue


def cluster_store(
    cluster: Cluster, namespace: str, bucket: str, prefix: str = ""
) -> tuple[dict[str, str], S3Store]:
    """The cluster's store for a campaign, with its Secret: as a spec names it, and opened."""
    endpoint = stores.versitygw(cluster.slot).endpoint
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "store", "namespace": namespace},
        "stringData": {"accessKey": stores.ACCESS_KEY, "secretKey": stores.SECRET_KEY},
    }
    cluster.kubectl("apply", "-f", "-", text=json.dumps(secret))
    store = connect(
        bucket=bucket,
        prefix=prefix,
        endpoint=endpoint,
        access_key=stores.ACCESS_KEY,
        secret_key=stores.SECRET_KEY,
    )
    url = f"s3://{bucket}/{prefix}".rstrip("/")
    return {"url": url, "endpoint": endpoint, "secretRef": "store"}, store


def apply_spec(
    cluster: Cluster, namespace: str, name: str, spec: Mapping[str, Any], store: S3Store
) -> Campaign:
    """Create a campaign on the cluster."""
    body = {
        "apiVersion": "agentbench.dev/v1alpha1",
        "kind": "BenchmarkCampaign",
        "metadata": {"name": name, "namespace": namespace},
        "spec": dict(spec),
    }
    cluster.api.create(CAMPAIGNS.format(namespace), body)
    return Campaign(cluster, namespace, name, store)
