"""One attempt's next step, taken."""

from collections.abc import Sequence
from dataclasses import replace

from agentbench.api.run import AttemptStatus
from agentbench.app.attempt_objects import FINAL
from agentbench.app.events import Teller
from agentbench.app.gather import seen_of
from agentbench.app.held import Held
from agentbench.app.ledger import READY, Key, RunFacts
from agentbench.app.metrics import Metrics
from agentbench.app.records import Records
from agentbench.app.run_pods import Pods, run_pod
from agentbench.app.settings import Clock, Settings
from agentbench.app.trouble import MultiplePods
from agentbench.app.world import World
from agentbench.core.plan import PlannedRun
from agentbench.core.seen import Left, PodState, Seen
from agentbench.core.stages import stage_of
from agentbench.core.steps import Next, Step, next_step
from agentbench.kube.faults import hangs, pod_state
from agentbench.kube.names import GRADER_ROLE, RUN_ROLE
from agentbench.kube.view import PodView

STEPS = 4
"""Steps of an attempt that may follow one another at once."""

IRREVOCABLE = (Step.END, Step.RECORD, Step.GRADE)
"""Steps that cannot be undone."""


class Attempts:
    """Takes the steps of attempts; at most as many at the same time as a campaign has slots."""

    def __init__(
        self,
        settings: Settings,
        world: World,
        metrics: Metrics,
        clock: Clock,
        teller: Teller,
    ) -> None:
        self._settings = settings
        self._world = world
        self._nodes = world.nodes
        self._metrics = metrics
        self._clock = clock
        self._teller = teller
        self._pods = Pods(settings, world, clock, teller)
        self._records = Records(world, metrics, clock, teller)

    async def start(self, held: Held, run: PlannedRun, attempt: int) -> None:
        """Admit a run, or its second attempt, and create its pod."""
        now = self._clock()
        if held.rests(run.id, now):
            return
        async with held.slots:
            with held.spoken(run.id, now):
                await held.hands.foreign_row(held.ledger, run, attempt)
                entry = held.ledger.runs.get(run.id)
                if entry is None:
                    entry, new = await held.hands.admit(held.ledger, run, attempt)
                    if new and held.hands.new_prefix:
                        held.left[run.id, 1] = Left(claimed=False)
                else:
                    second = AttemptStatus(number=attempt, phase="Pending")
                    entry.say(READY, False, "Rerun", f"attempt {attempt} is under way", now)
                    await held.hands.write_status(entry, (*entry.attempts, second))
                    held.ledger.rerun(entry, second)
                self._tell_start(held, entry, attempt)
                await self._go(held, entry)

    async def advance(self, held: Held, entry: RunFacts) -> None:
        """Bring an attempt as far as it goes now."""
        now = self._clock()
        if held.rests(entry.run, now):
            return
        async with held.slots:
            with held.spoken(entry.run, now):
                await self._go(held, entry)

    async def _go(self, held: Held, entry: RunFacts) -> None:
        """Take step after step, until the cluster's turn has come."""
        fresh = False
        for _ in range(STEPS):
            attempt = entry.current
            if attempt is None:
                return
            held.waits.pop(entry.run, None)
            key = (entry.run, attempt.number)
            pods = held.own(key)
            seen = self._seen(held, entry, attempt, pods)
            held.stages[entry.run] = stage_of(seen)
            patience = self._settings.patience
            if held.no_node:  # not this attempt's failure: no pod of the campaign can be scheduled
                patience = replace(patience, unschedulable=float("inf"))
            repeats = held.campaign.spec.checks.repeats
            found = next_step(seen, repeats=repeats, patience=patience)
            ends = held.campaign.spec.cancel or entry.run in held.ledger.deleted
            if not fresh and (ends or found.step in IRREVOCABLE) and seen.pod is not PodState.ENDED:
                # What cannot be undone is decided by what is, not by what was last heard of.
                await self._world.refresh(held.campaign.namespace, held.name(key))
                fresh = True
            elif ends:
                await self._abort(held, entry, attempt, seen, pods)
                return
            elif not await self._step(held, entry, attempt, seen, pods, found):
                return

    def _seen(
        self, held: Held, entry: RunFacts, attempt: AttemptStatus, pods: list[PodView]
    ) -> Seen:
        """All that is known of an attempt; what its pod may change in the store is forgotten."""
        key, now, hanging = (entry.run, attempt.number), self._clock(), None
        pod = run_pod(pods)
        if pod is not None:
            node = self._nodes.get(pod.node)
            held.made.add(key)
            held.last[key] = pod, node
            hanging = held.hanging.setdefault(key, now) if hangs(pod) else None
            if pod_state(pod, node) in (PodState.WAITING, PodState.RUNNING) and not hanging:
                held.left.pop(key, None)
        return seen_of(
            held.campaign,
            attempt,
            pods,
            self._nodes,
            held.left.get(key),
            now,
            tainted=entry.tainted,
            made=key in held.made,
            hanging=(now - hanging).total_seconds() if hanging else 0,
            job=held.jobs.get(key),
        )

    async def _step(
        self,
        held: Held,
        entry: RunFacts,
        attempt: AttemptStatus,
        seen: Seen,
        pods: list[PodView],
        found: Next,
    ) -> bool:
        """Take one step; says whether there is another at once."""
        run, key = held.planned[entry.run], (entry.run, attempt.number)
        pod = run_pod(pods)
        if found.why:
            held.waits[entry.run] = found.why
        match found.step:
            case Step.LOOK:
                left = held.left[key] = await self._records.look(held, entry, attempt)
                if not left.disowned:
                    return True
                why = "its run was deleted while no operator was there"
                await self._records.record_aborted(held, entry, attempt, left, pods, why)
            case Step.STALL:
                await held.hands.taint(entry, found.why, self._clock())
                names = " ".join(seen.twins)
                raise MultiplePods(
                    f"attempt {attempt.number} has pods {found.why}: neither is scored. Delete "
                    f"both (kubectl -n {held.campaign.namespace} delete pod {names}); the "
                    "attempt is then recorded as an infra failure, and run again by the rule"
                )
            case Step.CREATE:
                await self._pods.create(held, run, entry, attempt)
            case Step.WAIT:
                if seen.hanging:  # what it stores meanwhile is asked for again
                    held.left.pop(key, None)
                if seen.grading is not None:
                    if key not in held.jobs:  # made before we were killed: its Secret, perhaps, not
                        await self._grade(held, run, entry, attempt, seen, seen.grading.round, pod)
                    await self._look_at_job(held, key, pods, seen.grading.round)
                if seen.pod is PodState.WAITING and self._pods.may_lack(held, key, seen):
                    await self._pods.equip(held, run, entry, attempt, pod)
                await self._pods.note_start(held, entry, attempt, seen, pod)
            case Step.END:
                await self._pods.end(held, entry, attempt, pod, found)
            case Step.GRADE:
                await self._grade(held, run, entry, attempt, seen, found.round, pod)
            case Step.RECORD:
                what = self._records.found(held, attempt, key, pods, seen.summary)
                what = replace(what, records=seen.grading.records if seen.grading else {})
                await self._records.record(held, run, entry, attempt, what, found.evidence)
        return False

    async def _grade(
        self,
        held: Held,
        run: PlannedRun,
        entry: RunFacts,
        attempt: AttemptStatus,
        seen: Seen,
        round_: int,
        pod: PodView | None,
    ) -> None:
        """Create a round of grading, unless it was created a moment ago and its pods will come."""
        key = (entry.run, attempt.number)
        held.waits[entry.run] = "grading"
        before = held.jobs.get(key)
        if before is not None and before.round == round_ and not before.ended:
            await self._look_at_job(held, key, (), round_)  # it may have gone with its run pod
            if key in held.jobs:
                return
        final = seen.summary.files[FINAL].sha256 if seen.summary else ""
        held.jobs[key] = await held.hands.create_grader(run, entry, attempt, round_, final, pod)

    async def _look_at_job(
        self, held: Held, key: Key, pods: Sequence[PodView], round_: int
    ) -> None:
        """See whether a Job whose pods are not all there is over, and they never will be."""
        graders = [pod for pod in pods if pod.role == GRADER_ROLE and pod.round == round_]
        if len(graders) > held.campaign.spec.checks.repeats:
            return
        job = await held.hands.grader_job(*key, round_)
        if job is None:
            held.jobs.pop(key, None)
        else:
            held.jobs[key] = job

    async def _abort(
        self,
        held: Held,
        entry: RunFacts,
        attempt: AttemptStatus,
        seen: Seen,
        pods: list[PodView],
    ) -> None:
        """End an attempt for a person, and write its row once the agent is gone."""
        given_up = seen.pod is PodState.LOST and seen.overdue
        ours = [pod for pod in pods if pod.role == RUN_ROLE and not pod.ended]
        running = [] if given_up else ours
        for pod in running:
            if not pod.deleting:
                await held.hands.delete_pod(pod)
        if running:
            held.waits[entry.run] = "ending"
            return
        left = held.left.get((entry.run, attempt.number))
        if seen.summary is None and left is None:
            left = await self._records.look(held, entry, attempt)
        if seen.summary is not None:
            left = Left(claimed=True, summary=seen.summary)
        why = "its run was deleted" if entry.run in held.ledger.deleted else "it was cancelled"
        await self._records.record_aborted(held, entry, attempt, left, pods, why)

    def _tell_start(self, held: Held, entry: RunFacts, attempt: int) -> None:
        what = f"{entry.run}: attempt {attempt}"
        if attempt == 1:
            self._teller.of_run(held.campaign, entry, "Admitted", f"{what} is admitted")
            return
        why = f"{what} starts, since attempt {attempt - 1} was an infra failure"
        self._teller.of_run(held.campaign, entry, "Rerun", why, warning=True)
