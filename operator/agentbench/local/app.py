"""The app under test: built, migrated, started, restarted and watched in its sandbox."""

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agentbench.api.base import seconds
from agentbench.api.factors import Command as StackCommand
from agentbench.api.factors import Stack
from agentbench.local.clock import Clock
from agentbench.local.place import AGENT_UID, Folders
from agentbench.local.sandbox import Command, Running, Sandbox
from agentbench.pod.bounded import BoundedLog
from agentbench.pod.surroundings import AppNotStarted, Ran
from agentbench.pod.trees import remove_tree

APP_PORT = 8080
MAX_ANSWER = 64 * 1024
_PAUSE = 0.02
_ANSWER_TIMEOUT = 5.0


@dataclass(slots=True, kw_only=True)
class App:
    """One app in one sandbox; its log goes on over restarts."""

    sandbox: Sandbox
    folders: Folders
    stack: Stack
    env: Mapping[str, str]
    clock: Clock
    port: int = APP_PORT
    log: BoundedLog = field(default_factory=BoundedLog)
    _running: list[Running] = field(default_factory=list)

    async def prepare(self) -> None:
        """Build and migrate, where the stack has these commands; AppNotStarted if one fails."""
        for name in ("build", "migrate"):
            if getattr(self.stack, name) is not None:
                ran = await self.run(name)
                if not ran.ok:
                    raise AppNotStarted(f"{name} {ran.told}")

    async def start(self) -> None:
        """Start app and workers, and wait until the health path answers 200.

        Raises:
            AppNotStarted: the app ended, or time ran out, before it was healthy.
        """
        if self.stack.start is None:
            raise AppNotStarted("the stack has no start command")
        if self._running:
            return
        self._running.append(await self._spawn(self.stack.start))
        for worker in self.stack.workers:
            self._running.append(await self._spawn(worker))
        main = self._running[0]
        limit = seconds(self.stack.start_timeout)
        try:
            async with asyncio.timeout(limit):
                while await self._health() != 200:
                    await self._require_life(main)
                    await asyncio.sleep(_PAUSE)
        except TimeoutError:
            told = self._last_words()
            await self.stop()
            raise AppNotStarted(
                f"GET {self.stack.health} did not answer 200 within {limit:.0f} s: {told}"
            ) from None

    async def stop(self) -> None:
        """End everything in the app's sandbox, daemons too."""
        await self.sandbox.kill_all()
        for running in self._running:
            await running.wait()
            self._keep(running)
        self._running.clear()

    async def restart(self) -> None:
        """Stop and start; AppNotStarted if it does not come up again."""
        await self.stop()
        await self.start()

    async def run(self, name: str) -> Ran:
        """Run the stack's `build`, `migrate` or `test` beside the app.

        Raises:
            KeyError: the stack has no such command.
        """
        command: StackCommand | None = getattr(self.stack, name)
        if command is None:
            raise KeyError(name)
        ended, log = await self.sandbox.run(self._command(command), seconds(command.timeout))
        return Ran(ended, log)

    @property
    def workspace(self) -> Path:
        """Its files, as the engine sees them."""
        return self.folders.workspace.source

    def set_clock(self, text: str) -> float:
        """Move its clock; see `Clock.set`."""
        return self.clock.set(text)

    async def empty(self) -> None:
        """Stop it and empty its DATA_DIR."""
        await self.stop()
        for path in self.folders.data.source.iterdir():
            if path.is_dir() and not path.is_symlink():
                await asyncio.to_thread(remove_tree, path)
            else:
                path.unlink()

    def printed(self) -> bytes:
        """What the app has logged so far, within bounds."""
        parts = [self.log.content(), *(running.log.content() for running in self._running)]
        return b"".join(parts)

    async def _spawn(self, command: StackCommand) -> Running:
        return await self.sandbox.spawn(self._command(command))

    def _command(self, command: StackCommand) -> Command:
        env = {**self.folders.env(self.env), "PORT": str(self.port), **self.clock.env()}
        return Command(
            argv=("sh", "-c", command.run),
            env=env,
            cwd=self.folders.machine.seen(self.folders.workspace),
            uid=AGENT_UID,
            gid=AGENT_UID,
        )

    async def _require_life(self, main: Running) -> None:
        """An app may leave a daemon behind and end with 0; anything else is its death."""
        if not main.exited.done():
            return
        ended = main.exited.result()
        if ended.code == 0 and await self.sandbox.alive() > 0:
            return
        # It may have answered between the last look and its end.
        ran = Ran(ended, main.log)
        main.pipe.close()
        await self.stop()
        raise AppNotStarted(f"start {ran.told}")

    def _last_words(self) -> str:
        return " ".join(running.log.text(2000) for running in self._running).strip()

    def _keep(self, running: Running) -> None:
        self.log.add(running.log.content())

    async def _health(self) -> int | None:
        """The status that the health path answers, None if nothing does."""
        connected = await self.sandbox.connect(self.port)
        if connected is None:
            return None
        reader, writer = await asyncio.open_connection(sock=connected)
        request = (
            f"GET {self.stack.health} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n"
            "User-Agent: agent-bench\r\nAccept: */*\r\nConnection: close\r\n\r\n"
        )
        try:
            async with asyncio.timeout(_ANSWER_TIMEOUT):
                writer.write(request.encode())
                line = await reader.readline()
                rest = 0
                while (chunk := await reader.read(_PAGE)) and rest < MAX_ANSWER:
                    rest += len(chunk)
            return int(line.split()[1])
        except (OSError, TimeoutError, ValueError, IndexError):
            return None
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()


_PAGE = 4096
