"""What a user without the operator would run: plain Jobs, as many at a time, on the same nodes."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.cluster.lab.api import Api
from tests.cluster.lab.handle import Cluster
from tests.cluster.simulated.kubelet import NODE_CLASS, TOLERATION

KINDS = ("indexed", "jobs")


def run(cluster: Cluster, namespace: str, kind: str, runs: int, parallelism: int) -> dict[str, Any]:
    """Run one pod per run: as one Indexed Job, or as a Job each by a loop that keeps so many."""
    began = time.monotonic()
    if kind == "indexed":
        _indexed(cluster, namespace, runs, parallelism)
    else:
        _each(cluster, namespace, runs, parallelism)
    took = time.monotonic() - began
    return {
        "runs": runs,
        "parallelism": parallelism,
        "beside": kind,
        "seconds": round(took, 1),
        "runsPerSecond": round(runs / took, 2),
    }


def _job(name: str, completions: int, parallelism: int) -> dict[str, Any]:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {
            "completionMode": "Indexed",
            "completions": completions,
            "parallelism": parallelism,
            "template": {
                "spec": {
                    "restartPolicy": "Never",
                    "nodeSelector": NODE_CLASS,
                    "tolerations": [TOLERATION],
                    "containers": [{"name": "main", "image": "none", "command": ["never"]}],
                }
            },
        },
    }


def _indexed(cluster: Cluster, namespace: str, runs: int, parallelism: int) -> None:
    path = f"/apis/batch/v1/namespaces/{namespace}/jobs"
    cluster.api.create(path, _job("all", runs, parallelism))
    while cluster.api.get(f"{path}/all").get("status", {}).get("succeeded", 0) < runs:
        time.sleep(1)


def _each(cluster: Cluster, namespace: str, runs: int, parallelism: int) -> None:
    """A loop as people write it: create a Job while fewer than so many are unfinished."""
    path = f"/apis/batch/v1/namespaces/{namespace}/jobs"
    free, stop = threading.Semaphore(parallelism), threading.Event()
    over: set[str] = set()
    api = Api(cluster.slot)
    version = api.get(path)["metadata"]["resourceVersion"]

    def watch() -> None:
        at = version
        while not stop.is_set() and len(over) < runs:
            for event in api.watch(path, at, stop, seconds=240):
                job = event["object"]
                at = job["metadata"]["resourceVersion"]
                name = job["metadata"]["name"]
                if job.get("status", {}).get("succeeded") and name not in over:
                    over.add(name)
                    free.release()
                    removing.submit(
                        api.request, "DELETE", f"{path}/{name}", {"propagationPolicy": "Background"}
                    )
                if len(over) == runs:
                    return

    with ThreadPoolExecutor(8) as removing:
        watching = threading.Thread(target=watch)
        watching.start()
        for number in range(runs):
            free.acquire()
            api.create(path, _job(f"run-{number}", 1, 1))
        watching.join()
        stop.set()
