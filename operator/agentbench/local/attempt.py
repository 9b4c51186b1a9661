"""Carries one attempt from its start state to its row; what a keeper does.

Every step leaves a mark in the journal, so that a keeper that follows a killed one goes on where
that one stopped, and never starts an agent a second time.
"""

import asyncio
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agentbench.core.bundle import CHECKS_LAYER, SCRIPTS_LAYER
from agentbench.core.failure import Evidence, Fault, judge
from agentbench.core.reasons import Reason
from agentbench.core.record import NOT_GRADED, Attempted, aborted, build_row, encode_row
from agentbench.core.summary import Ending, Summary
from agentbench.local.agent import AgentRun, WardenLost
from agentbench.local.artifacts import Artifacts
from agentbench.local.examination import Bench
from agentbench.local.fingerprint import environment, versions
from agentbench.local.grading import Graded, Grader
from agentbench.local.job import AttemptFolder, Job, short_folder, short_path, write_durably
from agentbench.local.journal import Journal, Mark
from agentbench.local.place import Machine
from agentbench.local.sandbox import SandboxError
from agentbench.local.services.kinds import ServiceUnavailable
from agentbench.local.services.templates import Templates
from agentbench.local.warden_process import WardenProcess, read_summary
from agentbench.local.workplace import SetupFault, Start, Workplace
from agentbench.pod.diff import difference, remember
from agentbench.pod.snapshot import SnapshotTooLarge, capture
from agentbench.pod.surroundings import ServiceDied
from agentbench.pod.trees import remove_tree
from agentbench_analysis.rows.model import Metric
from agentbench_analysis.rows.words import Availability

ABORTED = "ended by a person before it could be judged"
MIB = 1 << 20


@dataclass(slots=True)
class _Course:
    """What has become of the attempt so far."""

    started_at: str
    faults: list[Fault] = field(default_factory=list)
    summary: Summary | None = None
    durations: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    graded: Graded | None = None
    aborted: bool = False


