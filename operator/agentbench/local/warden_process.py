"""The warden's process: forked while the keeper is young, told its run later."""

import asyncio
import json
import os
import select
import signal
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from agentbench.core.summary import Summary
from agentbench.pod.warden.main import main as warden_main

_HIGHEST_FD = 1024


@dataclass(slots=True)
class WardenProcess:
    """A warden that waits for its configuration on its standard input."""

    pid: int
    stdin: int
    log: Path
    _open: bool = True

    @classmethod
    def fork(cls, log: Path) -> "WardenProcess":
        """Fork it. Only for a process without threads: it goes on with what is loaded."""
        theirs, ours = os.pipe2(os.O_CLOEXEC)
        pid = os.fork()
        if pid == 0:
            _become(theirs, log)
        os.close(theirs)
        return cls(pid, ours, log)

    def tell(self, config: dict[str, object]) -> None:
        """Send the configuration; the run begins."""
        line = json.dumps(config).encode() + b"\n"
        view = memoryview(line)
        while view:
            view = view[os.write(self.stdin, view) :]

    def give_up(self) -> None:
        """Close its standard input: it ends the agent, writes its record and ends."""
        if self._open:
            self._open = False
            os.close(self.stdin)

    async def wait(self, timeout: float) -> int | None:
        """Its exit code, negative for a signal; None if it did not end in time and was killed."""
        watched = os.pidfd_open(self.pid)
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        loop.add_reader(watched, ended.set)
        late = False
        try:
            try:
                await asyncio.wait_for(ended.wait(), timeout)
            except TimeoutError:
                late = True
                os.kill(self.pid, signal.SIGKILL)
                await ended.wait()
        finally:
            loop.remove_reader(watched)
            os.close(watched)
        _, status = os.waitpid(self.pid, 0)
        self.give_up()
        return None if late else os.waitstatus_to_exitcode(status)

    def end(self) -> None:
        """End one that was never told its run, or that nobody waits for any more."""
        self.give_up()
        watched = os.pidfd_open(self.pid)
        try:
            if not select.select([watched], [], [], 10)[0]:
                os.kill(self.pid, signal.SIGKILL)
        finally:
            os.close(watched)
        os.waitpid(self.pid, 0)


def read_summary(output: Path) -> Summary | None:
    """The summary that a warden left in its output folder."""
    try:
        return Summary.model_validate_json((output / "summary.json").read_bytes())
    except (FileNotFoundError, ValueError):
        return None


def _become(stdin: int, log: Path) -> NoReturn:
    code = 1
    try:
        os.dup2(stdin, 0)
        flags = os.O_CREAT | os.O_APPEND | os.O_WRONLY
        told = os.open(log, flags, 0o600)
        os.dup2(told, 1)
        os.dup2(told, 2)
        os.closerange(3, _HIGHEST_FD)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        code = warden_main()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        # The last stop before the process's end: nobody above could tell of it.
        traceback.print_exc()
    finally:
        os._exit(code)
