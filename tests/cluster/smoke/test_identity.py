"""Who may do what: certificates, Node authorization, RBAC, service accounts, logs and exec."""

from __future__ import annotations

import pytest
from tests.cluster.lab.api import Api, ApiError
from tests.cluster.lab.handle import Cluster

ASK = """
import json, ssl, sys, urllib.error, urllib.request
base = "/var/run/secrets/kubernetes.io/serviceaccount/"
request = urllib.request.Request(
    "https://kubernetes.default.svc" + sys.argv[1],
    headers={"Authorization": "Bearer " + open(base + "token").read()},
)
try:
    context = ssl.create_default_context(cafile=base + "ca.crt")
    print(urllib.request.urlopen(request, context=context, timeout=10).status)
except urllib.error.HTTPError as error:
    print(error.code)
"""


def _secret(cluster: Cluster, namespace: str, name: str) -> str:
    path = f"/api/v1/namespaces/{namespace}/secrets"
    body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}}
    cluster.api.create(path, {**body, "stringData": {"key": "value"}})
    return f"{path}/{name}"


def test_a_node_reads_only_the_secrets_of_its_own_pods(
    real_cluster: Cluster, namespace: str
) -> None:
    path = _secret(real_cluster, namespace, "mounted")
    volume = {"name": "secret", "secret": {"secretName": "mounted"}}
    spec = {"nodeName": "node-a", "volumes": [volume]}
    mount = {"volumeMounts": [{"name": "secret", "mountPath": "/secret"}]}
    real_cluster.run(namespace, "reader", ["sleep", "600"], "busybox", spec=spec, container=mount)
    real_cluster.wait_phase(namespace, "reader", "Running")
    group = ("system:nodes",)
    assert Api(real_cluster.slot, "system:node:node-a", group).get(path)["data"]
    with pytest.raises(ApiError, match="no relationship found between node") as refused:
        Api(real_cluster.slot, "system:node:node-b", group).get(path)
    assert refused.value.code == 403


def test_a_node_may_not_label_another(real_cluster: Cluster) -> None:
    node = Api(real_cluster.slot, "system:node:node-a", ("system:nodes",))
    with pytest.raises(ApiError, match="not allowed to modify node"):
        node.patch("/api/v1/nodes/node-b", {"metadata": {"labels": {"stolen": "yes"}}})


def test_someone_without_a_role_may_do_nothing(real_cluster: Cluster, namespace: str) -> None:
    nobody = Api(real_cluster.slot, "nobody", ("system:authenticated",))
    with pytest.raises(ApiError) as refused:
        nobody.get(f"/api/v1/namespaces/{namespace}/pods")
    assert refused.value.code == 403


def test_a_pod_may_do_what_a_role_of_its_service_account_allows(
    real_cluster: Cluster, namespace: str
) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    token = {"automountServiceAccountToken": True}
    command = ["python3", "-c", ASK, path]
    assert real_cluster.answer(namespace, "before", command, spec=token).strip() == "403"
    real_cluster.kubectl(
        "-n", namespace, "create", "role", "look", "--verb=list", "--resource=configmaps"
    )
    account = f"--serviceaccount={namespace}:default"
    real_cluster.kubectl("-n", namespace, "create", "rolebinding", "look", "--role=look", account)
    assert real_cluster.answer(namespace, "after", command, spec=token).strip() == "200"


def test_a_pod_without_a_token_has_none(real_cluster: Cluster, namespace: str) -> None:
    command = ["sh", "-c", "ls /var/run/secrets 2>&1 || true"]
    assert "No such file" in real_cluster.answer(namespace, "bare", command, "busybox")


def test_logs_and_exec_reach_a_container_on_every_node(
    real_cluster: Cluster, namespace: str
) -> None:
    script = "echo began; exec sleep 600"
    for node in real_cluster.slot.nodes:
        spec = {"nodeName": node.name}
        real_cluster.run(namespace, node.name, ["sh", "-c", script], "busybox", spec=spec)
    for node in real_cluster.slot.nodes:
        real_cluster.wait_phase(namespace, node.name, "Running")
        assert real_cluster.kubectl("-n", namespace, "logs", node.name) == "began\n"
        words = ("-n", namespace, "exec", node.name, "--", "cat", "/proc/1/comm")
        assert real_cluster.kubectl(*words) == "sleep\n"
