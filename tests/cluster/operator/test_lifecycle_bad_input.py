"""A campaign that cannot run says why and what to do, costs nothing, and harms no other."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cluster.faults.s3proxy import S3Proxy
from tests.cluster.lab import stores
from tests.cluster.lab.api import ApiError, Object
from tests.cluster.lab.handle import Cluster
from tests.cluster.operator.campaign import CAMPAIGNS, Campaign
from tests.cluster.operator.life import (
    events_of,
    requests_in,
    run_pods,
    stalled,
    wait_healed,
    wait_stalled,
    with_spec,
)
from tests.cluster.operator.process import OperatorProcess
from tests.cluster.simulated.kubelet import SimulatedNodes
from tests.cluster.simulated.runs import script, spec
from tests.fakes.local_pack import TinyPack

from agentbench.store.s3 import S3Store, connect

NOWHERE = {"selector": {"agentbench.dev/node-class": "of-no-node"}}
NO_DIGEST = "registry.test/stack:latest"


@pytest.fixture
def another_namespace(real_cluster: Cluster, namespace: str) -> Iterator[str]:
    """A second namespace, which the test's operator watches too."""
    name = f"{namespace[:50]}-b"
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    real_cluster.api.create("/api/v1/namespaces", body)
    real_cluster.kubectl(
        "-n", name, "create", "secret", "generic", "store",
        f"--from-literal=accessKey={stores.ACCESS_KEY}",
        f"--from-literal=secretKey={stores.SECRET_KEY}",
    )  # fmt: skip
    yield name
    real_cluster.api.delete(f"/api/v1/namespaces/{name}")


def test_bad_campaigns_say_what_to_do_and_leave_a_good_one_alone(
    another_namespace: str,
    faulty_s3: S3Proxy,
    simulated: SimulatedNodes,
    operating: OperatorProcess,
    apply: Callable[..., Campaign],
    real_cluster: Cluster,
    namespace: str,
    bucket: str,
    tmp_path: Path,
) -> None:
    simulated.script(**script(seconds=1, failures=0))
    operating.stop()
    operating.start({"AGENTBENCH_WATCH_NAMESPACES": f"{namespace},{another_namespace}"})
    store = {"url": f"s3://{bucket}", "endpoint": stores.versitygw(real_cluster.slot).endpoint}
    provider = {"api": "openai", "baseUrl": "http://model.test", "keySecret": "model"}
    asks = TinyPack(folder=tmp_path / "asks", agents={"A1": []}, provider=provider)
    broken = TinyPack(folder=tmp_path / "broken", seed={"README": "another bundle\n"})
    _, manifest = broken.freeze(open_store(real_cluster, bucket))
    key = f"bundles/{manifest.sha256.removeprefix('sha256:')}.json"
    real_cluster.s3().put_object(Bucket=bucket, Key=key, Body=b'{"layers": []}')
    faulty_s3.inject("ignore-condition")

    tiny = TinyPack(folder=tmp_path / "good")
    good = apply(tiny, name="good", **spec(1, 1))
    bad_digest = apply(name="bad-digest", edit=with_spec(repeats=2))
    no_secret = apply(name="no-secret", store={**store, "secretRef": "absent"}, suspend=True)
    no_key = apply(asks, "no-key", suspend=True)
    no_image = apply(name="no-image", shape=without_image)
    no_node = apply(name="no-node", nodeClass=NOWHERE)
    unfit = apply(
        name="unfit",
        store={**store, "endpoint": faulty_s3.endpoint, "secretRef": "store"},
        suspend=True,
    )
    changed = apply(name="changed", shape=with_bundle(manifest.sha256))
    good.wait("Complete", seconds=90)
    twin = apply(tiny, name="good", edit=in_namespace(another_namespace), **spec(1, 1))

    assert "spec.protocol.freeze.digest" in wait_stalled(bad_digest, "DigestMismatch")
    assert "'absent'" in wait_stalled(no_secret, "SecretMissing")
    assert "spec.agents[A1].provider.keySecret" in wait_stalled(no_key, "SecretMissing")
    assert "spec.stacks[S1].image" in wait_stalled(no_image, "ImageMissing")
    assert "of-no-node" in wait_stalled(no_node, "NodeClassMissing")
    assert "If-None-Match" in wait_stalled(unfit, "StoreUnfit")
    assert "push it again" in wait_stalled(changed, "BundleMismatch")
    assert f"{namespace}/good" in wait_stalled(twin, "PrefixTaken")
    for campaign in (bad_digest, no_image, changed, twin):
        status = campaign.get()
        assert status["status"]["observedGeneration"] == status["metadata"]["generation"]
        assert campaign.condition("Ready")["status"] == "False"
        assert not run_pods(campaign)
    assert len(good.rows()) == 1

    # Eight bad campaigns, each looked at every ten seconds: no hot loop.
    assert requests_in(operating, 12) <= 80
    told = [each for each in events_of(no_secret) if each[1] == "SecretMissing"]
    assert len(told) == 1, "told once, and not at every look"

    secret(
        real_cluster, namespace, "absent", accessKey=stores.ACCESS_KEY, secretKey=stores.SECRET_KEY
    )
    secret(real_cluster, namespace, "model", key="sk-test")
    faulty_s3.heal()
    for campaign in (no_secret, no_key, unfit):
        wait_healed(campaign, 40)
        campaign.wait("Suspended", seconds=30)
    assert stalled(no_node)["reason"] == "NodeClassMissing"
    assert len(run_pods(no_node)) == 1
    assert no_node.rows() == {}
    real_cluster.kubectl(
        "-n", another_namespace, "delete", "benchmarkcampaigns", "--all", "--timeout=60s"
    )


