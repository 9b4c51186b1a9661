"""The row of one attempt: what it is made of, and what is told of it."""

from collections.abc import Sequence
from dataclasses import replace

from agentbench.api.run import AttemptStatus
from agentbench.app.cleanup import note
from agentbench.app.events import Teller
from agentbench.app.gather import look
from agentbench.app.held import Held
from agentbench.app.ledger import Key, RunFacts
from agentbench.app.metrics import Metrics
from agentbench.app.rows import Found
from agentbench.app.run_pods import run_pod
from agentbench.app.settings import Clock
from agentbench.app.world import World
from agentbench.core.attempt import Recorded
from agentbench.core.failure import Evidence
from agentbench.core.plan import PlannedRun
from agentbench.core.record import facts
from agentbench.core.seen import Left
from agentbench.core.summary import Summary
from agentbench.kube.view import PodView


class Records:
    """Writes rows, once each."""

    def __init__(self, world: World, metrics: Metrics, clock: Clock, teller: Teller) -> None:
        self._nodes = world.nodes
        self._metrics = metrics
        self._clock = clock
        self._teller = teller

    def found(
        self,
        held: Held,
        attempt: AttemptStatus,
        key: Key,
        pods: Sequence[PodView],
        summary: Summary | None,
    ) -> Found:
        """What a row is made of; a pod that vanished is remembered as it was seen last."""
        left, pod = held.left.get(key), run_pod(pods)
        node = self._nodes.get(pod.node) if pod else None
        if pod is None and key in held.last:
            pod, node = held.last[key]
            pods = [*pods, pod]
        return Found(
            pods=pods,
            node=node,
            summary=summary or (left.summary if left else None),
            now=self._clock(),
            pod_uid=attempt.pod_uid or (left.pod_uid if left else None),
            started=summary is not None or left is None or left.claimed,
        )

    async def record(
        self,
        held: Held,
        run: PlannedRun,
        entry: RunFacts,
        attempt: AttemptStatus,
        found: Found,
        evidence: Evidence | None,
    ) -> None:
        """Store the row and say so; from here on the attempt holds no slot."""
        with self._metrics.row_write():
            row = await held.hands.record(run, entry, attempt, found, evidence, held.ledger)
        self._metrics.recorded(held.campaign, row)
        held.forget(entry.run, attempt.number)
        note(held.leavings, entry, entry.attempts[-1])
        self._tell_record(held, entry, facts(row))

    async def record_aborted(
        self,
        held: Held,
        entry: RunFacts,
        attempt: AttemptStatus,
        left: Left | None,
        pods: list[PodView],
        why: str,
    ) -> None:
        """Write the row of an attempt that a person ended, with what it had cost by then."""
        key = (entry.run, attempt.number)
        if left is not None:
            held.left[key] = left
        what = self.found(held, attempt, key, pods, left.summary if left else None)
        what = replace(what, why_aborted=why)
        await self.record(held, held.planned[entry.run], entry, attempt, what, None)
        held.ledger.settle(entry.run)

    def _tell_record(self, held: Held, entry: RunFacts, fact: Recorded) -> None:
        last = entry.attempts[-1]
        cause = f" ({fact.cause})" if fact.cause else ""
        reason = f": {last.reason}" if last.reason else ""
        said = f"attempt {fact.attempt}: {fact.outcome}{cause}{reason}; row {last.row_key}"
        self._teller.of_run(held.campaign, entry, "Recorded", said, warning=fact.infra)

    async def look(self, held: Held, entry: RunFacts, attempt: AttemptStatus) -> Left:
        """What an attempt left in the store."""
        line = held.hands.line
        return await line.ask(look, held.campaign, line.store, entry, attempt.number)
