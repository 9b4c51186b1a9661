"""The acts of a tick: each may be done twice, and is then done once."""

import json
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from agentbench.api.run import AttemptStatus
from agentbench.app.adopt import attempt_of
from agentbench.app.attempt_objects import POD, AttemptObjects, attempt_objects
from agentbench.app.campaign import Campaign
from agentbench.app.grader_objects import grader_objects
from agentbench.app.keeping import keep_row
from agentbench.app.ledger import MULTIPLE_PODS, READY, RECORDED, Ledger, RunFacts
from agentbench.app.line import Line
from agentbench.app.making import Maker
from agentbench.app.pack import Pack
from agentbench.app.rows import Found, row_of
from agentbench.app.run_object import run_object
from agentbench.app.settings import Settings
from agentbench.app.trouble import RowConflict, SecondPod
from agentbench.core.failure import Evidence
from agentbench.core.keys import artifact_key, row_key
from agentbench.core.measures import measures
from agentbench.core.plan import PlannedRun
from agentbench.core.record import facts
from agentbench.kube.cluster import Cluster, Raw
from agentbench.kube.errors import Missing
from agentbench.kube.manifests.network import policy
from agentbench.kube.manifests.parts import owner
from agentbench.kube.manifests.run_pod import AttemptKey
from agentbench.kube.names import (
    GRADER_ROLE,
    RUN_ROLE,
    grader_name,
)
from agentbench.kube.view import JobView, PodView, job_view
from agentbench.store.port import Conflict
from agentbench_analysis.rows.model import Row


