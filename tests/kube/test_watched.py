"""A cache follows the API server, and never goes back behind what this process knows."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from agentbench.kube import watched
from agentbench.kube.cluster import Cluster
from agentbench.kube.errors import Denied, Expired, Missing, Retry
from agentbench.kube.view import RunView, run_view
from agentbench.kube.watched import Watched

Raw = dict[str, Any]
Script = list[tuple[str, Raw] | Exception]


def a_run(name: str, uid: str = "uid-1", run: str = "r1") -> Raw:
    return {
        "metadata": {"namespace": "n", "name": name, "uid": uid, "resourceVersion": "7"},
        "spec": {"run": run},
    }


@dataclass
class Server:
    """An API server that lists and tells what it was given, and then is silent."""

    lists: list[list[Raw] | Exception] = field(default_factory=list)
    watches: list[Script] = field(default_factory=list)
    objects: dict[str, Raw] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    listing: asyncio.Event | None = None

    async def pages(self, kind: str, namespace: str = "", **_: Any) -> AsyncIterator[Raw]:
        self.asked.append("list")
        found = self.lists.pop(0) if self.lists else []
        if self.listing is not None:
            await self.listing.wait()
        if isinstance(found, Exception):
            raise found
        for number in range(0, len(found), 2):
            page = {"items": found[number : number + 2], "metadata": {"resourceVersion": "5"}}
            yield page
        if not found:
            yield {"items": [], "metadata": {"resourceVersion": "5"}}

    async def watch(
        self, kind: str, namespace: str = "", *, version: str, **_: Any
    ) -> AsyncIterator[tuple[str, Raw]]:
        self.asked.append(f"watch {version}")
        if not self.watches:
            await asyncio.Event().wait()
        for each in self.watches.pop(0):
            if isinstance(each, Exception):
                raise each
            yield each

    async def get(self, kind: str, namespace: str, name: str) -> Raw:
        if name not in self.objects:
            raise Missing(name)
        return self.objects[name]


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched, "SHORT", 0.0)


def a_cache(server: Server) -> tuple[Watched[RunView], list[tuple[str, str]]]:
    told: list[tuple[str, str]] = []

    def changed(old: RunView | None, new: RunView | None) -> None:
        told.append((old.run if old else "", new.run if new else ""))

    return Watched(cast("Cluster", server), "BenchmarkRun", run_view, changed), told


async def follow(cache: Watched[RunView]) -> None:
    """Let the cache run until the server has nothing more to say."""
    task = asyncio.create_task(cache.run())
    for _ in range(50):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_it_tells_what_was_listed_and_every_change_from_there_on() -> None:
    server = Server(
        lists=[[a_run("a"), a_run("b"), a_run("c")]],
        watches=[[("MODIFIED", a_run("a", run="r2")), ("DELETED", a_run("b"))]],
    )
    cache, told = a_cache(server)
    await follow(cache)
    assert told == [("", "r1"), ("", "r1"), ("", "r1"), ("r1", "r2"), ("r1", "")]
    assert cache.ready.is_set()
    assert len(cache) == 2


async def test_an_event_that_changes_nothing_in_the_view_is_not_told() -> None:
    server = Server(lists=[[a_run("a")]], watches=[[("MODIFIED", a_run("a"))]])
    cache, told = a_cache(server)
    await follow(cache)
    assert told == [("", "r1")]


async def test_a_watch_that_breaks_off_is_taken_up_where_it_was() -> None:
    server = Server(
        lists=[[a_run("a")]],
        watches=[[("ADDED", a_run("b")), Retry("cut")], [("ADDED", a_run("c"))]],
    )
    cache, _ = a_cache(server)
    await follow(cache)
    assert server.asked == ["list", "watch 5", "watch 7", "watch 7"]
    assert len(cache) == 3


async def test_what_vanished_while_nobody_watched_is_dropped_by_the_next_list() -> None:
    server = Server(lists=[[a_run("a"), a_run("b")], [a_run("b")]], watches=[[Expired("old")]])
    cache, told = a_cache(server)
    await follow(cache)
    assert told[-1] == ("r1", "")
    assert len(cache) == 1


async def test_what_was_created_is_known_before_its_event() -> None:
    cache, told = a_cache(Server())
    cache.note(a_run("mine"))
    assert told == [("", "r1")]


async def test_a_list_that_began_before_a_creation_does_not_drop_it() -> None:
    server = Server(lists=[[a_run("a")]], listing=asyncio.Event())
    cache, _ = a_cache(server)
    task = asyncio.create_task(cache.run())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    cache.note(a_run("mine"))
    assert server.listing is not None
    server.listing.set()
    for _ in range(20):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert len(cache) == 2


async def test_the_end_of_an_older_object_of_the_same_name_is_not_the_end_of_this_one() -> None:
    server = Server(lists=[[a_run("a", uid="new")]], watches=[[("DELETED", a_run("a", uid="old"))]])
    cache, _ = a_cache(server)
    await follow(cache)
    assert len(cache) == 1


async def test_asking_again_finds_what_is_gone_and_what_has_changed() -> None:
    server = Server(lists=[[a_run("a"), a_run("b")]])
    cache, told = a_cache(server)
    await follow(cache)
    server.objects["a"] = a_run("a", run="r9")
    found = await cache.refresh("n", "a")
    assert found is not None
    assert found.run == "r9"
    assert await cache.refresh("n", "b") is None
    assert told[-2:] == [("r1", "r9"), ("r1", "")]


async def test_a_cluster_that_forbids_watching_is_listed_again_and_again() -> None:
    server = Server(lists=[[a_run("a")], [a_run("b")]], watches=[[Denied("no")], [Denied("no")]])
    cache, _ = a_cache(server)
    await follow(cache)
    assert server.asked[:4] == ["list", "watch 5", "list", "watch 5"]


async def test_a_first_list_that_fails_is_tried_again() -> None:
    server = Server(lists=[Retry("down"), [a_run("a")]])
    cache, _ = a_cache(server)
    await follow(cache)
    assert cache.ready.is_set()
    assert len(cache) == 1
