"""One tick of one campaign: look at what changed, decide, act, and one status."""

import asyncio
import time
from collections.abc import Coroutine, Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from agentbench.api.run import AdjudicationEntry
from agentbench.app.analysis import Analyses
from agentbench.app.attempts import Attempts
from agentbench.app.campaign import Refused
from agentbench.app.cleanup import clean, find
from agentbench.app.definitions import Definitions
from agentbench.app.ending import without_rows
from agentbench.app.events import Teller, transitions
from agentbench.app.held import Held
from agentbench.app.hindrances import hindrance, nodes_of_class
from agentbench.app.holding import Body, Holder
from agentbench.app.ledger import RunFacts
from agentbench.app.metrics import Metrics
from agentbench.app.pack import BundleError
from agentbench.app.prefix import release
from agentbench.app.settings import Clock, Settings
from agentbench.app.standing import counted
from agentbench.app.status import refused, running, waiting
from agentbench.app.stores import Stores
from agentbench.app.trouble import NameConflict
from agentbench.app.world import World
from agentbench.core.decide import Decision, Live
from agentbench.core.stages import Stage
from agentbench.kube.cluster import Cluster
from agentbench.kube.errors import Denied, Invalid, Missing
from agentbench.kube.view import RunView
from agentbench.store.port import StoreError, Unreachable

AGAIN = 2.0  # seconds before an attempt whose step failed is taken up again


LATE = "late pod of "


