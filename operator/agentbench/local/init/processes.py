"""The processes of a sandbox: who is alive, how all are ended, and who has ended."""

import os
import signal
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

End = tuple[int, int | None, int | None]
"""A process that has ended: pid, exit code or None, signal or None."""


@dataclass(slots=True)
class Processes:
    """Ends and reaps. In a PID namespace of its own it reaches every process there."""

    namespace: bool

    def reap(self) -> list[End]:
        """Collect every child that has ended."""
        ended: list[End] = []
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
            number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
            ended.append((pid, code, number))
        return ended

    def kill_all(self) -> tuple[int, list[End]]:
        """End everything that descends from this process, until nothing is left.

        Returns how many were alive, and the children that were reaped on the way.
        """
        ended: list[End] = []
        killed: set[int] = set()
        while True:
            ended += self.reap()
            alive = self.descendants()
            if not alive:
                return len(killed), ended
            killed |= alive
            if self.namespace:
                # One call for all: nothing can fork its way out between two looks.
                os.kill(-1, signal.SIGKILL)
            else:
                for number in (signal.SIGSTOP, signal.SIGKILL):
                    for pid in alive:
                        _send(pid, number)
            self._wait_for_one()

    def descendants(self) -> set[int]:
        """Every living process below this one."""
        children: defaultdict[int, list[int]] = defaultdict(list)
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                parent = _parent(int(entry.name))
                if parent is not None:
                    children[parent].append(int(entry.name))
        found: set[int] = set()
        waiting = [os.getpid()]
        while waiting:
            below = [pid for pid in children[waiting.pop()] if pid not in found]
            found.update(below)
            waiting += below
        return found

    def _wait_for_one(self) -> None:
        """Let the kernel finish: wait, without reaping, until some child has ended."""
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
        except ChildProcessError:
            return


def _parent(pid: int) -> int | None:
    try:
        # The name, in parentheses, may hold anything; the parent is the second field after it.
        return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return None


def _send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
