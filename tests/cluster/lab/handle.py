"""A running cluster in the hands of a test: what tests do all day, in one place."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.cluster.lab import images, kube, stores
from tests.cluster.lab.api import Api, Object
from tests.cluster.lab.s3 import s3_client
from tests.cluster.lab.shell import ClusterError, wait
from tests.cluster.lab.slot import Slot

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

FINAL = ("Succeeded", "Failed")
RESTRICTED: Mapping[str, Any] = {
    "runAsNonRoot": True,
    "runAsUser": 1000,
    "seccompProfile": {"type": "RuntimeDefault"},
}


@dataclass(frozen=True)
class Cluster:
    """The cluster of this checkout."""

    slot: Slot

    @cached_property
    def api(self) -> Api:
        """Requests as the administrator."""
        return Api(self.slot)

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return kube.kubeconfig(self.slot)

    @property
    def programs(self) -> dict[str, Path]:
        """The programs the cluster was started with, by name."""
        return kube.linked_programs(self.slot)

    def kubectl(self, *words: object, text: str | None = None, check: bool = True) -> str:
        """Run kubectl and return what it printed."""
        return kube.kubectl(self.slot, *words, text=text, check=check)

    def helm(self, *words: object) -> str:
        """Run helm and return what it printed."""
        return kube.helm(self.slot, *words)

    def s3(self, endpoint: str | None = None) -> S3Client:
        """A client of the S3 store, or of a proxy before it."""
        return s3_client(endpoint or stores.versitygw(self.slot).endpoint)

    def run(
        self,
        namespace: str,
        name: str,
        command: Sequence[str],
        image: str = "python",
        spec: Mapping[str, Any] | None = None,
        container: Mapping[str, Any] | None = None,
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
    ) -> Object:
        """Create a pod of one container, `main`, that runs a command once."""
        main = {
            "name": "main",
            "image": images.name_of(image) if "/" not in image else image,
            "imagePullPolicy": "IfNotPresent",
            "command": list(command),
            "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}},
            **(container or {}),
        }
        body = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "labels": dict(labels or {}),
                "annotations": dict(annotations or {}),
            },
            "spec": {
                "restartPolicy": "Never",
                "terminationGracePeriodSeconds": 1,
                "automountServiceAccountToken": False,
                "containers": [main],
                **(spec or {}),
            },
        }
        return self.api.create(f"/api/v1/namespaces/{namespace}/pods", body)

    def pod(self, namespace: str, name: str) -> Object:
        """A pod as it is now."""
        found: Object = self.api.get(f"/api/v1/namespaces/{namespace}/pods/{name}")
        return found

    def wait_phase(self, namespace: str, name: str, *phases: str, seconds: float = 90) -> Object:
        """Return a pod as soon as it is in one of these phases.

        Raises:
            ClusterError: it was not within `seconds`, or it ended in another one.
        """
        wanted = phases or FINAL
        deadline = time.monotonic() + seconds
        while True:
            pod = self.pod(namespace, name)
            phase = pod["status"].get("phase")
            if phase in wanted:
                return pod
            if phase in FINAL or time.monotonic() > deadline:
                states = {one["name"]: one["state"] for one in _containers(pod)}
                said = self.kubectl("-n", namespace, "logs", name, "--all-containers", check=False)
                raise ClusterError(
                    f"pod {name} is {phase}, not {' or '.join(wanted)}:\n"
                    f"{json.dumps(states, indent=1)}\n{said[-2000:]}"
                )
            time.sleep(0.1)

    def output(self, namespace: str, name: str, container: str = "main") -> str:
        """What a container printed."""
        text = self.api.get(f"/api/v1/namespaces/{namespace}/pods/{name}/log?container={container}")
        return text if isinstance(text, str) else json.dumps(text)

    def answer(
        self, namespace: str, name: str, command: Sequence[str], image: str = "python", **rest: Any
    ) -> str:
        """Run a pod to its good end and return what it printed.

        Raises:
            ClusterError: it failed.
        """
        self.run(namespace, name, command, image, **rest)
        self.wait_phase(namespace, name, "Succeeded")
        return self.output(namespace, name)

    def wait_event(self, namespace: str, name: str, reason: str, seconds: float = 60) -> Object:
        """Return the first event of a reason about an object as soon as there is one.

        Raises:
            ClusterError: there was none within `seconds`.
        """
        chosen = f"involvedObject.name%3D{name}%2Creason%3D{reason}"
        path = f"/api/v1/namespaces/{namespace}/events?fieldSelector={chosen}"
        found: list[Object] = []

        def told() -> bool:
            found.extend(self.api.get(path)["items"])
            return bool(found)

        wait(f"an event {reason} about {name}", told, seconds)
        return found[0]

    def wait_gone(self, namespace: str, name: str, seconds: float = 60) -> None:
        """Wait until there is no such pod.

        Raises:
            ClusterError: there still is, after `seconds`.
        """
        path = f"/api/v1/namespaces/{namespace}/pods?fieldSelector=metadata.name%3D{name}"
        wait(f"the end of pod {name}", lambda: not self.api.get(path)["items"], seconds)

    def story(self, namespace: str) -> str:
        """Events, pods and the logs of an operator in a namespace, for a failure's report."""
        parts = []
        for words in (
            ("get", "nodes,pods", "-A", "-o", "wide"),
            ("-n", namespace, "get", "events", "--sort-by=.lastTimestamp"),
            ("-n", namespace, "describe", "pods"),
        ):
            parts.append(f"$ kubectl {' '.join(words)}\n{self.kubectl(*words, check=False)}")
        chosen = ("-l", "app.kubernetes.io/name=agent-bench", "--tail=200", "--prefix")
        operator = self.kubectl("-n", namespace, "logs", *chosen, check=False)
        if operator.strip():
            parts.append(f"the operator's log\n{operator}")
        return "\n\n".join(part[-12_000:] for part in parts)


def _containers(pod: Object) -> list[Object]:
    status = pod["status"]
    return [*status.get("initContainerStatuses", ()), *status.get("containerStatuses", ())]
