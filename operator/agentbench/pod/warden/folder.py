"""The agent's process in another container, reached through a folder that both share.

The other side is `shim.sh`, which needs nothing but a POSIX shell. What the agent could write in
that folder is its own exit code and output: nothing that a grade depends on.
"""

import asyncio
import shlex
import signal
from collections.abc import AsyncIterator
from pathlib import Path

from agentbench.agents.port import Invocation
from agentbench.pod.process import Exit, Sandbox

TICK = 0.05  # seconds between two looks
CHUNK = 64 * 1024
KILL_WAIT = 20.0  # seconds; a shim that obeys needs a tenth of one


class FolderProcess:
    """One agent at a time, in the container whose shim obeys `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = 0

    async def connect(self) -> Sandbox:
        """What a container of its own gives an agent: it reaches nothing outside of it."""
        await self.ready()
        # Somebody may have run commands here before: ours are counted on.
        self._number = len(list(self._folder.glob("exit.*")))
        return Sandbox(pid_namespace=True, private_root=True, network="gateway")

    async def close(self) -> None:
        """Nothing is held open."""

    async def ready(self) -> None:
        """Wait until the shim is there."""
        while not (self._folder / "ready").exists():
            await asyncio.sleep(TICK)

    async def start(self, invocation: Invocation) -> None:
        """Leave the invocation for the shim; its root-owned files are mounts of the container."""
        self._number += 1
        home = self._folder / f"home.{self._number}"
        for path, content in invocation.files.items():
            place = home / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(content)
        draft = self._folder / f".cmd.{self._number}"
        draft.write_text(command(invocation))
        draft.rename(self._folder / f"cmd.{self._number}")

    def output(self) -> AsyncIterator[bytes]:
        """The bytes of its standard output, until it has ended."""
        return self._tail(f"out.{self._number}", f"exit.{self._number}")

    def errors(self) -> AsyncIterator[bytes]:
        """The bytes of its standard error, until it has ended."""
        return self._tail(f"err.{self._number}", f"exit.{self._number}")

    async def interrupt(self) -> None:
        """Send SIGINT to the agent's main process."""
        (self._folder / f"sig.{self._number}.INT").touch()

    async def kill(self) -> None:
        """End every process of the agent's container but the shim."""
        request = self._folder / "killall"
        request.touch()
        try:
            async with asyncio.timeout(KILL_WAIT):
                while request.exists():
                    await asyncio.sleep(TICK)
        except TimeoutError:
            self._give_up()

    def _give_up(self) -> None:
        """Take an agent for killed that ended what would have killed it.

        Its user may end the shim's watcher. Nothing that it does now counts, since the run is
        over; its container ends at the pod's deadline, and the record must not wait for that.
        """
        mark = self._folder / f"exit.{self._number}"
        if self._number and not mark.exists():
            draft = self._folder / f".gone.{self._number}"
            draft.write_text(str(128 + signal.SIGKILL))
            draft.rename(mark)

    async def wait(self) -> Exit:
        """Wait until the agent's main process has ended."""
        mark = self._folder / f"exit.{self._number}"
        while not mark.exists():
            await asyncio.sleep(TICK)
        return as_exit(int(mark.read_text()))

    def end(self) -> None:
        """Tell the shim to end, and with it the container."""
        (self._folder / "end").touch()

    async def _tail(self, name: str, mark: str) -> AsyncIterator[bytes]:
        path, end = self._folder / name, self._folder / mark
        while not path.exists():
            await asyncio.sleep(TICK)
        with path.open("rb") as stream:
            while True:
                ended = end.exists()  # looked at before reading: nothing can be missed
                if chunk := stream.read(CHUNK):
                    yield chunk
                elif ended:
                    return
                else:
                    await asyncio.sleep(TICK)


def command(invocation: Invocation) -> str:
    """The shell text that becomes the agent: its folder, its whole environment, its arguments."""
    env = [f"{name}={value}" for name, value in invocation.env.items()]
    words = shlex.join(["env", "-i", *env, *invocation.argv])
    return f"cd {shlex.quote(invocation.cwd)} || exit 127\nexec {words}\n"


def as_exit(code: int) -> Exit:
    """What a shell's exit code says: above 128 it is a signal."""
    return Exit(signal=code - 128) if code > 128 else Exit(code=code)