def test_unknown_fields_and_loose_images_are_refused_or_named(
    operating: OperatorProcess,
    apply: Callable[..., Campaign],
    real_cluster: Cluster,
    namespace: str,
    tmp_path: Path,
) -> None:
    campaign = apply(name="strict", suspend=True)
    body = campaign.get()
    manifest = {
        "apiVersion": body["apiVersion"],
        "kind": body["kind"],
        "metadata": {"name": "loose", "namespace": namespace},
        "spec": {**body["spec"], "paralellism": 3},
    }
    place = CAMPAIGNS.format(namespace)
    with pytest.raises(ApiError, match="paralellism"):
        real_cluster.api.create(f"{place}?fieldValidation=Strict", manifest)
    path = tmp_path / "loose.json"
    path.write_text(json.dumps(manifest))
    real_cluster.kubectl("apply", "--validate=false", "-f", path)
    loose = Campaign(real_cluster, namespace, "loose", campaign.store)
    assert "spec.paralellism" in wait_stalled(loose, "UnknownField", 30)

    spec = json.loads(json.dumps(body["spec"]))
    spec["stacks"][0]["image"] = NO_DIGEST
    with pytest.raises(ApiError, match="image"):
        real_cluster.api.create(place, {**manifest, "spec": spec})


def open_store(cluster: Cluster, bucket: str) -> S3Store:
    return connect(
        bucket=bucket,
        endpoint=stores.versitygw(cluster.slot).endpoint,
        access_key=stores.ACCESS_KEY,
        secret_key=stores.SECRET_KEY,
    )


def without_image(spec: Object) -> None:
    del spec["stacks"][0]["image"]


def in_namespace(name: str) -> Callable[[Object], None]:
    def edit(body: Object) -> None:
        body["metadata"]["namespace"] = name

    return edit


def with_bundle(sha256: str) -> Callable[[Object], None]:
    def shape(spec: Object) -> None:
        spec["protocol"]["bundle"]["sha256"] = sha256

    return shape


def secret(cluster: Cluster, namespace: str, name: str, **data: str) -> None:
    words = [f"--from-literal={key}={value}" for key, value in data.items()]
    cluster.kubectl("-n", namespace, "create", "secret", "generic", name, *words)
