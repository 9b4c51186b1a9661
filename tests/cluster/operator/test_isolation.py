"""An agent reaches its own pod, and by the gateway the hosts of its class. Nothing else.

Judged by what it left in its workspace, and by the row.
"""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cluster.lab.api import Object
from tests.cluster.lab.handle import Cluster
from tests.cluster.lab.shell import wait
from tests.cluster.operator.campaign import Campaign
from tests.cluster.operator.captured import captured
from tests.cluster.operator.installed import SYSTEM
from tests.cluster.operator.process import OperatorProcess
from tests.fakes.local_pack import TinyPack

from agentbench.core.credentials import GATEWAY_HOST, Pass, proxy_url

PROBE = Path(__file__).with_name("probe.py").read_text()
UNTIL_TOLD = "while [ ! -e /workspace/told ]; do sleep 0.5; done"
LISTEN = "exec python3 -m http.server 9000"
AGENT = "T1-S1-A1-r1"


def play(targets: dict[str, Any], output: str) -> str:
    """The shell command that tries the targets."""
    return f"printf %s {shlex.quote(json.dumps(targets))} | python3 probe.py {output}"


def until_the_gateway_is_another(url: str) -> str:
    """The shell command that asks for an address once the gateway went away and came back."""
    program = (
        "import os, socket, time, urllib.request as u\n"
        "host, port = os.environ['HTTP_PROXY'].rpartition('@')[2].split(':')\n"
        "def there():\n"
        "    try: socket.create_connection((host, int(port)), timeout=1).close()\n"
        "    except OSError: return False\n"
        "    return True\n"
        "while there(): time.sleep(0.1)\n"
        "while not there(): time.sleep(0.1)\n"
        "time.sleep(2)\n"
        f"try: u.urlopen({url!r}, timeout=20)\n"
        "except OSError as error: print(error)\n"
    )
    return f"python3 -c {shlex.quote(program)}"


def restrict(cluster: Cluster, namespace: str) -> None:
    """Let the API server refuse every pod of the namespace that is not restricted."""
    label = "pod-security.kubernetes.io/enforce=restricted"
    cluster.kubectl("label", "namespace", namespace, label)


