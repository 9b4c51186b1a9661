"""The app under test in another container, obeying through a shared folder.

Its shim runs one command at a time, so starting is a short command that leaves app and workers
behind, each with its log and, once it has ended, its exit code in a file.
"""

import asyncio
import shlex
import shutil
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from agentbench.agents.port import Invocation
from agentbench.api.base import seconds
from agentbench.api.factors import Command, Stack
from agentbench.pod.bounded import BoundedLog
from agentbench.pod.surroundings import AppNotStarted, NoClock, Ran
from agentbench.pod.warden.folder import FolderProcess

PAUSE = 0.1
ANSWER_TIMEOUT = 5.0
LIBRARY = "libfaketime.so"
LAST_WORDS = 4000


@dataclass(slots=True, kw_only=True)
class PodApp:
    """One app; see `AppPort`. `clock` is a folder that app and harness share."""

    stack: Stack
    control: Path
    workspace: Path
    data: Path
    clock: Path
    port: int
    env: Mapping[str, str] = field(default_factory=dict)
    _process: FolderProcess | None = None
    _starts: int = 0
    _up: bool = False
    _moved: bool = False

    async def start(self) -> None:
        """Start app and workers, and wait until the health path answers 200."""
        command = self.stack.start
        if command is None:
            raise AppNotStarted("the stack has no start command")
        if self._up:
            return
        self._starts += 1
        lines = [
            f"( {_in_shell(entry)}; echo $? > {self._mark(number)} ) "
            f">> {self._log(number)} 2>&1 < /dev/null &"
            for number, entry in enumerate((command, *self.stack.workers))
        ]
        await self._shell("\n".join(lines), 60)
        limit = seconds(self.stack.start_timeout)
        try:
            async with asyncio.timeout(limit):
                while not await asyncio.to_thread(self._healthy):
                    self._require_life()
                    await asyncio.sleep(PAUSE)
        except TimeoutError:
            words = self._last_words()
            await self.stop()
            raise AppNotStarted(
                f"GET {self.stack.health} did not answer 200 within {limit:.0f} s: {words}"
            ) from None
        except AppNotStarted:
            await self.stop()
            raise
        self._up = True

    async def stop(self) -> None:
        """End everything in the app's container but its shim."""
        process = await self._reached()
        await process.kill()
        self._up = False

    async def restart(self) -> None:
        """Stop and start."""
        await self.stop()
        await self.start()

    async def run(self, name: str) -> Ran:
        """Run `build`, `migrate` or `test` beside the app; KeyError if there is none."""
        command: Command | None = getattr(self.stack, name)
        if command is None:
            raise KeyError(name)
        return await self._shell(_in_shell(command), seconds(command.timeout))

    async def empty(self) -> None:
        """Stop it and empty its DATA_DIR."""
        await self.stop()
        for path in self.data.iterdir():
            if path.is_dir() and not path.is_symlink():
                await asyncio.to_thread(shutil.rmtree, path)
            else:
                path.unlink()

    def printed(self) -> bytes:
        """What app and workers have logged so far, within bounds."""
        log = BoundedLog()
        for path in sorted(self.control.glob("app-*.log")):
            with path.open("rb") as stream:
                while chunk := stream.read(1 << 16):
                    log.add(chunk)
        return log.content()

    def set_clock(self, text: str) -> float:
        """Move the app's clock by libfaketime's file; the offset in seconds."""
        instant = datetime.fromisoformat(text)
        if instant.tzinfo is None:
            raise ValueError(f"{text!r} has no time zone; write it as in 2030-01-31T23:59:55Z")
        if not (self.clock / LIBRARY).exists():
            raise NoClock("the harness image has no libfaketime: build it from images/")
        offset = (instant - datetime.now(tz=UTC)).total_seconds()
        draft = self.clock / ".now"
        draft.write_text(f"{offset:+.6f}\n")
        draft.chmod(0o644)
        draft.replace(self.clock / "now")
        self._moved = True
        return offset

    async def _reached(self) -> FolderProcess:
        if self._process is None:
            process = FolderProcess(self.control)
            await process.ready()
            self._process = process
        return self._process

    async def _shell(self, script: str, limit: float) -> Ran:
        """Run a shell text in the app's container."""
        process = await self._reached()
        clock = (
            {
                "LD_PRELOAD": str(self.clock / LIBRARY),
                "FAKETIME_TIMESTAMP_FILE": str(self.clock / "now"),
                "FAKETIME_NO_CACHE": "1",
            }
            if self._moved
            else {}
        )
        await process.start(
            Invocation(
                argv=("sh", "-c", script),
                env={**self.env, **clock},
                cwd=str(self.workspace),
            )
        )
        log = BoundedLog()

        async def read() -> None:
            async for chunk in process.output():
                log.add(chunk)
            async for chunk in process.errors():
                log.add(chunk)

        try:
            async with asyncio.timeout(limit):
                await read()
                return Ran(await process.wait(), log)
        except TimeoutError:
            await process.kill()
            return Ran(None, log)

    def _mark(self, number: int) -> str:
        return shlex.quote(str(self.control / f"app-{number}.exit.{self._starts}"))

    def _log(self, number: int) -> str:
        return shlex.quote(str(self.control / f"app-{number}.log"))

    def _require_life(self) -> None:
        """An app may leave a daemon behind and end with 0; anything else is its death."""
        mark = self.control / f"app-0.exit.{self._starts}"
        code = mark.read_text().strip() if mark.exists() else ""
        if code not in ("", "0"):
            raise AppNotStarted(f"start exited with {code}: {self._last_words()}")

    def _last_words(self) -> str:
        return self.printed()[-LAST_WORDS:].decode("utf-8", "replace").strip()

    def _healthy(self) -> bool:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(
                f"http://127.0.0.1:{self.port}{self.stack.health}", timeout=ANSWER_TIMEOUT
            ) as answer:
                return int(answer.status) == 200
        except (OSError, ValueError):
            return False


def _in_shell(command: Command) -> str:
    return f"sh -c {shlex.quote(command.run)}"
