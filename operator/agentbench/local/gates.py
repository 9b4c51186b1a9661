"""Gates: every check is tried on final states whose verdict is known before the freeze.

The reference solution must pass every repeat and raise no security flag; an untouched start state
must fail; each seeded fault must fail the assertion that it names; a look-alike must pass.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from agentbench.api.base import seconds
from agentbench.api.campaign import CampaignSpec
from agentbench.api.factors import FileRef, Mutant, Stack, Task
from agentbench.core.bundle import CHECKS_LAYER, GATE_LAYER, SCRIPTS_LAYER, solution_layer
from agentbench.core.plan import PlannedRun
from agentbench.local.examination import Bench, Examined, examine
from agentbench.local.grading import Graded, Grader, no_progress
from agentbench.local.place import AGENT_UID, Machine
from agentbench.local.sandbox import SandboxError
from agentbench.local.services.kinds import ServiceUnavailable
from agentbench.local.services.templates import Templates
from agentbench.local.workplace import SetupFault, Start, Workplace
from agentbench.pack.records import GateResult
from agentbench.pod.check_report import flags
from agentbench.pod.snapshot import SnapshotTooLarge, capture, copy_into
from agentbench.pod.surroundings import ServiceDied
from agentbench.pod.trees import remove_tree
from agentbench_analysis.rows.model import Cell
from agentbench_analysis.rows.words import CheckVerdict, Phase

REFERENCE, NOP = "reference", "nop"
MIB = 1 << 20
_DETAIL = 3900


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate to try: a final state, and what must be found in it."""

    task: Task
    stack: Stack
    subject: str
    mutant: Mutant | None = None

    @property
    def expected(self) -> str:
        """What must be found, in words."""
        if self.subject == REFERENCE:
            return "pass, and no security flag"
        if self.subject == NOP:
            return "fail"
        if self.mutant is None or self.mutant.fails is None:
            return "pass"
        return f"{self.mutant.fails} fails"