class Reconciler:
    """Brings every campaign of a cluster forward, a tick at a time."""

    def __init__(
        self,
        cluster: Cluster,
        settings: Settings,
        stores: Stores,
        world: World,
        metrics: Metrics,
        clock: Clock,
    ) -> None:
        self._cluster = cluster
        self._settings = settings
        self._world = world
        self._metrics = metrics
        self._clock = clock
        self.holder = Holder(cluster, settings, stores, world, metrics)
        self._said: dict[str, Mapping[str, Any]] = {}  # last status by campaign, for events
        self._teller = Teller(cluster, clock)
        self._attempts = Attempts(settings, world, metrics, clock, self._teller)
        self._analyses = Analyses(cluster, settings)
        world.run_deleted = self.run_deleted
        world.run_judged = self.run_judged
        self._definitions = Definitions(cluster)

    async def tick(self, body: Body) -> dict[str, Any]:
        """Bring one campaign forward, and give its whole status.

        Raises:
            Retry: the API server does not answer; nothing is lost by waiting.
        """
        uid, old = body["metadata"]["uid"], body.get("status") or {}
        current = await self._now(body)
        if "deletionTimestamp" in current["metadata"]:
            return dict(old)  # nothing starts any more: `end` has its turn
        status = await self._status(current, old)
        self._teller.of_campaign(body, transitions(self._said.get(uid, old), status))
        self._said[uid] = status
        await self._teller.flush(uid)
        return status

    async def end(self, body: Body) -> dict[str, Any] | None:
        """End a campaign that is being deleted: every live attempt ends and gets its row first.

        Gives None when nothing is left to do, else the status to show meanwhile.

        Raises:
            Retry: the API server does not answer.
        """
        meta, old, now = body["metadata"], body.get("status") or {}, self._clock()
        uid, generation = meta["uid"], meta.get("generation", 0)
        try:
            # What is held is enough: the store's Secret may be deleted in the same breath.
            held = self.holder.held.get(uid) or await self.holder.hold(body, ending=True)
        except (Refused, BundleError, StoreError) as error:
            live = await self.holder.live(meta["namespace"], uid)
            if not without_rows(meta, live, error, now):
                said = f"{len(live)} live attempts have no row yet: {error}"
                return waiting("Ending", said, old, generation, now)
            self._drop(uid)
            return None
        held.campaign = held.hands.campaign = held.campaign.cancelled()
        await self.holder.look_at_store(held)
        await self._forward(held, old, ending=True)
        await self._teller.flush(uid)
        stuck = {run for run, each in held.troubles.items() if each.reason == "RowConflict"}
        left = [entry.run for entry, _ in held.ledger.live() if entry.run not in stuck]
        if left:
            down = held.hands.line.down
            said = f"{len(left)} attempts are ending" + (f": {down}" if down else "")
            return waiting("Ending", said, old, generation, now)
        with suppress(StoreError):  # the next campaign of this cluster sees that this one is gone
            await release(held.hands.line, held.campaign)
        self._drop(uid)
        return None

    def restless(self, campaign_uid: str) -> bool:
        """Whether a step of a campaign failed, and is to be taken again by itself."""
        held = self.holder.held.get(campaign_uid)
        return held is not None and bool(held.failed)

    def run_deleted(self, campaign_uid: str, run: str) -> None:
        """Take note that somebody deleted a run's object."""
        held = self.holder.held.get(campaign_uid)
        if held is None or run not in held.ledger.runs:
            return
        held.ledger.deleted.add(run)
        held.troubles.pop(run, None)
        if held.ledger.runs[run].current is None:  # it has its rows, and they stay
            held.ledger.settle(run)

    async def _now(self, body: Body) -> Body:
        """The campaign as it is: a watch may be late, and a lowered `parallelism` holds at once."""
        meta = body["metadata"]
        try:
            found = await self._cluster.get("BenchmarkCampaign", meta["namespace"], meta["name"])
        except Missing:
            return body
        return found if found["metadata"]["uid"] == meta["uid"] else body

    def run_judged(self, view: RunView) -> bool:
        """Take note of what people say of a run; whether it is new."""
        held = self.holder.held.get(view.campaign)
        said = tuple(AdjudicationEntry.model_validate(each) for each in view.adjudications)
        return held is not None and held.ledger.judge(view.run, said)

    def _drop(self, uid: str) -> None:
        self.holder.held.pop(uid, None)
        self._world.forget(uid)
        self._said.pop(uid, None)
        self._teller.forget(uid)

    async def _status(self, body: Body, old: Mapping[str, Any]) -> dict[str, Any]:
        generation = body["metadata"].get("generation", 0)

        def no(reason: str, error: object) -> dict[str, Any]:
            return refused(reason, str(error), old, generation, self._clock())

        problem = await self._definitions.problem()
        if problem:
            return no("DefinitionsTooOld", problem)
        try:
            held = await self.holder.hold(body)
        except Refused as error:
            return no(error.reason, error)
        except BundleError as error:
            return no("BundleMismatch", error)
        except (NameConflict, Denied, Invalid) as error:
            return no(type(error).__name__, error)
        except Unreachable as error:
            self._metrics.store_lost(body["metadata"]["namespace"], body["metadata"]["name"])
            return waiting("StoreUnreachable", str(error), old, generation, self._clock())
        except StoreError as error:
            return no("StoreUnfit", error)
        return await self._forward(held, old)

    async def _forward(
        self, held: Held, old: Mapping[str, Any], *, ending: bool = False
    ) -> dict[str, Any]:
        campaign, now = held.campaign, self._clock()
        held.no_node = nodes_of_class(campaign.spec.node_class, self._world.nodes.values())
        await _all(self._attempts.advance(held, entry) for entry in self._in_question(held))
        await self._end_late(held, now)
        decision = self._decide(held)
        starts = [
            start for start in decision.start if held.everything or start.run.id not in held.failed
        ]
        await _all(self._attempts.start(held, start.run, start.attempt) for start in starts)
        if starts:
            decision = self._decide(held)
        if held.everything:
            find(held, held.pods.lasting())
        await clean(held, now)
        if not ending:
            await self._analyses.advance(held, decision.phase, now)
        more = hindrance(held, decision)
        self._metrics.counted(
            campaign,
            counted(
                decision.tally,
                campaign.limits,
                [held.stages.get(entry.run, Stage.PENDING) for entry, _ in held.ledger.live()],
                projected=more.projected,
                store_available=held.hands.line.down is None,
            ),
        )
        said = self._analyses.said(held)
        return running(decision, more, said, old, campaign.generation, now)

    def _in_question(self, held: Held) -> list[RunFacts]:
        """The live attempts to look at: those with something new, and at times all of them."""
        changed = held.pods.take_changed()
        since = time.monotonic() - held.looked
        held.everything = (
            held.pods.everything
            or bool(held.ledger.deleted)
            or held.campaign.spec.cancel
            or since >= (AGAIN if held.failed else self._settings.resync)
        )
        if not held.everything:
            return held.ledger.under_way(changed)
        held.looked, held.pods.everything = time.monotonic(), False
        return [entry for entry, _ in held.ledger.live()]

    def _decide(self, held: Held) -> Decision:
        spec = held.campaign.spec
        return held.ledger.standing.decide(
            held.campaign.limits,
            held.ledger.as_live(),
            suspend=spec.suspend,
            cancel=spec.cancel,
            blocked=held.hands.line.down is not None,
            lingering=[Live(run=key[0], attempt=key[1]) for key, _ in held.lingering()],
        )

    async def _end_late(self, held: Held, now: datetime) -> None:
        """Delete run pods of recorded attempts, and say why their slots are held till they go."""
        for said in [name for name in held.waits if name.startswith(LATE)]:
            del held.waits[said]
        for (run, _), pod in held.lingering():
            held.waits[LATE + run] = (
                f"{run}: its pod {pod.name} has not gone: its slot is held, and it is not run "
                f"again before. If node {pod.node} is dead, bring it back, or delete it, or give "
                "it the taint node.kubernetes.io/out-of-service"
            )
            if not pod.deleting:
                with held.spoken(f"the late pod of {run}", now):
                    await held.hands.delete_pod(pod)


async def _all(works: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Do them at the same time, and all of them to their end, before an error of one is raised."""
    for error in await asyncio.gather(*works, return_exceptions=True):
        if error is not None:
            raise error
