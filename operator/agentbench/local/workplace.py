"""An agent's workplace: the start state, set-up, services, and the sandbox that holds them."""

import asyncio
import os
import shutil
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from agentbench.api.base import seconds
from agentbench.api.campaign import CampaignSpec
from agentbench.api.factors import Command as StackCommand
from agentbench.api.factors import Stack, Task
from agentbench.core.bundle import SCRIPTS_LAYER, seed_layer
from agentbench.core.plan import PlannedRun
from agentbench.core.reasons import Reason
from agentbench.local.app import APP_PORT
from agentbench.local.place import AGENT_UID, Folders, Machine, Share
from agentbench.local.ports import free_port
from agentbench.local.sandbox import Command, Sandbox, SandboxSpec
from agentbench.local.services.group import Services
from agentbench.local.services.templates import Templates
from agentbench.pod.diff import MADE
from agentbench.pod.snapshot import copy_into
from agentbench.pod.surroundings import Ran


class SetupFault(RuntimeError):
    """The start state could not be made: the harness's part, whatever the reason."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What a workplace is made from."""

    root: Path
    machine: Machine
    templates: Templates
    layers: Mapping[str, Path]
    spec: CampaignSpec
    run: PlannedRun
    control: Path  # socket for the warden

    @property
    def task(self) -> Task:
        """The run's task."""
        return next(task for task in self.spec.tasks if task.id == self.run.cell.task)

    @property
    def stack(self) -> Stack:
        """The run's stack."""
        return next(stack for stack in self.spec.stacks if stack.id == self.run.cell.stack)


class Workplace:
    """A workplace that is set up; close it to end everything in it."""

    def __init__(self, start: Start, extra: tuple[Share, ...] = ()) -> None:
        self._start = start
        self._closing = AsyncExitStack()
        self.folders = Folders(root=start.root / "agent", machine=start.machine, extra=extra)
        self.sandbox: Sandbox
        self.services: Services
        self.port = APP_PORT

    @property
    def before(self) -> Path:
        """A folder with the start state as the diff compares it."""
        start = self._start
        if start.task.generate:
            return start.root / "generated"
        return start.layers.get(seed_layer(start.task.id, start.stack.id), start.root / "nothing")

    async def set_up(self) -> None:
        """Make the start state and run the stack's own set-up.

        Raises:
            SetupFault: a part of it failed.
            ServiceDied: a service did not start.
            SandboxError: the sandbox did.
        """
        start, stack = self._start, self._start.stack
        self.folders.make()
        (start.root / "nothing").mkdir(exist_ok=True)
        place = start.root / "root"
        place.mkdir(exist_ok=True)
        self._lay_seed()
        self.sandbox = await Sandbox.start(
            SandboxSpec(
                isolation=start.machine.isolation,
                name="agent",
                view=start.machine.view(self.folders.shares),
                place=place,
                control=start.control,
            )
        )
        self._closing.push_async_callback(self.sandbox.close)
        self.services = Services(
            folder=start.root / "services",
            machine=start.machine,
            beside=self.sandbox,
            templates=start.templates,
        )
        self._closing.push_async_callback(self.services.close)
        await self.services.start(stack.services, start.layers.get(SCRIPTS_LAYER))
        if not start.machine.walled:
            self.port = await free_port(self.sandbox)
        if start.task.generate:
            await self._step("generate", stack.generate)
            await asyncio.to_thread(self._keep_generated)
        self._lay_plugins()
        if stack.setup is not None:
            await self._step("setup", stack.setup)
        await self.sandbox.kill_all()

    def env(self) -> dict[str, str]:
        """The stack's and the services' variables, for the agent and for set-up."""
        return {
            **self._start.stack.env,
            **self.services.env(),
            "PORT": str(self.port),
            "DATA_DIR": self._start.machine.seen(self.folders.data),
        }

    async def close(self) -> None:
        """End everything in it."""
        await self._closing.aclose()

    def _lay_seed(self) -> None:
        start = self._start
        if start.task.generate:
            return
        seed = start.layers.get(seed_layer(start.task.id, start.stack.id))
        if seed is None:
            raise SetupFault(
                Reason.SEED_FAILED,
                f"the bundle has no start state of {start.task.id} on {start.stack.id}",
            )
        copy_into(seed, self.folders.workspace.source, start.machine.owner(AGENT_UID))

    def _lay_plugins(self) -> None:
        """Lay the plugins that are on into the workspace."""
        start = self._start
        for plugin in start.spec.plugins:
            if plugin.id not in start.run.cell.plugins:
                continue
            layer = start.layers.get(f"plugin/{plugin.id}")
            if layer is None:
                raise SetupFault(Reason.SEED_FAILED, f"the bundle has no plugin {plugin.id}")
            owner = start.machine.owner(AGENT_UID)
            target = self.folders.workspace.source
            for part in Path(plugin.target).parts:
                target = target / part
                if target.is_symlink():
                    raise SetupFault(Reason.SEED_FAILED, f"{plugin.target} leads through a link")
                if not target.is_dir():
                    target.mkdir()
                    if owner is not None:
                        os.chown(target, *owner)
            copy_into(layer, target, owner)

    def _keep_generated(self) -> None:
        kept = self._start.root / "generated"
        shutil.rmtree(kept, ignore_errors=True)
        ignore = shutil.ignore_patterns(*MADE)
        shutil.copytree(self.folders.workspace.source, kept, symlinks=True, ignore=ignore)

    async def _step(self, name: str, command: StackCommand | None) -> None:
        if command is None:
            raise SetupFault(Reason.SETUP_FAILED, f"the stack has no {name} command")
        workspace = self._start.machine.seen(self.folders.workspace)
        ended, log = await self.sandbox.run(
            Command(
                argv=("sh", "-c", command.run),
                env=self.folders.env(self.env()),
                cwd=workspace,
                uid=AGENT_UID,
                gid=AGENT_UID,
            ),
            seconds(command.timeout),
        )
        ran = Ran(ended, log)
        if not ran.ok:
            raise SetupFault(Reason.SETUP_FAILED, f"{name} {ran.told}")
