"""Parts that the pods of runs and of grading have in common."""

from collections.abc import Mapping, Sequence
from typing import Any

from agentbench.api.place import NodeClass, Resources
from agentbench.kube.names import GROUP
from agentbench.kube.settings import Place

AGENT_UID = 1000
WARDEN_UID = 2000
SERVICE_UID = 3000
SHARED_GID = 1000

Manifest = dict[str, Any]


_VERSIONS = {"Pod": "v1", "Job": "batch/v1"}


def owner(kind: str, name: str, uid: str) -> list[Manifest]:
    """The reference by which an object goes when its owner goes."""
    return [
        {
            "apiVersion": _VERSIONS.get(kind, f"{GROUP}/v1alpha1"),
            "kind": kind,
            "name": name,
            "uid": uid,
            "controller": True,
            "blockOwnerDeletion": False,
        }
    ]


def pod_security() -> Manifest:
    """What restricted Pod Security asks of a pod; volumes belong to a group that all share."""
    return {
        "runAsNonRoot": True,
        "fsGroup": SHARED_GID,
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def container_security(uid: int, *, read_only: bool = True) -> Manifest:
    """What restricted Pod Security asks of a container."""
    return {
        "runAsUser": uid,
        "runAsGroup": SHARED_GID,
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": read_only,
        "capabilities": {"drop": ["ALL"]},
    }


def fixed(resources: Resources) -> Manifest:
    """Requests equal limits, so that no run is slowed by another."""
    amounts = {"cpu": resources.cpu, "memory": resources.memory}
    return {"requests": amounts, "limits": dict(amounts)}


def small(cpu: str = "100m", memory: str = "128Mi") -> Manifest:
    """Resources of the harness's own containers."""
    return fixed(Resources(cpu=cpu, memory=memory))


def scheduling(node_class: NodeClass) -> Manifest:
    """Where a pod may land: the pinned node class and nothing else."""
    spec: Manifest = {
        "nodeSelector": dict(node_class.selector),
        "tolerations": [
            {
                key: value
                for key, value in toleration.model_dump(by_alias=True).items()
                if value != ""
            }
            for toleration in node_class.tolerations
        ],
    }
    if node_class.runtime_class_name:
        spec["runtimeClassName"] = node_class.runtime_class_name
    return spec


def env(variables: Mapping[str, str]) -> list[Manifest]:
    """Environment variables of a container."""
    return [{"name": name, "value": value} for name, value in variables.items()]


def mounts(*places: tuple[str, str] | tuple[str, str, bool]) -> list[Manifest]:
    """Volume mounts: name, path, and True where it is read-only."""
    return [
        {"name": place[0], "mountPath": place[1], **({"readOnly": True} if len(place) == 3 else {})}
        for place in places
    ]


def empty(name: str, size: str) -> Manifest:
    """A volume that lives and dies with its pod, of bounded size."""
    return {"name": name, "emptyDir": {"sizeLimit": size}}


def secret(name: str, source: str, *, optional: bool = False) -> Manifest:
    """A volume with a Secret's keys as files."""
    return {
        "name": name,
        "secret": {"secretName": source, "defaultMode": 0o440, "optional": optional},
    }


def fence(place: Place) -> Manifest:
    """The init container that waits until the pod's policy is in force."""
    return {
        "name": "fence",
        "image": place.image,
        "imagePullPolicy": place.pull_policy,
        "command": program("agentbench.pod.fence", place.forbidden),
        "securityContext": container_security(AGENT_UID),
        "resources": small(memory="64Mi"),
    }


def program(*words: str) -> Sequence[str]:
    """One of our programs, as the command of a container of our image."""
    return ["python3", "-m", *words]
