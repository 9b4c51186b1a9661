"""An API server in memory: objects by kind, and clients of it that can die at any request.

It knows what the operator relies on: names are unique, deletes carry uids, what is owned goes with
its owner, a pod on a node goes only when that node lets it go, or by force.
"""

import copy
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from agentbench.kube.errors import Missing, QuotaDenied, Taken
from agentbench.store.port import Conflict

Raw = dict[str, Any]
Name = tuple[str, str]


class Killed(BaseException):
    """The process is gone; no code of it runs any more."""


@dataclass
class Objects:
    """All objects, and the server's clock."""

    now: datetime = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
    kinds: dict[str, dict[Name, Raw]] = field(default_factory=dict)
    pods_are_denied: bool = False
    made: list[Raw] = field(default_factory=list)
    """Every run pod that was ever created, as it was then."""
    _count: int = 0

    def of(self, kind: str) -> dict[Name, Raw]:
        return self.kinds.setdefault(kind, {})

    def pods(self, role: str) -> list[Raw]:
        return [
            pod
            for pod in self.of("Pod").values()
            if pod["metadata"]["labels"]["agentbench.dev/role"] == role
        ]

    def create(self, manifest: Raw) -> Raw:
        meta = manifest["metadata"]
        kind, name = manifest["kind"], (meta.get("namespace", ""), meta["name"])
        if name in self.of(kind):
            raise Taken(f"{kind} {name} is there")
        if kind == "Pod" and self.pods_are_denied:
            raise QuotaDenied("exceeded quota")
        self._count += 1
        made = copy.deepcopy(manifest)
        made["metadata"] |= {"uid": f"uid-{self._count}", "creationTimestamp": self.text()}
        made.setdefault("status", {})
        self.of(kind)[name] = made
        if kind == "Pod" and meta["labels"]["agentbench.dev/role"] == "run":
            self.made.append(copy.deepcopy(made))
        return copy.deepcopy(made)

    def delete(
        self, kind: str, name: Name, uid: str | None = None, grace: int | None = None
    ) -> None:
        """Ask a pod's node to end it; with a grace of 0 the object goes, whatever the node does."""
        found = self.of(kind).get(name)
        if found is None or (uid and found["metadata"]["uid"] != uid):
            return
        if kind == "Pod" and found["spec"].get("nodeName") and grace != 0:
            found["metadata"].setdefault("deletionTimestamp", self.text())
        else:
            self.remove(kind, name)

    def remove(self, kind: str, name: Name) -> None:
        """Take an object away, and everything that it owns."""
        gone = self.of(kind).pop(name, None)
        if gone is None:
            return
        uid = gone["metadata"]["uid"]
        for other, objects in self.kinds.items():
            for key, each in list(objects.items()):
                owners = each["metadata"].get("ownerReferences") or ()
                if any(owner["uid"] == uid for owner in owners):
                    self.delete(other, key)

    def text(self) -> str:
        return self.now.strftime("%Y-%m-%dT%H:%M:%SZ")

    def passes(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


How = Literal["before", "after", "late"]
"""When a process dies: before a write is done, after it, or while it is still on its way."""


@dataclass
class Death:
    """The write at which a process dies, counted from 0."""

    at: int
    how: How


class Client:
    """The operator's port to the API server, with the life of one process.

    Every write counts, those to the store too: `alive` is called around each.
    """

    def __init__(self, objects: Objects, late: list[Callable[[], object]]) -> None:
        self.objects = objects
        self.death: Death | None = None
        self._late = late  # writes of a process that is dead, still on their way
        self._dead = False
        self._reads = 0

    def write(self, act: Callable[[], Any]) -> Any:
        """Do a write, or die at it."""
        self._alive()
        if self.death is None:
            return act()
        if self.death.at:
            self.death.at -= 1
            return act()
        self._dead = True
        if self.death.how == "after":
            act()
        elif self.death.how == "late":
            self._late.append(act)
        raise Killed

    def _alive(self) -> None:
        if self._dead:
            raise Killed

    def _read(self) -> None:
        self._alive()
        self._reads += 1
        if self._reads > 3:  # what a dead process had sent arrives while this one looks around
            while self._late:
                with suppress(Taken, Missing, QuotaDenied, Conflict):
                    self._late.pop(0)()

    async def get(self, kind: str, namespace: str, name: str) -> Raw:
        self._read()
        found = self.objects.of(kind).get((namespace, name))
        if found is None:
            raise Missing(f"no {kind} {name}")
        return copy.deepcopy(found)

    async def list(
        self, kind: str, namespace: str = "", *, labels: str = "", limit: int = 500
    ) -> AsyncIterator[Raw]:
        async for page in self.pages(kind, namespace, labels=labels, limit=limit):
            for item in page["items"]:
                yield item

    async def pages(
        self, kind: str, namespace: str = "", *, labels: str = "", limit: int = 500
    ) -> AsyncIterator[Raw]:
        self._read()
        label, _, value = labels.partition("=")

        def chosen(raw: Raw) -> bool:
            found = (raw["metadata"].get("labels") or {}).get(label)
            return not labels or (found == value if value else found is not None)

        items = [copy.deepcopy(one) for one in self.objects.of(kind).values() if chosen(one)]
        yield {"metadata": {"resourceVersion": "1"}, "items": items}

    async def create(self, manifest: Raw) -> Raw:
        if manifest["kind"] == "Event":  # nothing is decided by one
            self._alive()
            return manifest
        made: Raw = self.write(lambda: self.objects.create(manifest))
        return made

    async def delete(
        self,
        kind: str,
        namespace: str,
        name: str,
        uid: str | None = None,
        *,
        grace: int | None = None,
    ) -> None:
        self.write(lambda: self.objects.delete(kind, (namespace, name), uid, grace))

    async def patch_status(
        self, kind: str, namespace: str, name: str, status: Mapping[str, Any]
    ) -> Raw:
        def act() -> Raw:
            found = self.objects.of(kind).get((namespace, name))
            if found is None:
                raise Missing(f"no {kind} {name}")
            found["status"] = found.get("status", {}) | copy.deepcopy(dict(status))
            return found

        patched: Raw = self.write(act)
        return patched
