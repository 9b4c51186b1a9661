"""A real API server takes every object of the chart, to the last field."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from tests.cluster.chart.conftest import EVERYTHING, Object, Render
from tests.cluster.lab import monitoring
from tests.cluster.lab.api import ApiError
from tests.cluster.lab.handle import Cluster
from tests.cluster.lab.shell import CommandError


@pytest.fixture(scope="module")
def with_monitoring(real_cluster: Cluster) -> Iterator[None]:
    """The Prometheus operator's definitions, as in a cluster that has one."""
    folder = monitoring.definitions()
    real_cluster.kubectl("apply", "--server-side", "-f", folder)
    for kind in monitoring.KINDS:
        name = f"crd/{kind}.monitoring.coreos.com"
        real_cluster.kubectl("wait", "--for=condition=Established", name, "--timeout=30s")
    yield
    real_cluster.kubectl("delete", "-f", folder, "--wait=false")


def tried(cluster: Cluster, objects: list[Object]) -> list[str]:
    """What the server would make of objects; nothing is made."""
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    words = ("--server-side", "--force-conflicts", "--dry-run=server", "--validate=strict")
    return cluster.kubectl("apply", *words, "-f", "-", text=text).splitlines()


@pytest.mark.parametrize(
    "words",
    [
        (),
        EVERYTHING,
        ("--set", "rbac.namespaced=true", "--set", "gateway.existingSecret=mine"),
    ],
    ids=["as it is", "everything", "namespaced"],
)
def test_the_server_takes_every_object_strictly(
    render: Render,
    real_cluster: Cluster,
    with_monitoring: None,
    namespace: str,
    words: tuple[str, ...],
) -> None:
    objects = render(*words, "--set", "fullnameOverride=tried", namespace=namespace)
    taken = tried(real_cluster, objects)
    assert len(taken) == len(objects)
    if words == EVERYTHING:
        kinds = {body["kind"] for body in objects}
        assert {"ServiceMonitor", "PodMonitor", "PrometheusRule"} <= kinds
    assert all("serverside-applied" in line for line in taken)


def test_a_field_that_there_is_not_is_refused_by_that_test(
    render: Render, real_cluster: Cluster, with_monitoring: None, namespace: str
) -> None:
    objects = render(*EVERYTHING, "--set", "fullnameOverride=tried", namespace=namespace)
    (monitor,) = (body for body in objects if body["kind"] == "ServiceMonitor")
    monitor["spec"]["endpoints"][0]["intervall"] = "30s"
    with pytest.raises(CommandError, match="intervall"):
        tried(real_cluster, [monitor])


def test_restricted_pod_security_lets_every_pod_in(
    render: Render, real_cluster: Cluster, namespace: str
) -> None:
    label = "pod-security.kubernetes.io/enforce=restricted"
    real_cluster.kubectl("label", "namespace", namespace, label)
    pods = f"/api/v1/namespaces/{namespace}/pods?dryRun=All&fieldValidation=Strict"
    made = 0
    for body in render(namespace=namespace):
        if body["kind"] == "Deployment":
            body = {"metadata": {"name": "tried"}, "spec": body["spec"]["template"]["spec"]}
            body["spec"].pop("serviceAccountName", None)  # it is not in this namespace
        elif body["kind"] != "Pod":
            continue
        pod = {"apiVersion": "v1", "kind": "Pod", **body}
        real_cluster.api.create(pods, pod)
        made += 1
        pod["spec"]["containers"][0]["securityContext"]["allowPrivilegeEscalation"] = True
        with pytest.raises(ApiError, match="violates PodSecurity"):
            real_cluster.api.create(pods, pod)
    assert made == 4
