"""One campaign, its operator, its nodes and its store, all in memory."""

import asyncio
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, cast

import prometheus_client
from tests.fakes.api_objects import Client, Death, Killed, Objects, Raw
from tests.fakes.kubelets import Kubelets
from tests.fakes.local_pack import TinyPack
from tests.fakes.memory_store import MemoryStore

from agentbench.app.metrics import Metrics
from agentbench.app.reconcile import Reconciler
from agentbench.app.settings import Settings
from agentbench.app.stores import Stores
from agentbench.app.world import World as Caches
from agentbench.core.digest import digest
from agentbench.core.keys import rows_prefix
from agentbench.core.steps import Patience
from agentbench.kube.cluster import Cluster
from agentbench.kube.errors import Retry
from agentbench.kube.settings import Place

NAME, NAMESPACE = "tiny", "ns"
PLACE = Place(
    image="pod@sha256:1", gateway="10.0.0.1:3128", forbidden="10.0.0.2:443", namespace="system"
)


@cache
def frozen(repeats: int) -> tuple[Mapping[str, Any], Mapping[str, bytes]]:
    """The spec of a small campaign, and what the store holds before its first run."""
    store = MemoryStore()
    with tempfile.TemporaryDirectory() as folder:
        drafted, manifest = TinyPack(folder=Path(folder), agents={"A1": "nop"}).freeze(
            cast(Any, store)
        )
    hexed = manifest.sha256.removeprefix("sha256:")
    store.create_only(f"bundles/{hexed}.json", manifest.encode())
    spec = drafted.model_dump(mode="json", by_alias=True, exclude_none=True)
    spec["protocol"] |= {"draft": False, "bundle": {"url": "s3://b", "sha256": manifest.sha256}}
    image = "registry.test/pod@sha256:" + "1" * 64
    spec["stacks"][0]["image"] = image
    spec["agents"][0]["images"] = {"S1": image}
    spec |= {"store": {"url": "s3://b"}, "repeats": repeats}
    spec["protocol"]["freeze"] = {
        "digest": digest(type(drafted).model_validate(spec)),
        "frozenAt": "2026-11-30T12:00:00Z",
    }
    return spec, dict(store.content)


@dataclass
class _OneStore:
    """Opens the same store for every campaign."""

    store: MemoryStore

    async def open(self, _: object) -> MemoryStore:
        return self.store

    async def require_model_keys(self, _: object) -> None:
        return None


class Glimpses(Caches):
    """The operator's caches, which see what there is only when they are told to look."""

    async def look(self) -> None:
        """List everything, as a watch that is up to date would have told it."""
        for each in (self._nodes, *(one for pair in self._watched.values() for one in pair)):
            await each._list()
            each.ready.set()


@dataclass
class World:
    """Everything; the operator is one process after another."""

    parallelism: int = 2
    repeats: int = 3
    objects: Objects = field(default_factory=Objects)
    store: MemoryStore = field(default_factory=MemoryStore)
    late: list[Callable[[], object]] = field(default_factory=list)
    loop: asyncio.AbstractEventLoop | None = None

    def __post_init__(self) -> None:
        spec, content = frozen(self.repeats)
        self.store.content |= content
        self.objects.create(
            {
                "apiVersion": "agentbench.dev/v1alpha1",
                "kind": "BenchmarkCampaign",
                "metadata": {"namespace": NAMESPACE, "name": NAME, "generation": 1},
                "spec": {**spec, "parallelism": self.parallelism},
            }
        )
        self.kubelets = Kubelets(self.objects, self.store, NAME)
        self.kubelets.node_is(True)
        self.restart()

    def close(self) -> None:
        """The end of the last process."""
        if self.loop is not None:
            self.loop.run_until_complete(self.loop.shutdown_default_executor())
            self.loop.close()
            self.loop = None

    @property
    def campaign(self) -> Raw:
        """The campaign's object."""
        return self.objects.of("BenchmarkCampaign")[NAMESPACE, NAME]

    def restart(self) -> None:
        """A new process: it knows nothing."""
        self.close()
        self.loop, self.looked = asyncio.new_event_loop(), False
        client = Client(self.objects, self.late)
        store = MemoryStore(self.store.content, client.write)
        settings = Settings(
            place=PLACE,
            gateway_key=b"0" * 32,
            patience=Patience(image_pull=100, unschedulable=100, quota=100, other=100),
        )
        self.client = client
        self.caches = Glimpses(cast(Cluster, client))
        self.reconciler = Reconciler(
            cast(Cluster, client),
            settings,
            cast(Stores, _OneStore(store)),
            self.caches,
            Metrics(prometheus_client.CollectorRegistry()),
            lambda: self.objects.now,
        )

    def tick(self, death: Death | None = None, *, late: bool = False) -> bool:
        """One tick, in which the operator may die; whether it lives.

        Where `late`, its watches have told it nothing since the last tick.
        """
        self.objects.passes(1)
        assert self.loop is not None
        try:
            status = self.loop.run_until_complete(self._tick(death, late))
        except Killed:
            self.restart()
            return False
        except Retry:
            return True
        finally:
            self.client.death = None
        self.campaign["status"] = status
        return True

    async def _tick(self, death: Death | None, late: bool) -> Raw:
        if not late or not self.looked:
            await self.caches.look()
            self.looked = True
        self.client.death = death
        for held in self.reconciler.holder.held.values():
            held.looked = 0.0  # the time to look at every attempt has come
        return await self.reconciler.tick(self.campaign)

    def live(self) -> list[Raw]:
        """The run pods that may be running."""
        final = ("Succeeded", "Failed")
        return [p for p in self.objects.pods("run") if p["status"].get("phase") not in final]

    def rows(self) -> dict[str, bytes]:
        """Rows by `RUN/ATTEMPT.json`."""
        prefix = rows_prefix(NAME)
        return {
            key.removeprefix(prefix): self.store.content[key] for key in self.store.list(prefix)
        }

    def phase(self) -> str:
        """The campaign's phase."""
        return str(self.campaign.get("status", {}).get("phase", ""))

    def settle(self, ticks: int = 400) -> None:
        """Heal what people can, and let it go on until the campaign is complete."""
        self.objects.pods_are_denied = False
        if not self.kubelets.ready:
            self.kubelets.node_is(True)
        self.complete(ticks)

    def complete(self, ticks: int = 400) -> None:
        """Let everything go on, as it is, until the campaign is complete."""
        for _ in range(ticks):
            self.tick()
            self.kubelets.controllers()
            for pod in list(self.objects.of("Pod").values()):
                self.kubelets.step(pod)
            if self.phase() == "Complete" and self.tick():
                return
        conditions = self.campaign.get("status", {}).get("conditions")
        raise AssertionError(f"not complete after {ticks} ticks: {conditions}")
