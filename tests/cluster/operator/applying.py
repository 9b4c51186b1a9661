"""A tiny pack, frozen into a bucket and applied as a campaign."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.cluster.lab import stores
from tests.cluster.lab.api import Object
from tests.cluster.lab.handle import Cluster
from tests.cluster.operator.campaign import CAMPAIGNS, Campaign
from tests.cluster.operator.installed import Chart
from tests.fakes.local_pack import TinyPack

from agentbench.core.digest import digest
from agentbench.store.s3 import S3Store, connect

PINNED: dict[str, Any] = {
    "selector": {"agentbench.dev/node-class": "pinned"},
    "tolerations": [{"key": "agentbench.dev/dedicated", "value": "runs", "effect": "NoSchedule"}],
    "agent": {"cpu": "200m", "memory": "256Mi", "disk": "256Mi"},
    "app": {"cpu": "200m", "memory": "256Mi", "disk": "256Mi"},
    "service": {"cpu": "100m", "memory": "128Mi", "disk": "128Mi"},
}
"""The lab's pinned nodes."""


def create_secret(cluster: Cluster, namespace: str) -> None:
    """The Secret with the store's keys."""
    cluster.kubectl(
        "-n", namespace, "create", "secret", "generic", "store",
        f"--from-literal=accessKey={stores.ACCESS_KEY}",
        f"--from-literal=secretKey={stores.SECRET_KEY}",
    )  # fmt: skip


Edit = Callable[[dict[str, Any]], None]


def _nothing(_: dict[str, Any]) -> None:
    return None


def freeze_pack(
    chart: Chart,
    namespace: str,
    bucket: str,
    pack: TinyPack,
    name: str,
    *,
    shape: Edit = _nothing,
    edit: Edit = _nothing,
    images: Mapping[str, str] | None = None,
    **spec: Any,
) -> tuple[Object, S3Store]:
    """Freeze a pack into a bucket; gives its manifest and the store.

    `images` are those of agents that have one of their own, by agent. `spec` replaces fields of
    the spec and `shape` changes it before the freeze; `edit` changes the frozen manifest.
    """
    cluster = chart.cluster
    endpoint = stores.versitygw(cluster.slot).endpoint
    store = connect(
        bucket=bucket,
        endpoint=endpoint,
        access_key=stores.ACCESS_KEY,
        secret_key=stores.SECRET_KEY,
    )
    drafted, manifest = pack.freeze(store)
    python = chart.images["pod"]
    store.create_only(f"bundles/{manifest.sha256.removeprefix('sha256:')}.json", manifest.encode())
    document = drafted.model_dump(mode="json", by_alias=True, exclude_none=True)
    document["protocol"] |= {
        "draft": False,
        "bundle": {"url": f"s3://{bucket}", "sha256": manifest.sha256},
    }
    for stack in document["stacks"]:
        stack["image"] = python
    for agent in document["agents"]:
        image = (images or {}).get(agent["id"], python)
        agent["images"] = {stack["id"]: image for stack in document["stacks"]}
    document |= {
        "store": {"url": f"s3://{bucket}", "endpoint": endpoint, "secretRef": "store"},
        "nodeClass": PINNED,
    }
    document |= spec
    shape(document)
    frozen = type(drafted).model_validate(document)
    document["protocol"]["freeze"] = {
        "digest": digest(frozen),
        "frozenAt": "2026-11-30T12:00:00Z",
    }
    body: dict[str, Any] = {
        "apiVersion": "agentbench.dev/v1alpha1",
        "kind": "BenchmarkCampaign",
        "metadata": {"name": name, "namespace": namespace},
        "spec": document,
    }
    edit(body)
    return body, store


def apply_pack(
    chart: Chart, namespace: str, bucket: str, pack: TinyPack, name: str, **words: Any
) -> Campaign:
    """Freeze a pack into a bucket, and apply its campaign; see `freeze_pack`."""
    body, store = freeze_pack(chart, namespace, bucket, pack, name, **words)
    at = body["metadata"]["namespace"]
    chart.cluster.api.create(CAMPAIGNS.format(at), body)
    return Campaign(chart.cluster, at, name, store)
