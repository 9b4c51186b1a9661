"""Names, Services and policies: what a pod reaches, and what it does not."""

from __future__ import annotations

import json
import socket
from typing import Any

import pytest
from tests.cluster.lab.handle import Cluster
from tests.cluster.lab.shell import wait

# Prints, for each host:port named, whether a connection opens: the second word is its answer.
REACH = """
import json, socket, sys, time
def opens(where):
    host, port = where.rsplit(":", 1)
    try:
        socket.create_connection((host, int(port)), 2).close()
        return True
    except OSError:
        return False
targets, settle = sys.argv[2:], float(sys.argv[1])
deadline = time.monotonic() + settle
# A new pod is open for a moment: wait until the last target, which must be shut, is.
while settle and opens(targets[-1]) and time.monotonic() < deadline:
    time.sleep(0.05)
print(json.dumps({where: opens(where) for where in targets}))
"""

# A Service made a moment ago may not have a name or an endpoint on every node yet.
FETCH = """
import sys, time, urllib.request
deadline = time.monotonic() + 30
while True:
    try:
        print(urllib.request.urlopen(sys.argv[1], timeout=5).status)
        break
    except OSError:
        if time.monotonic() > deadline:
            raise
        time.sleep(0.2)
"""


def reach(
    cluster: Cluster, namespace: str, *targets: str, settle: float = 0, **rest: Any
) -> dict[str, bool]:
    """Which targets a pod on node-b opens connections to."""
    command = ["python3", "-c", REACH, str(settle), *targets]
    text = cluster.answer(namespace, rest.pop("name", "reach"), command, spec={
        "nodeName": "node-b"}, **rest)  # fmt: skip
    found: dict[str, bool] = json.loads(text)
    return found


@pytest.fixture
def web(real_cluster: Cluster, namespace: str) -> str:
    """The address of a web server on node-a, behind a Service `web` on port 80."""
    probe = {"tcpSocket": {"port": 8000}, "periodSeconds": 1}
    container = {"readinessProbe": probe, "ports": [{"containerPort": 8000}]}
    real_cluster.run(
        namespace, "web", ["python3", "-m", "http.server", "8000"],
        spec={"nodeName": "node-a"}, container=container, labels={"app": "web"},
    )  # fmt: skip
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web"},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8000}]},
    }
    real_cluster.api.create(f"/api/v1/namespaces/{namespace}/services", service)
    real_cluster.kubectl("-n", namespace, "wait", "--for=condition=Ready", "pod/web")
    return str(real_cluster.pod(namespace, "web")["status"]["podIP"])


def test_a_service_answers_by_name_on_another_node(
    real_cluster: Cluster, namespace: str, web: str
) -> None:
    name = f"web.{namespace}.svc.cluster.local"
    command = ["python3", "-c", FETCH, f"http://{name}"]
    spec = {"nodeName": "node-b"}
    assert real_cluster.answer(namespace, "client", command, spec=spec).strip() == "200"


def test_the_stores_have_names_in_the_cluster(real_cluster: Cluster, namespace: str) -> None:
    look = "import socket; print(socket.gethostbyname('s3.agentbench.test'))"
    found = real_cluster.answer(namespace, "look", ["python3", "-c", look])
    assert found.strip() == real_cluster.slot.store_ip


def test_without_a_policy_everything_in_the_cluster_is_open(
    real_cluster: Cluster, namespace: str, web: str
) -> None:
    slot = real_cluster.slot
    targets = [f"{web}:8000", f"{slot.store_ip}:9000", f"{slot.control_ip}:6443"]
    assert reach(real_cluster, namespace, *targets) == dict.fromkeys(targets, True)


def test_a_policy_shuts_all_but_the_one_address_and_port_it_names(
    real_cluster: Cluster, namespace: str, web: str
) -> None:
    slot = real_cluster.slot
    policy = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "runs"},
        "spec": {
            "podSelector": {"matchLabels": {"role": "run"}},
            "policyTypes": ["Ingress", "Egress"],
            "egress": [
                {
                    "to": [{"ipBlock": {"cidr": f"{slot.store_ip}/32"}}],
                    "ports": [{"port": 9000}],
                }
            ],
        },
    }
    real_cluster.api.create(
        f"/apis/networking.k8s.io/v1/namespaces/{namespace}/networkpolicies", policy
    )
    shut = [f"{web}:8000", f"{slot.dns_ip}:53", f"{slot.registry_ip}:9999"]
    shut += [f"{slot.control_ip}:6443"]
    store = f"{slot.store_ip}:9000"
    found = reach(
        real_cluster, namespace, store, *shut, settle=30, labels={"role": "run"}, name="run"
    )
    assert found == {store: True, **dict.fromkeys(shut, False)}
    # The same namespace, another label: the policy is what shut it, not the network.
    free = reach(real_cluster, namespace, f"{web}:8000", name="free")
    assert free == {f"{web}:8000": True}


def test_nothing_in_the_cluster_reaches_the_machine_or_beyond(
    real_cluster: Cluster, namespace: str
) -> None:
    slot = real_cluster.slot
    with socket.create_server((slot.host_ip, 0)) as machine:
        port = machine.getsockname()[1]
        socket.create_connection((slot.host_ip, port), 2).close()
        beyond = ["192.0.2.1:80", f"{slot.host_ip}:{port}"]
        assert reach(real_cluster, namespace, *beyond) == dict.fromkeys(beyond, False)


def test_the_machine_reaches_pods_and_services(
    real_cluster: Cluster, namespace: str, web: str
) -> None:
    path = f"/api/v1/namespaces/{namespace}/services/web"
    address = real_cluster.api.get(path)["spec"]["clusterIP"]
    socket.create_connection((web, 8000), 5).close()

    def answers() -> bool:
        try:
            socket.create_connection((address, 80), 5).close()
        except OSError:
            return False
        return True

    wait("the Service to have its endpoint", answers, 30)