class Attempt:
    """One attempt. Cancelling `carry_out` ends its agent and makes its row `aborted`."""

    def __init__(self, folder: AttemptFolder, job: Job, key: str, warden: WardenProcess) -> None:
        self.folder = folder
        self.job = job
        self.key = key
        self.warden = warden
        self.spec = job.parsed_spec()
        self.run = job.planned()
        self.journal = Journal(folder.journal)
        self.layers = {name: Path(path) for name, path in job.layers.items()}
        self.machine = Machine(
            isolation=job.isolation,
            show=[Path(path) for path in job.show],
            hide=[Path(path) for path in job.hide],
        )
        self.templates = Templates(Path(job.templates), self.machine)

    async def carry_out(self) -> None:
        """Go on from wherever the journal says, and leave the finished row."""
        course = self._taken_up()
        try:
            if self.journal.last(Mark.CAPTURED) is None and not course.faults:
                await self._work(course)
            if self.folder.snapshot.exists() and self._gradable(course):
                self.journal.write(Mark.GRADING)
                course.graded = await self._grade()
        except asyncio.CancelledError:
            course.aborted = True
            course.summary = course.summary or read_summary(self.folder.warden)
        self._record(course)

    def abort(self) -> None:
        """Leave the row of an attempt that was ended before its first step."""
        course = self._taken_up()
        course.aborted = True
        self._record(course)

    def _taken_up(self) -> _Course:
        """The course as a killed keeper left it, or a new one."""
        begun = self.journal.last(Mark.BEGUN)
        if begun is None:
            begun = {"at": _now()}
            self.journal.write(Mark.BEGUN, durable=True, **begun)
        course = _Course(started_at=str(begun["at"]))
        captured = self.journal.last(Mark.CAPTURED)
        if captured is not None:
            course.summary = read_summary(self.folder.warden)
            course.durations = dict(captured["durations"])
            course.notes = list(captured["notes"])
            course.faults = [
                Fault(reason=Reason(one["reason"]), detail=one["detail"])
                for one in captured["faults"]
            ]
        elif self.journal.last(Mark.AGENT) is not None:
            # Whether the agent had come far cannot be known: it must not be started again.
            left = read_summary(self.folder.warden)
            if left is not None:
                # Its sandbox ended under it: how the agent ended says nothing about the agent.
                course.summary = left.model_copy(
                    update={"ending": Ending.STOPPED, "sandbox_failed": ""}
                )
            detail = "everything of this attempt was killed while its agent ran"
            course.faults.append(Fault(reason=Reason.ENGINE_KILLED, detail=detail))
        return course

    async def _work(self, course: _Course) -> None:
        """Set up, run the agent, capture the final state."""
        with short_folder(self.folder.root) as sockets:
            agent = AgentRun(
                spec=self.spec,
                run=self.run,
                attempt=self.job.attempt,
                layers=self.layers,
                key=self.key,
                output=self.folder.warden,
                sockets=sockets,
            )
            start = Start(
                root=self._fresh_work(),
                machine=self.machine,
                templates=self.templates,
                layers=self.layers,
                spec=self.spec,
                run=self.run,
                control=agent.control,
            )
            try:
                await self._live(course, agent, start)
            except SetupFault as error:
                course.faults.append(Fault(reason=error.reason, detail=str(error)))
            except (ServiceDied, ServiceUnavailable) as error:
                course.faults.append(Fault(reason=Reason.SERVICE_DIED, detail=str(error)))
            except WardenLost as error:
                course.faults.append(Fault(reason=Reason.WARDEN_DIED, detail=str(error)))
            except SandboxError as error:
                reason = self.journal.last(Mark.AGENT) and Reason.WARDEN_DIED
                course.faults.append(
                    Fault(reason=reason or Reason.SETUP_FAILED, detail=f"sandbox: {error}")
                )

    async def _live(self, course: _Course, agent: AgentRun, start: Start) -> None:
        place = Workplace(start, agent.shares(self.machine, start.root))
        async with AsyncExitStack() as closing:
            closing.push_async_callback(place.close)
            began = time.monotonic()
            self.journal.write(Mark.SETUP)
            await place.set_up()
            before = await asyncio.to_thread(remember, place.folders.workspace.source)
            course.durations["setup_seconds"] = time.monotonic() - began
            self.journal.write(Mark.AGENT, durable=True)
            course.summary = await agent.carry_out(place, self.warden)
            place.services.check()
        # Everything in the sandboxes is dead here: nothing can still write.
        began = time.monotonic()
        workspace = place.folders.workspace.source
        try:
            captured = await asyncio.to_thread(
                capture,
                workspace,
                self.folder.snapshot,
                self.spec.checks.snapshot_limit_mi_b * MIB,
            )
            course.notes += captured.notes()
        except SnapshotTooLarge as error:
            course.faults.append(Fault(reason=Reason.AGENT_DISK, detail=str(error)))
        diff = await asyncio.to_thread(difference, place.before, before, workspace)
        Artifacts(self.folder, self._secrets()).keep_diff(diff)
        course.durations["capture_seconds"] = time.monotonic() - began
        self.journal.write(
            Mark.CAPTURED,
            durable=True,
            durations=course.durations,
            notes=course.notes,
            faults=[{"reason": str(f.reason), "detail": f.detail} for f in course.faults],
        )
        await asyncio.to_thread(remove_tree, start.root)

    def _fresh_work(self) -> Path:
        root = self.folder.work
        remove_tree(root)
        for left in (self.folder.warden, self.folder.record):
            remove_tree(left)
        self.folder.snapshot.unlink(missing_ok=True)
        root.mkdir(mode=0o700)
        if not self.machine.walled:
            root.chmod(0o711)
        return root

    def _gradable(self, course: _Course) -> bool:
        ended = course.summary is not None and course.summary.ending is not Ending.NOT_STARTED
        return ended and self.spec.stacks != () and not course.faults

    async def _grade(self) -> Graded:
        checks = self.layers.get(CHECKS_LAYER, self.folder.root / "no-checks")
        stack = next(s for s in self.spec.stacks if s.id == self.run.cell.stack)
        task = next(t for t in self.spec.tasks if t.id == self.run.cell.task)

        async def progress(text: str) -> None:
            self.journal.write(Mark.NOTE, text=text)

        grader = Grader(
            bench=Bench(
                machine=self.machine,
                templates=self.templates,
                archive=self.folder.snapshot,
                checks=checks,
                scripts=self.layers.get(SCRIPTS_LAYER),
                root=self.folder.bench,
            ),
            task=task,
            stack=stack,
            rules=self.spec.checks,
        )
        return await grader.grade(progress)

    def _record(self, course: _Course) -> None:
        """Judge the attempt and leave its artifacts and its row."""
        remove_tree(short_path(self.folder.root))
        kept = Artifacts(self.folder, self._secrets())
        graded = course.graded
        if graded is not None:
            course.durations["grading_seconds"] = graded.seconds
            kept.keep_records(graded.records)
        kept.keep_snapshot()
        kept.keep_warden(course.summary)
        security = graded.security if graded else NOT_GRADED
        checks = graded.checks if graded else ()
        judgement = judge(
            Evidence(
                place=course.faults,
                summary=course.summary,
                checks=checks,
                repeats=self.spec.checks.repeats,
                security=security,
            ),
            self.spec.analysis.cause_order,
        )
        row = build_row(
            campaign=self.job.campaign,
            spec=self.spec,
            digest=self.job.digest,
            run=self.run,
            judgement=aborted(ABORTED) if course.aborted else judgement,
            attempted=Attempted(
                attempt=self.job.attempt,
                started_at=course.started_at,
                ended_at=_now(),
                summary=course.summary,
                metrics=_measured(course.durations),
                checks=checks,
                security=security,
                artifacts=kept.artifacts(self.job.campaign, self.run.id, self.job.attempt),
                versions=versions(self.spec, self.run),
                environment=environment(self.job.isolation),
                notes=course.notes,
            ),
        )
        write_durably(self.folder.row, encode_row(row))

    def _secrets(self) -> Mapping[str, str]:
        return {"provider-key": self.key} if len(self.key) >= 6 else {}


def _measured(durations: Mapping[str, Any]) -> dict[str, Metric]:
    return {
        name: Metric(value=round(float(value), 3), availability=Availability.MEASURED)
        for name, value in durations.items()
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
