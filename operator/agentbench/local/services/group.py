"""The services of one workplace: started fresh, watched, emptied, ended."""

import asyncio
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agentbench.api.factors import Service
from agentbench.local.place import CODE, Machine, Share
from agentbench.local.ports import LOWEST, free_port
from agentbench.local.sandbox import Command, Running, Sandbox, SandboxError, SandboxSpec
from agentbench.local.services.kinds import Kind, kind_of
from agentbench.local.services.templates import Templates, copy_data
from agentbench.pod.surroundings import ServiceDied
from agentbench.pod.trees import remove_tree

READY_TIMEOUT = 30.0
_PAUSE = 0.01


@dataclass(slots=True, kw_only=True)
class _Member:
    service: Service
    kind: Kind
    port: int
    share: Share
    script: Share | None
    running: Running | None = None


@dataclass(slots=True, kw_only=True)
class Services:
    """Services that share the network of `beside`, in a sandbox of their own."""

    folder: Path
    machine: Machine
    beside: Sandbox
    templates: Templates
    _members: list[_Member] = field(default_factory=list)
    _sandbox: Sandbox | None = None

    async def start(self, services: Sequence[Service], scripts: Path | None) -> None:
        """Start them all, with no data; `scripts` holds the scripts of mock model servers.

        Raises:
            ServiceUnavailable: this machine cannot run one of them.
            ServiceDied: one did not become ready.
        """
        if not services:
            return
        source = ":".join(self.machine.seen(share) for share in CODE)
        for number, service in enumerate(services):
            kind = kind_of(service.kind, source)
            script = None
            if service.script is not None and scripts is not None:
                script = self._script(service.name, scripts / service.script.path)
            share = Share(self.folder / service.name, f"/services/{service.name}", writable=True)
            # Two services of one kind share the sandbox's network: each has a port of its own.
            port = kind.port + 100 * number
            taken = {member.port for member in self._members}
            while not self.machine.walled and (port in taken or port < LOWEST):
                port = await free_port(self.beside)
            self._members.append(
                _Member(service=service, kind=kind, port=port, share=share, script=script)
            )
        for member in self._members:
            await self._fresh(member)
        shares = [*CODE, *(member.share for member in self._members)]
        shares += [member.script for member in self._members if member.script is not None]
        place = self.folder / ".root"
        place.mkdir()
        self._sandbox = await Sandbox.start(
            SandboxSpec(
                isolation=self.machine.isolation,
                name="services",
                view=self.machine.view(shares),
                place=place,
                join=self.beside if self.machine.walled else None,
            )
        )
        await asyncio.gather(*(self._start(member) for member in self._members))

    def env(self) -> dict[str, str]:
        """The variables that they inject, as the stack declares them."""
        injected: dict[str, str] = {}
        for member in self._members:
            values = {
                "url": member.kind.url("127.0.0.1", member.port),
                "host": "127.0.0.1",
                "port": str(member.port),
            }
            for name, text in member.service.env.items():
                for word, value in values.items():
                    text = text.replace("{" + word + "}", value)
                injected[name] = text
        return injected

    async def model_calls(self) -> bytes | None:
        """What the mock model server was asked, as JSON; None if the stack has none.

        Raises:
            ServiceDied: it does not answer.
        """
        port = self.port("mock-model")
        if port is None:
            return None
        connected = await self.beside.connect(port)
        if connected is None:
            raise ServiceDied("service mock-model does not answer")
        reader, writer = await asyncio.open_connection(sock=connected)
        try:
            writer.write(b"GET /__calls HTTP/1.0\r\nHost: mock-model\r\n\r\n")
            head, _, calls = (await reader.read()).partition(b"\r\n\r\n")
        finally:
            writer.close()
        if b" 200 " not in head.split(b"\r\n")[0]:
            raise ServiceDied("service mock-model does not tell its calls")
        return calls

    def port(self, kind: str) -> int | None:
        """The port of the first service of a kind, or of the service of that name."""
        return next(
            (m.port for m in self._members if kind in (m.service.kind, m.service.name)), None
        )

    def urls(self) -> Mapping[str, str]:
        """The address of each service, by its kind."""
        return {m.service.kind: m.kind.url("127.0.0.1", m.port) for m in self._members}

    async def reset(self) -> None:
        """Give every service that keeps data an empty one, under the same address."""
        for member in self._members:
            if member.service.kind == "mock-model" or self._sandbox is None:
                continue
            if member.running is not None:
                await self._sandbox.signal(member.running, "KILL", group=True)
                await member.running.wait()
            await self._empty(member)
            await self._start(member)

    def check(self) -> None:
        """Raise ServiceDied if a service is no longer alive."""
        for member in self._members:
            running = member.running
            if running is not None and running.exited.done():
                raise ServiceDied(f"service {member.service.name} ended: {running.log.text(2000)}")

    async def close(self) -> None:
        """End them all."""
        if self._sandbox is not None:
            await self._sandbox.close()
            self._sandbox = None

    def _script(self, name: str, source: Path) -> Share:
        """A copy that the service's user can read, wherever the original lies."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o711)
        copy = self.folder / f"{name}.script{source.suffix}"
        shutil.copyfile(source, copy)
        copy.chmod(0o644)
        return Share(copy, f"/services/{copy.name}")

    async def _start(self, member: _Member) -> None:
        assert self._sandbox is not None
        data = self.machine.seen(member.share)
        script = self.machine.seen(member.script) if member.script is not None else None
        env = {"PATH": self.machine.path, "LANG": "C.UTF-8", "HOME": data, **member.kind.env}
        user = self.machine.service_uid
        if member.kind.ours and not self.machine.walled and os.geteuid() == 0:
            # Without walls this Python may lie where no other user can reach it.
            user = 0
        member.running = running = await self._sandbox.spawn(
            Command(
                argv=member.kind.argv(data, member.port, script),
                env=env,
                cwd="/",
                uid=user,
                gid=user,
            )
        )
        name = member.service.name
        try:
            async with asyncio.timeout(READY_TIMEOUT):
                while not await self._ready(member):
                    if running.exited.done():
                        raise ServiceDied(f"service {name} ended: {running.log.text(2000)}")
                    await asyncio.sleep(_PAUSE)
        except TimeoutError:
            raise ServiceDied(
                f"service {name} was not ready after {READY_TIMEOUT:.0f} s: "
                f"{running.log.text(2000)}"
            ) from None

    async def _ready(self, member: _Member) -> bool:
        try:
            connected = await self.beside.connect(member.port)
        except SandboxError as error:
            raise ServiceDied(f"service {member.service.name}: {error}") from error
        if connected is None:
            return False
        with connected:
            return await member.kind.ready(connected)

    async def _fresh(self, member: _Member) -> None:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o711)
        remove_tree(member.share.source)
        member.share.source.mkdir(mode=0o700)
        owner = self.machine.owner(self.machine.service_uid)
        if owner is not None:
            os.chown(member.share.source, *owner)
        await self._fill(member)

    async def _empty(self, member: _Member) -> None:
        # The folder itself stays: the sandbox sees this one.
        for path in member.share.source.iterdir():
            remove_tree(path) if path.is_dir() else path.unlink()
        await self._fill(member)

    async def _fill(self, member: _Member) -> None:
        if member.service.kind == "postgres":
            await copy_data(await self.templates.postgres(), member.share.source)
