"""Runs the agent of one attempt under its warden."""

import asyncio
import os
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from agentbench.agents.brief import BriefError, Whereabouts, brief, mock_script, usual_address
from agentbench.api.base import seconds
from agentbench.api.campaign import CampaignSpec
from agentbench.api.factors import Agent, Provider
from agentbench.core.bundle import solution_layer
from agentbench.core.plan import PlannedRun
from agentbench.core.reasons import Reason
from agentbench.core.summary import Summary
from agentbench.local.forward import Forwards
from agentbench.local.place import AGENT_UID, Machine, Share
from agentbench.local.warden_process import WardenProcess, read_summary
from agentbench.local.workplace import SetupFault, Workplace
from agentbench.pod.mock_provider import MockProvider, ScriptError, read_script
from agentbench.pod.snapshot import copy_into

MODEL_PORT, HOOK_PORT = 8787, 8799
GRACE = 180.0  # seconds beyond the wall cap that a warden gets to stop the agent and to record
SOLUTION = "/run/agentbench/solution"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRun:
    """One agent's run: what the protocol says of it, and where it happens.

    `sockets` is a folder whose path is short enough for a Unix socket's address.
    """

    spec: CampaignSpec
    run: PlannedRun
    attempt: int
    layers: Mapping[str, Path]
    key: str
    output: Path
    sockets: Path

    @property
    def agent(self) -> Agent:
        """The protocol's agent."""
        return next(agent for agent in self.spec.agents if agent.id == self.run.cell.agent)

    @property
    def control(self) -> Path:
        """The control socket of the agent's sandbox."""
        return self.sockets / "control"

    def shares(self, machine: Machine, root: Path) -> tuple[Share, ...]:
        """What this agent sees beside its workplace: the reference solution, if it is the oracle.

        `root` is the attempt's own folder, for a copy where a layer cannot be shown as it is.

        Raises:
            SetupFault: the bundle has no solution for the oracle.
        """
        if self.agent.adapter != "oracle":
            return ()
        cell = self.run.cell
        layer = self.layers.get(solution_layer(cell.task, cell.stack))
        if layer is None:
            raise SetupFault(
                Reason.SEED_FAILED,
                f"the bundle has no solution of {cell.task} on {cell.stack} for the oracle",
            )
        if machine.walled:
            return (Share(layer, SOLUTION),)
        copy = root / "solution"
        copy.mkdir(mode=0o755)
        copy_into(layer, copy, machine.owner(AGENT_UID))
        return (Share(copy, SOLUTION),)

    async def carry_out(self, place: Workplace, warden: WardenProcess) -> Summary:
        """Run the agent to its end and return what the warden measured.

        Raises:
            WardenLost: the warden ended without a summary.
            SetupFault: the agent's script or price list is not there.
        """
        async with AsyncExitStack() as closing:
            try:
                config = await self._config(place, closing)
                warden.tell(config)
                limit = seconds(self.spec.caps.wall) + GRACE
                code = await warden.wait(limit)
            except asyncio.CancelledError:
                warden.give_up()
                await warden.wait(GRACE)
                raise
        summary = read_summary(self.output)
        if summary is None:
            end = f"no end {GRACE:.0f} s after the wall cap" if code is None else f"exit {code}"
            raise WardenLost(f"{end}: {_tail(warden.log)}")
        return summary

    async def _config(self, place: Workplace, closing: AsyncExitStack) -> dict[str, Any]:
        forwards = Forwards()
        closing.push_async_callback(forwards.close)
        model = await place.sandbox.listen(MODEL_PORT if place.folders.machine.walled else 0)
        hook = await place.sandbox.listen(HOOK_PORT if place.folders.machine.walled else 0)
        model_port, hook_port = model.getsockname()[1], hook.getsockname()[1]
        await forwards.to_unix(model, self.sockets / "model.sock")
        await forwards.to_unix(hook, self.sockets / "hook.sock")
        machine, folders = place.folders.machine, place.folders
        home = machine.seen(folders.home)
        oracle = self.agent.adapter == "oracle"
        whereabouts = Whereabouts(
            agent={
                "workspace": machine.seen(folders.workspace),
                "home": home,
                "tmp": f"{home}/tmp",
                "path": machine.path,
                "env": place.env(),
                "uid": AGENT_UID,
                "gid": AGENT_UID,
                "modelUrl": f"http://127.0.0.1:{model_port}",
                "hookUrl": f"http://127.0.0.1:{hook_port}/pre",
            },
            upstreams=await self._upstreams(place, forwards, closing),
            listen={"folder": str(self.sockets)},
            control=str(self.control),
            output=str(self.output),
            solution=machine.seen(folders.extra[0]) if oracle else "",
        )
        try:
            return brief(self.spec, self.run, self.attempt, self._read, whereabouts)
        except BriefError as error:
            raise SetupFault(Reason.SETUP_FAILED, str(error)) from error

    def _read(self, layer: str, path: str) -> str:
        """A file of the bundle."""
        folder = self.layers.get(layer)
        if folder is None or not (folder / path).is_file():
            raise SetupFault(Reason.SETUP_FAILED, f"{path} is not in the bundle's {layer} layer")
        return (folder / path).read_text("utf-8")

    async def _upstreams(
        self, place: Workplace, forwards: Forwards, closing: AsyncExitStack
    ) -> dict[str, Any]:
        provider = self.agent.provider
        if provider is None:
            return {}
        script = mock_script(self.agent, self._read)
        if script is not None:
            url = await self._mock(*script, closing)
        else:
            url = await self._url(provider, place, forwards)
        return {provider.api: {"url": url, "key": self.key}}

    async def _mock(self, path: str, text: str, closing: AsyncExitStack) -> str:
        """Serve the mock provider that stands in for the API, for as long as the agent runs."""
        try:
            mock = MockProvider(read_script(text, path))
        except ScriptError as error:
            raise SetupFault(Reason.SETUP_FAILED, str(error)) from error
        closing.push_async_callback(mock.stop)
        return f"http://127.0.0.1:{await mock.start_tcp()}"

    async def _url(self, provider: Provider, place: Workplace, forwards: Forwards) -> str:
        """The provider's address; a host that is a service of the stack leads to that service."""
        url = usual_address(provider)
        parts = urlsplit(url)
        port = place.services.port(parts.hostname or "")
        if port is None:
            return url
        ours = await forwards.into(place.sandbox, port)
        return urlunsplit(("http", f"127.0.0.1:{ours}", parts.path, "", ""))


class WardenLost(RuntimeError):
    """The warden ended without a summary; the message has its last words."""


def _tail(log: Path) -> str:
    try:
        return log.read_bytes()[-2000:].decode("utf-8", "replace").strip()
    except FileNotFoundError:
        return ""


def provider_key(agent: Agent, environment: Mapping[str, str] = os.environ) -> str | None:
    """The key of an agent's provider, "" if it needs none, None if its variable is not set."""
    if agent.provider is None or agent.provider.key_env is None:
        return ""
    return environment.get(agent.provider.key_env) or None
