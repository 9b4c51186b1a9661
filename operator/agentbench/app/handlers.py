"""Handlers: doorbells. Each parses, calls one coroutine, and translates errors."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import kopf

from agentbench.app.metrics import Metrics
from agentbench.app.reconcile import AGAIN, Reconciler
from agentbench.app.settings import Settings
from agentbench.app.status import says_more
from agentbench.app.world import World
from agentbench.kube.errors import ClusterError, Retry
from agentbench.kube.names import GROUP

CAMPAIGNS = (GROUP, "v1alpha1", "benchmarkcampaigns")
PATIENCE = 1.0  # seconds that a timer waits for a ring: kopf stops it between two rings


class Doorbell:
    """Which campaigns have something new, and when each was looked at last."""

    def __init__(self, resync: float) -> None:
        self.finished = 0.0  # Unix time of the last finished tick
        self._resync = resync
        self._bells: dict[str, asyncio.Event] = {}
        self._at: dict[str, float] = {}

    def ring(self, uid: str) -> None:
        """Something of a campaign has changed."""
        if uid in self._bells:
            self._bells[uid].set()

    def ring_at(self, uid: str, when: float) -> None:
        """Look at a campaign at that monotonic time, whether something rings or not."""
        self._at[uid] = min(when, self._at.get(uid, when))

    async def wait(self, uid: str, longest: float) -> bool:
        """Wait until a campaign is to be looked at, and say so; False if that took too long."""
        if uid not in self._bells:  # it was never looked at
            self._bells[uid] = asyncio.Event()
            self._bells[uid].set()
        bell, now = self._bells[uid], time.monotonic()
        due = self._at.setdefault(uid, now + self._resync)
        with suppress(TimeoutError):
            await asyncio.wait_for(bell.wait(), max(0.0, min(longest, due - now)))
        if not bell.is_set() and time.monotonic() < due:
            return False
        bell.clear()
        self._at[uid] = time.monotonic() + self._resync
        return True

    def forget(self, uid: str) -> None:
        """A campaign is gone."""
        self._bells.pop(uid, None)
        self._at.pop(uid, None)


def register(
    registry: kopf.OperatorRegistry,
    reconciler: Reconciler,
    world: World,
    settings: Settings,
    metrics: Metrics,
) -> None:
    """Register every handler of the operator."""
    bell = Doorbell(settings.resync)
    world.rang = bell.ring
    generations: dict[str, tuple[Any, Any]] = {}

    @kopf.on.startup(registry=registry)
    async def configure(settings: kopf.OperatorSettings, **_: Any) -> None:
        prefix = GROUP
        settings.persistence.finalizer = f"{prefix}/operator"
        settings.persistence.progress_storage = kopf.AnnotationsProgressStorage(prefix=prefix)
        settings.persistence.diffbase_storage = kopf.AnnotationsDiffBaseStorage(prefix=prefix)
        settings.watching.server_timeout = 300
        settings.watching.client_timeout = 330
        settings.posting.enabled = False
        # How often kopf looks whether a deleted campaign's timer has stopped: 60 s is its default.
        settings.background.cancellation_polling = 1.0

    @kopf.on.login(registry=registry)
    def login(**kwargs: Any) -> kopf.ConnectionInfo | None:
        inside = kopf.login_with_service_account(**kwargs)
        return inside or kopf.login_with_kubeconfig(**kwargs)

    written: dict[str, float] = {}

    @kopf.timer(*CAMPAIGNS, interval=settings.interval, registry=registry)
    async def tick(body: kopf.Body, patch: kopf.Patch, **_: Any) -> None:
        uid = body["metadata"]["uid"]
        if "deletionTimestamp" in body["metadata"] or not await bell.wait(uid, PATIENCE):
            return
        if "deletionTimestamp" in body["metadata"]:  # deleted while it waited: `gone` has its turn
            return
        try:
            with as_kopf_errors(metrics), metrics.ticks.time():
                status = await reconciler.tick(dict(body))
        except Exception:
            bell.ring(uid)  # what rang is not done: the next try must not wait for the resync
            raise
        bell.finished = time.time()
        meta = body["metadata"]
        metrics.said(meta["namespace"], meta["name"], status, bell.finished)
        if reconciler.restless(uid):
            bell.ring_at(uid, time.monotonic() + AGAIN)
        old, now = dict(body.get("status") or {}), time.monotonic()
        if status == old:
            return
        due = written.get(uid, 0.0) + settings.write_interval
        if now < due and not says_more(old, status):
            bell.ring_at(uid, due)
            return
        written[uid] = now
        patch["status"] = status

    @kopf.on.event(*CAMPAIGNS, registry=registry)
    async def changed(meta: kopf.Meta, **_: Any) -> None:
        metrics.event("benchmarkcampaigns")
        seen = (meta.get("generation"), meta.get("deletionTimestamp"))
        if generations.get(meta["uid"]) != seen:  # a status that we wrote ourselves is no news
            generations[meta["uid"]] = seen
            bell.ring(meta["uid"])

    @kopf.on.delete(*CAMPAIGNS, registry=registry)
    async def gone(body: kopf.Body, patch: kopf.Patch, retry: int, **_: Any) -> None:
        meta = body["metadata"]
        with as_kopf_errors(metrics):
            status = await reconciler.end(dict(body))
        if status is not None:
            if status != dict(body.get("status") or {}):
                patch["status"] = status
            pause = 2 if retry < 30 else 15  # seconds; each try is a write of kopf's
            raise kopf.TemporaryError("its attempts are ending", delay=pause)
        bell.forget(meta["uid"])
        written.pop(meta["uid"], None)
        generations.pop(meta["uid"], None)
        metrics.forget(meta["namespace"], meta["name"])

    @kopf.on.probe(id="lastTick", registry=registry)
    async def last_tick(**_: Any) -> float:
        return bell.finished


@contextmanager
def as_kopf_errors(metrics: Metrics) -> Iterator[None]:
    """Whose turn an error makes it: the cluster's, so that kopf looks again."""
    try:
        yield
    except Retry as error:
        metrics.errors.labels("retry").inc()
        raise kopf.TemporaryError(str(error), delay=error.after) from error
    except ClusterError as error:
        metrics.errors.labels(type(error).__name__).inc()
        raise kopf.TemporaryError(str(error), delay=30) from error
    except Exception:
        metrics.errors.labels("unexpected").inc()
        raise
