"""The pods of a probe: one that listens, one that is open, one that is shut in, one of images."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentbench.api.place import NodeClass
from agentbench.cli.cluster.doctor.installation import Installation
from agentbench.kube.manifests.network import policy
from agentbench.kube.manifests.parts import (
    AGENT_UID,
    Manifest,
    container_security,
    pod_security,
    scheduling,
    small,
)
from agentbench.kube.names import CAMPAIGN_LABEL, GROUP, ROLE_LABEL
from agentbench.kube.settings import Place
from agentbench.pod import probe

DOCTOR_LABEL = f"{GROUP}/doctor"
PORT = 8080
LIFETIME = 900
"""Seconds after which kubelet ends a probe pod whose doctor died."""
OPEN, SHUT = "open", "shut"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """Where a probe works, and how its objects are called."""

    namespace: str
    ident: str  # of this probe alone
    installation: Installation
    node_class: NodeClass

    def name(self, part: str) -> str:
        """The name of one of the probe's objects."""
        return f"agent-bench-doctor-{self.ident}-{part}"

    def labels(self, role: str) -> dict[str, str]:
        """Labels as a campaign's pods have them: the policies are those of runs."""
        return {DOCTOR_LABEL: self.ident, CAMPAIGN_LABEL: f"doctor-{self.ident}", ROLE_LABEL: role}


def shut_policy(bench: Bench) -> Manifest:
    """The very policy that run pods get, for the pod that is shut in."""
    place = Place(
        image=bench.installation.image,
        gateway="",
        forbidden="",
        namespace=bench.installation.namespace,
        gateway_port=bench.installation.gateway_port,
    )
    manifest = policy(bench.namespace, "doctor", f"doctor-{bench.ident}", SHUT, place)
    labels = bench.labels(SHUT)
    return {
        **manifest,
        "metadata": {
            "name": bench.name("policy"), "namespace": bench.namespace,
            "labels": {DOCTOR_LABEL: labels[DOCTOR_LABEL]},
        },
    }  # fmt: skip


def listener(bench: Bench) -> Manifest:
    """A pod that takes connections, and is under no policy of ours."""
    return _pod(bench, "listener", [_program(bench, {"listen": PORT, "seconds": LIFETIME})])


def open_pod(bench: Bench, addresses: Mapping[str, str], limit: float) -> Manifest:
    """The control: under no policy of ours, it must reach everything."""
    told = {"open": dict(addresses), "limit": limit}
    return _pod(bench, OPEN, [_program(bench, told)])


def shut_pod(
    bench: Bench,
    shut: Mapping[str, str],
    gateway: str,
    asked: Mapping[str, Mapping[str, str]],
    limit: float,
) -> Manifest:
    """The pod that must reach the gateway, and nothing else."""
    told = {
        "shut": dict(shut),
        "open": {"gateway": gateway} if gateway else {},
        "asked": {name: dict(request) for name, request in asked.items()},
        "limit": limit,
    }
    return _pod(bench, SHUT, [_program(bench, told)])


def image_pod(bench: Bench, images: Sequence[str]) -> Manifest:
    """A pod with every image of a campaign; whether its command is there does not matter."""
    containers = [
        {**_container(bench, f"image-{number}", image, ["true"])}
        for number, image in enumerate(images)
    ]
    return _pod(bench, "images", containers)


def _program(bench: Bench, told: Mapping[str, Any]) -> Manifest:
    text = Path(probe.__file__).read_text("utf-8")
    command = ["python3", "-c", text, json.dumps(told)]
    address = {"valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}, "name": "POD_IP"}
    return {**_container(bench, "probe", bench.installation.image, command), "env": [address]}


def _container(bench: Bench, name: str, image: str, command: list[str]) -> Manifest:
    return {
        "name": name,
        "image": image,
        "imagePullPolicy": bench.installation.pull_policy,
        "command": command,
        "securityContext": container_security(AGENT_UID),
        "resources": small(cpu="10m", memory="64Mi"),
    }


def _pod(bench: Bench, part: str, containers: list[Manifest]) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": bench.name(part),
            "namespace": bench.namespace,
            "labels": bench.labels(part),
        },
        "spec": {
            "restartPolicy": "Never",
            "automountServiceAccountToken": False,
            "activeDeadlineSeconds": LIFETIME,
            "terminationGracePeriodSeconds": 1,
            "imagePullSecrets": [{"name": name} for name in bench.installation.pull_secrets],
            "securityContext": pod_security(),
            **scheduling(bench.node_class),
            "containers": containers,
        },
    }
