"""Simulated nodes: a fake kubelet takes the pods of class `simulated` to their phases.

For scale: everything but the containers is real, so thousands of runs can go through the real API
server, scheduler and controllers on two cores. One process plays all simulated nodes.
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import aiohttp
from tests.cluster.faults import serving
from tests.cluster.faults.daemon import Remote, running
from tests.cluster.lab.api import Api
from tests.cluster.lab.shell import wait
from tests.cluster.lab.slot import Slot
from tests.cluster.simulated import phases
from tests.cluster.simulated.phases import Script

IN_FLIGHT = 32
_LEASE_SECONDS = 20
_RENEW_SECONDS = 2
_MERGE = {"Content-Type": "application/strategic-merge-patch+json"}
_LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"

NODE_CLASS = {"agentbench.dev/node-class": "simulated"}
TOLERATION = {"key": "agentbench.dev/simulated", "operator": "Exists", "effect": "NoSchedule"}


class SimulatedNodes:
    """The simulated nodes of a cluster; pods reach them by `NODE_CLASS` and `TOLERATION`."""

    def __init__(self, remote: Remote, names: list[str]) -> None:
        self._remote = remote
        self.names = names

    def script(self, **words: float | int | str | Mapping[str, str]) -> None:
        """Say how pods go from now on; see `Script`."""
        self._remote.order("script", **words)

    def counts(self) -> dict[str, int]:
        """How many pods were started, ended and removed so far."""
        found: dict[str, int] = self._remote.order("counts")
        return found


@contextmanager
def simulated_nodes(
    slot: Slot, count: int = 4, **script: float | int | str | Mapping[str, str]
) -> Iterator[SimulatedNodes]:
    """Add simulated nodes to the cluster while the block lasts."""
    names = [f"simulated-{number}" for number in range(count)]
    api = Api(slot)
    settings: dict[str, str | int] = {
        "server": f"https://{slot.control_ip}:6443",
        "pki": str(slot.pki),
        "count": count,
    }
    try:
        with running(slot, "simulated.kubelet", slot.simulator_ip, **settings) as remote:
            nodes = SimulatedNodes(remote, names)
            nodes.script(**script)

            def ready() -> bool:
                found = [
                    n for n in api.get("/api/v1/nodes")["items"] if n["metadata"]["name"] in names
                ]
                # The taint of a node that was not ready yet goes a moment after it is.
                return [len(n["spec"].get("taints", ())) for n in found] == [1] * count

            wait("the simulated nodes", ready, 60)
            yield nodes
    finally:
        for name in names:
            api.delete(f"/api/v1/nodes/{name}")
            api.delete(f"{_LEASES}/{name}")


class Kubelet:
    """Plays the kubelets of all simulated nodes over one connection pool."""

    def __init__(self, session: aiohttp.ClientSession, ip: str, count: int) -> None:
        self._session, self._ip = session, ip
        self._names = [f"simulated-{number}" for number in range(count)]
        self._limit = asyncio.Semaphore(IN_FLIGHT)
        self._script = Script()
        self._known: dict[str, asyncio.Task[None]] = {}
        self._leaving: set[str] = set()
        self._counts = {"started": 0, "ended": 0, "removed": 0}

    async def set_script(self, order: dict[str, Any]) -> object:
        """Change how pods go."""
        self._script = replace(self._script, **order)
        return {}

    async def tell(self, _: dict[str, Any]) -> object:
        """The counts so far."""
        return self._counts

    async def join(self) -> None:
        """Make the Node objects and their leases."""
        for name in self._names:
            await self._request("POST", "/api/v1/nodes", phases.node(name, self._ip, _now()))
            await self._request("POST", _LEASES, self._lease(name))

    async def renew(self) -> None:
        """Renew the leases for ever; a node must not look dead because its pods keep it busy."""
        while True:
            spec = {"spec": {"renewTime": _now(micro=True)}}
            await asyncio.gather(
                *(self._send("PATCH", f"{_LEASES}/{name}", spec) for name in self._names)
            )
            await asyncio.sleep(_RENEW_SECONDS)

    async def watch(self) -> None:
        """Take every pod on a simulated node to its phases, for ever."""
        version = ""
        while True:
            if not version:
                listed = await self._request("GET", "/api/v1/pods") or {}
                for pod in listed.get("items", ()):
                    self._meet(pod)
                version = listed.get("metadata", {}).get("resourceVersion", "")
            version = await self._events(version)

    async def _events(self, version: str) -> str:
        path = f"/api/v1/pods?watch=1&resourceVersion={version}&timeoutSeconds=240"
        try:
            async with self._session.get(path) as answer:
                if answer.status != 200:
                    return ""
                async for line in answer.content:
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        return ""
                    version = event["object"]["metadata"]["resourceVersion"]
                    if event["type"] == "DELETED":
                        self._forget(event["object"]["metadata"]["uid"])
                    else:
                        self._meet(event["object"])
        except (aiohttp.ClientError, TimeoutError):
            await asyncio.sleep(0.2)
        return version

    def _meet(self, pod: Mapping[str, Any]) -> None:
        meta, spec = pod["metadata"], pod["spec"]
        if spec.get("nodeName") not in self._names:
            return
        uid = meta["uid"]
        if meta.get("deletionTimestamp"):
            if uid not in self._leaving:
                self._leaving.add(uid)
                self._keep(uid, self._remove(pod))
        elif uid not in self._known and pod["status"].get("phase") in ("Pending", "Running"):
            self._keep(uid, self._play(pod))

    def _keep(self, uid: str, work: Any) -> None:
        if (old := self._known.get(uid)) is not None:
            old.cancel()
        self._known[uid] = asyncio.ensure_future(work)

    def _forget(self, uid: str) -> None:
        self._leaving.discard(uid)
        if (task := self._known.pop(uid, None)) is not None:
            task.cancel()

    async def _play(self, pod: Mapping[str, Any]) -> None:
        script = self._script.of(pod)
        await asyncio.sleep(script.start_seconds)
        began = _now()
        await self._status(pod, phases.running(pod, began, self._ip))
        self._counts["started"] += 1
        await asyncio.sleep(script.lasts(pod))
        await self._status(pod, phases.ended(pod, script, began, _now()))
        self._counts["ended"] += 1

    async def _remove(self, pod: Mapping[str, Any]) -> None:
        uid = pod["metadata"]["uid"]
        body = {"gracePeriodSeconds": 0, "preconditions": {"uid": uid}}
        await self._request("DELETE", _path(pod), body)
        self._counts["removed"] += 1

    async def _status(self, pod: Mapping[str, Any], status: Mapping[str, Any]) -> None:
        await self._request("PATCH", f"{_path(pod)}/status", {"status": status})

    async def _request(self, method: str, path: str, body: object = None) -> Any:
        """Send a request until it is answered; a refusal is the API server's last word."""
        while True:
            async with self._limit:
                found = await self._send(method, path, body)
            if found is not None:
                return found
            await asyncio.sleep(0.2)

    async def _send(self, method: str, path: str, body: object) -> Any:
        """Send a request once; None if the API server is busy or did not answer."""
        headers = _MERGE if method == "PATCH" else None
        try:
            async with self._session.request(method, path, json=body, headers=headers) as answer:
                if answer.status not in (429, 500, 503):
                    return await answer.json()
        except (aiohttp.ClientError, TimeoutError):
            pass
        return None

    def _lease(self, name: str) -> dict[str, Any]:
        spec = {
            "holderIdentity": name,
            "leaseDurationSeconds": _LEASE_SECONDS,
            "renewTime": _now(micro=True),
        }
        return {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": name, "namespace": "kube-node-lease"},
            "spec": spec,
        }


def _path(pod: Mapping[str, Any]) -> str:
    meta = pod["metadata"]
    return f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"


def _now(*, micro: bool = False) -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ" if micro else "%Y-%m-%dT%H:%M:%SZ")


async def main() -> None:
    """Play the nodes, and obey orders."""
    words = serving.settings()
    context = ssl.create_default_context(cafile=f"{words['pki']}/ca.crt")
    context.load_cert_chain(f"{words['pki']}/admin.crt", f"{words['pki']}/admin.key")
    connector = aiohttp.TCPConnector(ssl=context, limit=IN_FLIGHT + 2)
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=10)
    async with aiohttp.ClientSession(
        words["server"], connector=connector, timeout=timeout
    ) as session:
        kubelet = Kubelet(session, words["listen"], words["count"])
        await kubelet.join()
        orders = {"script": kubelet.set_script, "counts": kubelet.tell}
        await asyncio.gather(kubelet.renew(), kubelet.watch(), serving.listen(words, orders))


if __name__ == "__main__":
    asyncio.run(main())
