"""The pod of one attempt: created, given what it mounts, noted, and ended."""

import logging
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC

from agentbench.api.run import AttemptStatus
from agentbench.app.events import Teller
from agentbench.app.held import Denial, Held
from agentbench.app.ledger import Key, RunFacts
from agentbench.app.settings import Clock, Settings
from agentbench.app.trouble import SecondPod
from agentbench.app.world import World
from agentbench.core.plan import PlannedRun
from agentbench.core.seen import PodState, Seen
from agentbench.core.steps import Next
from agentbench.kube.errors import QuotaDenied
from agentbench.kube.names import RUN_ROLE
from agentbench.kube.view import PodView

log = logging.getLogger(__name__)

STUCK = 120  # seconds that a pod waits before what it mounts is created once more

MAX_DETAIL = 1000
"""Characters of what was seen of a fault that a status keeps."""


def run_pod(pods: Sequence[PodView]) -> PodView | None:
    """The run pod among an attempt's pods."""
    return next((pod for pod in pods if pod.role == RUN_ROLE), None)


class Pods:
    """Acts on run pods; each may be done twice, and is then done once."""

    def __init__(self, settings: Settings, world: World, clock: Clock, teller: Teller) -> None:
        self._settings = settings
        self._world = world
        self._clock = clock
        self._teller = teller

    async def create(
        self, held: Held, run: PlannedRun, entry: RunFacts, attempt: AttemptStatus
    ) -> None:
        """Create an attempt's pod, and what it mounts; while a quota has no room, ask again."""
        key, now = (entry.run, attempt.number), self._clock()
        denial = held.denied.get(key)
        if denial is not None and now < denial.again:
            held.waits[entry.run] = "a quota has no room for its pod: it is asked again soon"
            return
        await held.hands.foreign_row(held.ledger, run, attempt.number)
        try:
            made = self._world.note(await held.hands.create_pod(run, entry, attempt.number))
        except QuotaDenied as error:
            denial = held.denied.setdefault(key, Denial(since=now, again=now))
            denial.refused(now)
            held.waits[entry.run] = str(error)
            if (now - denial.since).total_seconds() > self._settings.patience.quota:
                # From now on there is no pod to come, whatever is still on its way.
                held.left.pop(key, None)
                with suppress(SecondPod):
                    await held.hands.give_up(run, entry, attempt.number, str(error))
            return
        held.denied.pop(key, None)
        held.left.pop(key, None)  # from now on its pod may leave something there
        held.made.add(key)
        await self.equip(held, run, entry, attempt, made)

    async def equip(
        self,
        held: Held,
        run: PlannedRun,
        entry: RunFacts,
        attempt: AttemptStatus,
        pod: PodView | None,
    ) -> None:
        """Give a pod what it mounts; one that is the second of its attempt goes at once."""
        key = (entry.run, attempt.number)
        if pod is None or pod.deleting:
            return
        try:
            await held.hands.equip(run, entry, attempt.number, pod)
        except SecondPod as error:
            held.left.pop(key, None)
            log.error("%s: %s: this one is deleted", entry.run, error)
            await held.hands.delete_pod(pod)
            return
        held.equipped.add(key)

    async def end(
        self,
        held: Held,
        entry: RunFacts,
        attempt: AttemptStatus,
        pod: PodView | None,
        found: Next,
    ) -> None:
        """End a pod of which nothing more can come, when it is written down why."""
        fault = found.fault
        if fault is not None and attempt.fault is None:
            noted = {
                "phase": "Ending",
                "fault": fault.reason.value,
                "fault_detail": fault.detail[:MAX_DETAIL],
            }
            attempts = (*entry.attempts[:-1], attempt.model_copy(update=noted))
            await held.hands.write_status(entry, attempts)
            entry.attempts = attempts
        if pod is not None and not pod.deleting:
            # Kubelet shortens no stop that has begun: the pod goes, and its node ends the rest.
            await held.hands.delete_pod(pod, 0 if found.at_once else None)

    def may_lack(self, held: Held, key: Key, seen: Seen) -> bool:
        """Whether a pod may wait for what it mounts; asked once, and once more when it is stuck.

        It was made just before we were killed, or somebody deleted the settings that it shares.
        """
        if key not in held.equipped:
            return True
        stuck = seen.waiting is not None and seen.waiting.seconds > STUCK
        if not stuck or key in held.remade:
            return False
        held.remade.add(key)
        held.hands.maker.forget_shared()
        return True

    async def note_start(
        self,
        held: Held,
        entry: RunFacts,
        attempt: AttemptStatus,
        seen: Seen,
        pod: PodView | None,
    ) -> None:
        """Write down that an attempt runs, once, with its pod and node."""
        if pod is None or seen.pod is not PodState.RUNNING or attempt.pod_uid is not None:
            return
        changed = attempt.model_copy(
            update={
                "phase": "Running",
                "pod": pod.name,
                "pod_uid": pod.uid,
                "node": pod.node,
                "started_at": self._clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            }
        )
        attempts = (*entry.attempts[:-1], changed)
        await held.hands.write_status(entry, attempts)
        entry.attempts = attempts
        said = f"attempt {attempt.number} runs in pod {pod.name} on node {pod.node}"
        self._teller.of_run(held.campaign, entry, "Started", said)
