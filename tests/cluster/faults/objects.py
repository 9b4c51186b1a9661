"""What people and controllers do to objects behind an operator's back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tests.cluster.lab.api import Api, Object
from tests.cluster.lab.shell import ClusterError, wait


def pods_path(namespace: str, name: str = "") -> str:
    """The path of a pod, or of a namespace's pods."""
    return f"/api/v1/namespaces/{namespace}/pods" + (f"/{name}" if name else "")


def evict(api: Api, namespace: str, name: str, grace: int | None = None) -> None:
    """Evict a pod as a drain does: through the API that honours disruption budgets."""
    options = {} if grace is None else {"deleteOptions": {"gracePeriodSeconds": grace}}
    body = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": name, "namespace": namespace},
        **options,
    }
    api.create(f"{pods_path(namespace, name)}/eviction", body)


def when(
    api: Api, path: str, name: str, holds: Callable[[Object], bool], seconds: float = 60
) -> Object:
    """Return the object as it was in the first moment in which `holds` was true of it.

    Watches, so that a state of a few milliseconds is not missed.

    Raises:
        ClusterError: it was not within `seconds`.
    """
    stop = threading.Event()
    timer = threading.Timer(seconds, stop.set)
    timer.start()
    selected = f"{path}?fieldSelector=metadata.name%3D{name}"
    try:
        while not stop.is_set():
            listed = api.get(selected)
            for item in listed["items"]:
                if holds(item):
                    return dict(item)
            version = listed["metadata"]["resourceVersion"]
            for event in api.watch(selected, version, stop, seconds=max(1, int(seconds))):
                if event["type"] != "DELETED" and holds(event["object"]):
                    return dict(event["object"])
    finally:
        timer.cancel()
    raise ClusterError(f"{path}/{name} did not come to the awaited state in {seconds:.0f} s")


def delete_at(
    api: Api, namespace: str, name: str, phase: str, grace: int | None = None, seconds: float = 60
) -> Object:
    """Delete a pod in the moment it reaches a phase; returns the pod as it was then.

    Raises:
        ClusterError: it never did.
    """
    path = pods_path(namespace)
    pod = when(api, path, name, lambda pod: pod.get("status", {}).get("phase") == phase, seconds)
    api.delete(pods_path(namespace, name), grace)
    return pod


@contextmanager
def quota(api: Api, namespace: str, name: str = "no-more", **hard: str) -> Iterator[None]:
    """Hold a ResourceQuota over a namespace while the block lasts: `quota(api, ns, pods="0")`."""
    path = f"/api/v1/namespaces/{namespace}/resourcequotas"
    spec: Mapping[str, Any] = {"hard": {key.replace("__", "/"): v for key, v in hard.items()}}
    body = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }
    api.create(path, body)

    def counted() -> bool:
        # Until it has counted what is there, the API server lets nothing be created at all.
        return "hard" in api.get(f"{path}/{name}").get("status", {})

    try:
        wait(f"the quota {name} to be in force", counted, 30)
        yield
    finally:
        api.delete(f"{path}/{name}")