def gates(spec: CampaignSpec) -> Iterator[Gate]:
    """Every gate of a protocol, in the order of its tasks and stacks."""
    for task in spec.tasks:
        for stack in spec.stacks:
            yield Gate(task, stack, REFERENCE)
            yield Gate(task, stack, NOP)
            for mutant in task.mutants:
                if mutant.stack == stack.id:
                    yield Gate(task, stack, mutant.path, mutant)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateKeeper:
    """Tries gates on this machine. `folder` is an empty folder of our own."""

    spec: CampaignSpec
    machine: Machine
    layers: Mapping[str, Path]
    templates: Templates
    folder: Path

    async def try_all(self, parallel: int) -> AsyncIterator[GateResult]:
        """Try every gate, so many at once; results come as they are found."""
        slots = asyncio.Semaphore(parallel)

        async def one(number: int, gate: Gate) -> GateResult:
            async with slots:
                return await self.try_one(gate, self.folder / str(number))

        tasks = [
            asyncio.create_task(one(number, gate)) for number, gate in enumerate(gates(self.spec))
        ]
        try:
            for done in asyncio.as_completed(tasks):
                yield await done
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def try_one(self, gate: Gate, root: Path) -> GateResult:
        """Make a gate's final state, and see what the checks say of it."""
        root.mkdir(parents=True, mode=0o711)
        try:
            bench = await self._final_state(gate, root)
            ok, found = await self._judge(gate, bench)
        except (SetupFault, SandboxError, ServiceDied, ServiceUnavailable) as error:
            ok, found = False, f"the start state could not be made: {error}"
        except SnapshotTooLarge as error:
            ok, found = False, str(error)
        finally:
            await asyncio.to_thread(remove_tree, root)
        return GateResult(
            task=gate.task.id,
            stack=gate.stack.id,
            subject=gate.subject,
            expected=gate.expected,
            found=found[:_DETAIL],
            ok=ok,
        )

    async def _final_state(self, gate: Gate, root: Path) -> Bench:
        work, archive = root / "work", root / "final.tar.zst"
        work.mkdir(mode=0o711)
        with TemporaryDirectory(prefix="ab-") as sockets:
            start = Start(
                root=work,
                machine=self.machine,
                templates=self.templates,
                layers=self.layers,
                spec=self.spec,
                run=_untouched(gate),
                control=Path(sockets) / "control",
            )
            place = Workplace(start)
            async with AsyncExitStack() as closing:
                closing.push_async_callback(place.close)
                await place.set_up()
            workspace = place.folders.workspace.source
            owner = self.machine.owner(AGENT_UID)
            for overlay in self._overlays(gate):
                await asyncio.to_thread(copy_into, overlay, workspace, owner)
            limit = self.spec.checks.snapshot_limit_mi_b * MIB
            await asyncio.to_thread(capture, workspace, archive, limit)
            await asyncio.to_thread(remove_tree, work)
        return Bench(
            machine=self.machine,
            templates=self.templates,
            archive=archive,
            checks=self.layers[CHECKS_LAYER],
            scripts=self.layers.get(SCRIPTS_LAYER),
            root=root / "bench",
        )

    def _overlays(self, gate: Gate) -> Iterator[Path]:
        if gate.subject == NOP:
            return
        yield self.layers[solution_layer(gate.task.id, gate.stack.id)]
        if gate.mutant is not None:
            yield self.layers[GATE_LAYER] / gate.mutant.path

    async def _judge(self, gate: Gate, bench: Bench) -> tuple[bool, str]:
        if gate.subject == REFERENCE:
            grader = Grader(bench=bench, task=gate.task, stack=gate.stack, rules=self.spec.checks)
            return _reference(await grader.grade(no_progress))
        examined = await self._examine(gate, bench, gate.task.check)
        if gate.subject == NOP:
            return examined.verdict is CheckVerdict.FAIL, _told(examined)
        fails = gate.mutant.fails if gate.mutant is not None else None
        if fails is None:
            return examined.verdict is CheckVerdict.PASS, _told(examined)
        if examined.verdict is CheckVerdict.FAIL and fails in _failed(examined):
            return True, f"{fails} fails"
        program = self.spec.checks.security
        if program is None:
            return False, _told(examined)
        secured = await self._examine(gate, bench, program)
        flagged = {flag.assertion: flag.kind for flag in flags(secured.lines)}
        if fails in flagged:
            return True, f"{fails} fails, flagged {flagged[fails]}"
        return False, f"check: {_told(examined)}; security check: {_told(secured)}"

    async def _examine(self, gate: Gate, bench: Bench, program: FileRef) -> Examined:
        limit = seconds(gate.task.timeout or self.spec.checks.timeout)
        return await examine(bench, gate.stack, program.path, 1, limit)


def _untouched(gate: Gate) -> PlannedRun:
    cell = Cell(task=gate.task.id, stack=gate.stack.id, agent=NOP)
    return PlannedRun(f"gate-{gate.task.id}-{gate.stack.id}", 0, 1, Phase.SAMPLE, cell)


def _reference(graded: Graded) -> tuple[bool, str]:
    verdicts = [check.verdict for check in graded.checks]
    passed = verdicts.count(CheckVerdict.PASS)
    failed = {a.id: a.detail for check in graded.checks for a in check.asserts if not a.ok}
    reasons = sorted({check.reason for check in graded.checks if check.reason})
    security = graded.security
    said = [f"{passed} of {len(verdicts)} repeats pass"]
    said += [f"{name} fails: {detail}" for name, detail in sorted(failed.items())]
    said += reasons
    if not security.ran:
        said.append(f"the security check did not run: {security.reason}")
    said += [f"security flag {flag.assertion}: {flag.detail}" for flag in security.flags]
    ok = passed == len(verdicts) and security.ran and not security.flags
    return ok, "; ".join(said)


def _failed(examined: Examined) -> list[str]:
    return [line.assertion.id for line in examined.lines if not line.assertion.ok]


def _told(examined: Examined) -> str:
    failed = _failed(examined)
    named = f", failed assertions: {', '.join(failed)}" if failed else ""
    reason = f", {examined.reason}: {examined.detail}" if examined.reason else ""
    return f"{examined.verdict}{named}{reason}"
