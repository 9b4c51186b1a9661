"""What a simulated kubelet reports of a pod: pure functions of the pod's spec and its script."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

PREFIX = "simulated.agentbench.dev/"
"""Annotations under it are a pod's script: `run-seconds`, `exit-code`, `message`."""


@dataclass(frozen=True)
class Script:
    """How a simulated pod goes.

    Attributes:
        start_seconds: from its assignment to a node until it runs.
        run_seconds: from then until its main containers end.
        run_spread: how far from that it may be, as a share of it; how far follows from its name,
            so that pods which started together do not end together.
        exit_code: of the main containers.
        message: the termination message of the container that `message_of` names.
        message_of: a container or a native sidecar.
        messages: more termination messages, by container; `{run}` and `{attempt}` in them are the
            pod's own. Pods without a container of that name say nothing.
        failures: of a hundred run pods, how many end with `failure_reason` and `failure_message`
            as the pod's own reason and message, and with `failure_messages` of their containers;
            which ones, follows from their names.
    """

    start_seconds: float = 0.0
    run_seconds: float = 1.0
    run_spread: float = 0.0
    exit_code: int = 0
    message: str = ""
    message_of: str = "warden"
    messages: Mapping[str, str] = field(default_factory=dict)
    failures: int = 0
    failure_reason: str = ""
    failure_message: str = ""
    failure_messages: Mapping[str, str] = field(default_factory=dict)

    def lasts(self, pod: Mapping[str, Any]) -> float:
        """For how many seconds this pod runs."""
        place = zlib.crc32(pod["metadata"]["name"].encode()) % 1000 / 500 - 1
        return self.run_seconds * (1 + self.run_spread * place)

    def fails(self, pod: Mapping[str, Any]) -> bool:
        """Whether this pod is one of those that fail."""
        meta = pod["metadata"]
        if (meta.get("labels") or {}).get("agentbench.dev/role") != "run":
            return False
        return zlib.crc32(meta["name"].encode()) % 100 < self.failures

    def says(self, pod: Mapping[str, Any], container: str) -> str:
        """The termination message of a container."""
        if self.message and container == self.message_of:
            return self.message
        notes = pod["metadata"].get("annotations") or {}
        messages = self.failure_messages if self.fails(pod) else self.messages
        text = messages.get(container, "")
        for word in ("run", "attempt"):
            text = text.replace(f"{{{word}}}", notes.get(f"agentbench.dev/{word}", ""))
        return text

    def of(self, pod: Mapping[str, Any]) -> Script:
        """This script, with what the pod's own annotations say instead."""
        notes = pod["metadata"].get("annotations") or {}

        def note(name: str, default: Any) -> Any:
            return notes.get(PREFIX + name, default)

        return replace(
            self,
            run_seconds=float(note("run-seconds", self.run_seconds)),
            exit_code=int(note("exit-code", self.exit_code)),
            message=str(note("message", self.message)),
        )


def running(pod: Mapping[str, Any], now: str, ip: str) -> dict[str, Any]:
    """The status of a pod whose main containers have just started."""
    spec = pod["spec"]
    going = {"running": {"startedAt": now}}
    done = {"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": now,
                           "finishedAt": now}}  # fmt: skip
    return {
        "phase": "Running",
        "startTime": now,
        "hostIP": ip,
        "podIP": ip,
        "podIPs": [{"ip": ip}],
        "conditions": _conditions("True", now),
        "initContainerStatuses": [
            _container(one, going if _sidecar(one) else done)
            for one in spec.get("initContainers") or ()
        ],
        "containerStatuses": [_container(one, going) for one in spec["containers"]],
    }


def ended(pod: Mapping[str, Any], script: Script, began: str, now: str) -> dict[str, Any]:
    """The status of a pod whose main containers, and then its sidecars, have ended."""

    def last(one: Mapping[str, Any], code: int) -> dict[str, Any]:
        state: dict[str, Any] = {
            "exitCode": code,
            "reason": "Error" if code else "Completed",
            "startedAt": began,
            "finishedAt": now,
        }
        if message := script.says(pod, one["name"]):
            state["message"] = message
        return _container(one, {"terminated": state})

    spec = pod["spec"]
    fails = script.fails(pod)
    why = {"reason": script.failure_reason, "message": script.failure_message} if fails else {}
    return {
        **why,
        "phase": "Failed" if script.exit_code or fails else "Succeeded",
        "conditions": _conditions("False", now),
        "initContainerStatuses": [last(one, 0) for one in spec.get("initContainers") or ()],
        "containerStatuses": [last(one, script.exit_code) for one in spec["containers"]],
    }


def node(name: str, ip: str, now: str) -> dict[str, Any]:
    """A Node object with room for whatever a scale test wants."""
    room = {"cpu": "1000", "memory": "4Ti", "pods": "5000", "ephemeral-storage": "100Ti"}
    quiet = ("MemoryPressure", "DiskPressure", "PIDPressure")
    states = {"Ready": "True", **dict.fromkeys(quiet, "False")}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {
                "agentbench.dev/node-class": "simulated",
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
            },
        },
        "spec": {
            "taints": [{"key": "agentbench.dev/simulated", "value": "true", "effect": "NoSchedule"}]
        },
        "status": {
            "capacity": room,
            "allocatable": room,
            "addresses": [{"type": "InternalIP", "address": ip}],
            "nodeInfo": {
                "machineID": name,
                "systemUUID": name,
                "bootID": name,
                "kernelVersion": "simulated",
                "osImage": "simulated",
                "containerRuntimeVersion": "simulated://1",
                "kubeletVersion": "v1.34.0-simulated",
                "kubeProxyVersion": "",
                "operatingSystem": "linux",
                "architecture": "amd64",
            },
            "conditions": [
                {
                    "type": kind,
                    "status": state,
                    "reason": "Simulated",
                    "message": "",
                    "lastHeartbeatTime": now,
                    "lastTransitionTime": now,
                }
                for kind, state in states.items()
            ],
        },
    }


def _sidecar(container: Mapping[str, Any]) -> bool:
    return container.get("restartPolicy") == "Always"


def _container(container: Mapping[str, Any], state: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": container["name"],
        "image": container["image"],
        "imageID": container["image"],
        "containerID": f"simulated://{container['name']}",
        "restartCount": 0,
        "ready": "running" in state,
        "started": "running" in state,
        "state": state,
    }


def _conditions(ready: str, now: str) -> list[dict[str, Any]]:
    states = {
        "PodScheduled": "True",
        "Initialized": "True",
        "PodReadyToStartContainers": ready,
        "ContainersReady": ready,
        "Ready": ready,
    }
    return [
        {"type": kind, "status": state, "lastTransitionTime": now} for kind, state in states.items()
    ]
