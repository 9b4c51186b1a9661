"""The objects of one kind as they were last seen: by a list, and by watching from there on.

A cache may lag, and knows it: it never goes back behind what this process wrote or asked for
itself without saying so, and a list every few minutes drops what no event told of. Whoever is
about to do what cannot be undone asks the API server again (`refresh`).
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, Generic, Protocol, TypeVar

from agentbench.kube.cluster import Cluster
from agentbench.kube.errors import ClusterError, Expired, Missing, Retry

RELIST = 300.0  # seconds between lists
SHORT = 1.0  # seconds: a watch that ends sooner is not opened again at once
LONGEST_WAIT = 15.0

log = logging.getLogger(__name__)


class View(Protocol):
    """A view of an object: what a cache must know of it."""

    @property
    def name(self) -> str:
        """Its name in its namespace."""

    @property
    def uid(self) -> str:
        """Its uid."""


V = TypeVar("V", bound=View)
Changed = Callable[[V | None, V | None], None]
"""Told of each change: the view before and after, None where there is none."""


class Watched(Generic[V]):
    """A cache of one kind in one namespace (or all, if it is empty)."""

    def __init__(
        self,
        cluster: Cluster,
        kind: str,
        read: Callable[[Mapping[str, Any]], V],
        changed: Changed[V],
        *,
        namespace: str = "",
        labels: str = "",
        heard: Callable[[], None] = lambda: None,
    ) -> None:
        self.ready = asyncio.Event()
        self._cluster = cluster
        self._kind = kind
        self._read = read
        self._changed = changed
        self._namespace = namespace
        self._labels = labels
        self._heard = heard
        self._seen: dict[tuple[str, str], V] = {}
        self._noted: set[tuple[str, str]] = set()

    def __len__(self) -> int:
        return len(self._seen)

    async def run(self) -> None:
        """Keep the cache for ever."""
        wait = SHORT
        while True:
            try:
                version = await self._list()
                self.ready.set()
                wait = SHORT
                await self._follow(version)
            except Expired:
                await asyncio.sleep(SHORT)
            except ClusterError as error:
                log.warning("watching %s: %s", self._kind, error)
                await asyncio.sleep(wait)
                wait = min(2 * wait, LONGEST_WAIT)

    def note(self, raw: Mapping[str, Any]) -> V:
        """Take in an object that this process has just created or read."""
        key = _key(raw)
        self._noted.add(key)
        return self._put(key, self._read(raw))

    async def refresh(self, namespace: str, name: str) -> V | None:
        """Ask the API server for one object, and take in what it says."""
        try:
            return self.note(await self._cluster.get(self._kind, namespace, name))
        except Missing:
            self._drop((namespace, name))
            return None

    async def _list(self) -> str:
        """Take in all objects; gives the version from which to watch."""
        self._noted.clear()
        found: set[tuple[str, str]] = set()
        version = ""
        pages = self._cluster.pages(self._kind, self._namespace, labels=self._labels)
        async for page in pages:
            version = page["metadata"]["resourceVersion"]
            for raw in page["items"]:
                key = _key(raw)
                found.add(key)
                if key not in self._noted:  # what was read since then is newer
                    self._put(key, self._read(raw))
        for key in self._seen.keys() - found - self._noted:
            self._drop(key)
        self._heard()
        return version

    async def _follow(self, version: str) -> None:
        """Watch, until it is time to list again."""
        listed = time.monotonic()
        while (began := time.monotonic()) - listed < RELIST:
            with contextlib.suppress(Retry):  # a watch is taken up where it broke off
                async for kind, raw in self._cluster.watch(
                    self._kind, self._namespace, labels=self._labels, version=version
                ):
                    version = raw["metadata"]["resourceVersion"]
                    self._heard()
                    if kind == "DELETED":
                        self._deleted(raw)
                    elif kind != "BOOKMARK":
                        self._put(_key(raw), self._read(raw))
            if time.monotonic() - began < SHORT:
                await asyncio.sleep(SHORT)

    def _deleted(self, raw: Mapping[str, Any]) -> None:
        key = _key(raw)
        there = self._seen.get(key)
        if there is not None and there.uid == raw["metadata"]["uid"]:
            self._drop(key)

    def _put(self, key: tuple[str, str], view: V) -> V:
        old = self._seen.get(key)
        self._seen[key] = view
        if view != old:
            self._changed(old, view)
        return view

    def _drop(self, key: tuple[str, str]) -> None:
        old = self._seen.pop(key, None)
        if old is not None:
            self._changed(old, None)


def _key(raw: Mapping[str, Any]) -> tuple[str, str]:
    meta = raw["metadata"]
    return meta.get("namespace", ""), meta["name"]