class Hands:
    """Acts for one campaign."""

    def __init__(
        self, cluster: Cluster, settings: Settings, campaign: Campaign, pack: Pack, line: Line
    ) -> None:
        self.campaign = campaign
        self.line = line
        self.pack = pack
        self.new_prefix = False
        """Whether nothing was ever started below this campaign's prefix before this process."""
        self._cluster = cluster
        self._settings = settings
        self.maker = Maker(cluster)

    async def close_off(self) -> None:
        """Create the policies that keep this campaign's pods in, before any of them exists."""
        campaign = self.campaign
        for role in (RUN_ROLE, GRADER_ROLE):
            manifest = policy(
                campaign.namespace, campaign.name, campaign.uid, role, self._settings.place
            )
            await self.maker.ensure(manifest, campaign.uid)

    async def admit(self, ledger: Ledger, run: PlannedRun, attempt: int) -> tuple[RunFacts, bool]:
        """Create the object of a run that starts now; also says whether it was not there yet.

        Rows of earlier attempts, whose object is gone, go with it.
        """
        campaign = self.campaign
        raw, new = await self.maker.created(run_object(campaign, run), campaign.uid)
        rows = ledger.orphans.get(run.id, ())
        entry = RunFacts(
            run=run.id,
            name=raw["metadata"]["name"],
            uid=raw["metadata"]["uid"],
            attempts=(*rows, AttemptStatus(number=attempt, phase="Pending")),
        )
        if rows:
            await self.write_status(entry, entry.attempts)
        ledger.orphans.pop(run.id, None)
        ledger.admit(entry)
        return entry, new

    async def create_pod(self, run: PlannedRun, entry: RunFacts, attempt: int) -> Raw:
        """Create an attempt's pod; it waits for what it mounts."""
        return await self.maker.ensure(self._objects(run, entry, attempt).pod, entry.uid)

    async def equip(self, run: PlannedRun, entry: RunFacts, attempt: int, pod: PodView) -> None:
        """Mark in the store that an attempt's pod is there, and create what that pod mounts.

        The pod itself is never created here: one that went away meanwhile stays away.

        Raises:
            SecondPod: the mark names another pod, in which an agent may have run, or none.
        """
        mark = {"pod": pod.name, "uid": pod.uid, "run": entry.uid}
        await self._mark(run, attempt, mark)
        objects = self._objects(run, entry, attempt)
        if objects.settings is not None:
            await self.maker.once(objects.settings, self.campaign.uid)
        await self.maker.mounted("Pod", pod.name, pod.uid, [objects.secret])

    async def give_up(self, run: PlannedRun, entry: RunFacts, attempt: int, why: str) -> None:
        """Mark in the store that an attempt never gets a pod.

        Raises:
            SecondPod: it has one.
        """
        await self._mark(run, attempt, {"denied": why, "run": entry.uid})

    async def _mark(self, run: PlannedRun, attempt: int, mark: Mapping[str, str]) -> None:
        """Say once and for all which pod an attempt has, or that it has none."""
        key = artifact_key(self.campaign.name, run.id, attempt, POD)
        content = json.dumps(mark, sort_keys=True).encode() + b"\n"
        try:
            await self.line.ask(self.line.store.create_only, key, content)
        except Conflict as error:
            raise SecondPod(f"{key} says something else than {mark}") from error

    def _objects(self, run: PlannedRun, entry: RunFacts, attempt: int) -> AttemptObjects:
        key = self.key(run, entry, attempt)
        return attempt_objects(
            self.campaign, self.pack, self.line.store, self._settings, key, time.time()
        )

    async def create_grader(
        self,
        run: PlannedRun,
        entry: RunFacts,
        attempt: AttemptStatus,
        round_: int,
        final_sha256: str,
        pod: PodView | None,
    ) -> JobView:
        """Create a round of grading, and what its pods mount; gives its Job as it is.

        Its Job goes when the run pod goes, so that one deletion cleans up both; where that pod
        is gone already, it goes with the run.
        """
        key = self.key(run, entry, attempt.number)
        job, secret = grader_objects(
            self.campaign,
            self.pack,
            self.line.store,
            self._settings,
            key,
            round_,
            final_sha256,
            time.time(),
        )
        if pod is not None and not pod.deleting:
            job["metadata"]["ownerReferences"] = owner("Pod", pod.name, pod.uid)
        made = await self.maker.ensure(job, entry.uid, pod.uid if pod else attempt.pod_uid or "")
        meta = made["metadata"]
        await self.maker.mounted("Job", meta["name"], meta["uid"], [secret])
        return job_view(made)

    async def grader_job(self, run: str, attempt: int, round_: int) -> JobView | None:
        """A round's Job as it is now, or None if it is gone."""
        name = grader_name(self.campaign.uid, run, attempt, round_)
        try:
            return job_view(await self._cluster.get("Job", self.campaign.namespace, name))
        except Missing:
            return None

    async def delete_pod(self, pod: PodView, grace: int | None = None) -> None:
        """Delete a run pod, and only that one; `grace` in seconds, else the pod's own."""
        where = self.campaign.namespace, pod.name
        await self._cluster.delete("Pod", *where, pod.uid, grace=grace)

    async def clean(self, run: str, attempt: int, pods: Sequence[PodView]) -> None:
        """Delete what is left of an attempt that is recorded; its Job goes with its run pod."""
        run_pods = [pod for pod in pods if pod.role == RUN_ROLE and not pod.deleting]
        for pod in run_pods:
            await self.delete_pod(pod)
        if run_pods:
            return
        for round_ in {pod.round for pod in pods if pod.role == GRADER_ROLE}:
            name = grader_name(self.campaign.uid, run, attempt, round_)
            await self._cluster.delete("Job", self.campaign.namespace, name)

    async def record(
        self,
        run: PlannedRun,
        entry: RunFacts,
        attempt: AttemptStatus,
        found: Found,
        evidence: Evidence | None,
        ledger: Ledger,
    ) -> Row:
        """Store the row of an attempt, then say so in the run's status; gives the row.

        `evidence` is None for an attempt that a person ended: its row is aborted.

        Raises:
            RowConflict: another row is there.
        """
        row = row_of(self.campaign, run, entry.uid, attempt.number, found, evidence)
        content, row = await keep_row(self.line, row)
        recorded = attempt_of(self.campaign.name, row, content)
        recorded = recorded.model_copy(update={"pod": attempt.pod})
        attempts = (*entry.attempts[:-1], recorded)
        entry.say(READY, True, str(row.outcome).capitalize(), recorded.row_key or "", found.now)
        if entry.tainted:
            said = "recorded; neither pod was scored"
            entry.say(MULTIPLE_PODS, False, RECORDED, said, found.now)
        # A map of the status: later writes, which leave it out, do not remove it.
        counted = measures(row).model_dump(mode="json", by_alias=True)
        await self.write_status(entry, attempts, measures={str(attempt.number): counted})
        ledger.record(entry, attempts, facts(row))
        return row

    async def taint(self, entry: RunFacts, names: str, now: datetime) -> None:
        """Write down that an attempt has two pods, so that neither is ever scored."""
        if not entry.tainted:
            said = f"pods {names} are there for one attempt: neither is scored"
            entry.say(MULTIPLE_PODS, True, MULTIPLE_PODS, said, now)
            await self.write_status(entry, entry.attempts)

    async def foreign_row(self, ledger: Ledger, run: PlannedRun, attempt: int) -> None:
        """Ask again for a row that is not ours, before anything is paid for its run.

        Raises:
            RowConflict: it is still there.
        """
        said = ledger.foreign.get(run.id)
        if said is None:
            return
        key = row_key(self.campaign.name, run.id, attempt)
        if await self.line.ask(self.line.store.read, key) is not None:
            raise RowConflict(
                f"{said}; it was not changed, and the run is not started. Move that row away, or "
                "use another prefix in spec.store.url"
            )
        del ledger.foreign[run.id]

    async def write_status(
        self, entry: RunFacts, attempts: tuple[AttemptStatus, ...], **rest: Any
    ) -> None:
        """Write a run's status, whole, and what else is to be merged into it.

        The caller keeps it once it is written.
        """
        status = {
            **rest,
            "phase": attempts[-1].phase,
            "attempts": [
                attempt.model_dump(mode="json", by_alias=True, exclude_none=True)
                for attempt in attempts
            ],
            "conditions": [
                said.model_dump(mode="json", by_alias=True, exclude_none=True)
                for said in entry.conditions.values()
            ],
        }
        with suppress(Missing):  # somebody deleted the run; its row tells what became of it
            await self._cluster.patch_status(
                "BenchmarkRun", self.campaign.namespace, entry.name, status
            )

    def key(self, run: PlannedRun, entry: RunFacts, attempt: int) -> AttemptKey:
        """The identity of an attempt."""
        return AttemptKey(
            namespace=self.campaign.namespace,
            campaign=self.campaign.name,
            campaign_uid=self.campaign.uid,
            run_object=entry.name,
            run_uid=entry.uid,
            run=run,
            attempt=attempt,
            digest=self.campaign.digest,
        )