def running(cluster: Cluster, namespace: str, name: str) -> Object:
    """A pod of ours with nothing to keep it in, and the same that listens for others."""
    secure = {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": True,
        "runAsUser": 1000,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    command = ["sh", "-c", LISTEN]
    cluster.run(namespace, name, command, container={"securityContext": secure})
    return cluster.wait_phase(namespace, name, "Running")


def expired_address(operating: OperatorProcess, gateway: str) -> str:
    """A credential that was good an hour ago, with the installation's own key."""
    key = (operating.folder / "gateway.key").read_bytes().strip()
    entry = Pass(caller="a", kind="agent", hosts=("x.test:80",), expires=int(time.time()) - 3600)
    return proxy_url(gateway, entry, key)


@pytest.mark.timeout(420, func_only=True)
def test_an_agent_reaches_nothing_but_what_its_class_may(
    operating: OperatorProcess,
    apply: Callable[..., Campaign],
    real_cluster: Cluster,
    namespace: str,
    tmp_path: Path,
) -> None:
    slot = real_cluster.slot
    restrict(real_cluster, namespace)
    other = running(real_cluster, namespace, "other")["status"]["podIP"]
    services = real_cluster.api.get(f"/api/v1/namespaces/{SYSTEM}/services/agent-bench-gateway")
    gateway = f"{services['spec']['clusterIP']}:3128"
    caps = {"wall": "5m", "costUSD": "1", "toolCalls": 20, "interventions": 1}
    sleeper = TinyPack(
        folder=tmp_path / "victim", agents={"A1": [{"shell": UNTIL_TOLD, "timeout": 290}]}
    )
    apply(sleeper, name="victim", caps=caps)
    pods = f"/api/v1/namespaces/{namespace}/pods?labelSelector=agentbench.dev/role%3Drun"
    wait("the other attempt's warden", lambda: len(ready_agents(real_cluster, pods)) == 1, 120)
    (neighbour,) = real_cluster.api.get(pods)["items"]
    direct: dict[str, Any] = {
        "connect": {
            "api-service": [slot.api_service_ip, 443],
            "api-server": [slot.control_ip, 6443],
            "metadata": ["169.254.169.254", 80],
            "dns": [slot.dns_ip, 53],
            "pod": [other, 9000],
            "warden": [neighbour["status"]["podIP"], 8787],
            "store": [slot.store_ip, 9000],
            "internet": ["1.1.1.1", 443],
            **{f"kubelet-{node.name}": [node.ip, 10250] for node in slot.nodes},
        },
        "datagram": {"dns": [slot.dns_ip, 53]},
        "resolve": ["kubernetes.default.svc.cluster.local", "s3.agentbench.test"],
    }
    allowed, store = f"http://{other}:9000/", f"http://{slot.store_ip}:9000/"
    by_gateway = {
        "allowed": ["own", allowed],
        "forbidden": ["own", "http://forbidden.test/path?secret=1"],
        "forbidden-tls": ["own", "https://forbidden.test/"],
        "store": ["own", store],
        "refusals": ["own", f"http://{GATEWAY_HOST.removesuffix(':80')}/refusals"],
        "other-port": ["own", f"http://{other}:22/"],
        "none": ["none", "http://none.test/"],
        "forged": ["forged", "http://forged.test/"],
        "expired": [expired_address(operating, gateway), "http://expired.test/"],
    }
    pack = TinyPack(
        folder=tmp_path / "pack",
        agents={
            "A1": [
                {"shell": play(direct | {"by_gateway": by_gateway}, "found.json")},
                {"shell": until_the_gateway_is_another("http://after.test/"), "timeout": 150},
            ]
        },
        seed={"probe.py": PROBE, "README": "nothing works yet\n"},
        stack={"setup": {"run": play(direct, "first.json"), "timeout": "60s"}},
    )
    campaign = apply(pack, name="prober", egress={"agent": [f"{other}:9000"]}, caps=caps)
    known = {neighbour["metadata"]["name"]}
    wait("the prober to run", lambda: bool(ready_agents(real_cluster, pods) - known), 120)
    # The open way of the same pod, for comparison: nothing here is shut to everybody.
    for name, (host, port) in direct["connect"].items():
        if name not in ("metadata", "internet", "warden"):
            assert reaches(real_cluster, namespace, host, port), name
    time.sleep(25)  # a warden asks every 20 s what was refused
    real_cluster.kubectl(
        "-n", SYSTEM, "delete", "pod", "-l", "app.kubernetes.io/component=gateway",
        "--grace-period=1", "--wait=false",
    )  # fmt: skip
    real_cluster.kubectl(
        "-n", namespace, "exec", neighbour["metadata"]["name"], "-c", "agent", "--",
        "touch", "/workspace/told",
    )  # fmt: skip
    campaign.wait("Complete", seconds=280)

    first, found = captured(campaign, AGENT, "first.json"), captured(campaign, AGENT, "found.json")
    tried = {name for name in found if name.split()[0] in ("connect", "datagram", "resolve")}
    assert len(tried) == len(direct["connect"]) + 3
    assert {name: first[name] for name in tried if not first[name].startswith("shut")} == {}
    assert {name: found[name] for name in tried if not found[name].startswith("shut")} == {}
    assert (found["token"], found["user"]) == (False, 1000)
    gateway_said = {
        name.removeprefix("gateway "): said
        for name, said in found.items()
        if name.startswith("gateway ")
    }
    assert "403 Forbidden" in gateway_said.pop("forbidden-tls")
    assert gateway_said == {
        "allowed": 200,
        "forbidden": 403,
        "store": 403,
        "refusals": 403,
        "other-port": 403,
        "none": 407,
        "forged": 407,
        "expired": 407,
    }
    row = campaign.rows()[f"{AGENT}/1"]
    assert sorted(row["deniedEgress"]) == sorted(
        [
            "agent: CONNECT forbidden.test:443 (403)",
            "agent: GET after.test:80 (403)",
            "agent: GET forbidden.test:80 (403)",
            f"agent: GET {GATEWAY_HOST} (403)",
            f"agent: GET {other}:22 (403)",
            f"agent: GET {slot.store_ip}:9000 (403)",
            "no valid credential: GET expired.test:80 (407)",
            "no valid credential: GET forged.test:80 (407)",
            "no valid credential: GET none.test:80 (407)",
        ]
    )
    assert campaign.condition("Ready")["status"] == "True"


def ready_agents(cluster: Cluster, pods: str) -> set[str]:
    """The pods whose agents run."""
    return {
        pod["metadata"]["name"]
        for pod in cluster.api.get(pods)["items"]
        for status in pod["status"].get("containerStatuses", ())
        if status["name"] == "agent" and status.get("started")
    }


def reaches(cluster: Cluster, namespace: str, host: str, port: int) -> bool:
    """Whether a pod that nothing keeps in reaches an address."""
    look = f"import socket; socket.create_connection(({host!r}, {port}), 5)"
    words = ("-n", namespace, "exec", "other", "--", "python3", "-c", look)
    cluster.kubectl(*words)
    return True
