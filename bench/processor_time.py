"""Processor time of everything that takes part in a benchmark, by program."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import suppress
from pathlib import Path

from tests.cluster.lab import cgroups
from tests.cluster.lab.slot import Slot

TICKS = os.sysconf("SC_CLK_TCK")


class ProcessorTime:
    """Adds up what each program of a cluster has used since this was made.

    A figure of seconds on a busy machine says what else ran; processor time says what a thing
    costs, and so what an idle machine could do.
    """

    def __init__(self, slot: Slot, **more: int) -> None:
        self._slot, self._more = slot, more
        self._began = self._read()

    def milliseconds(self, runs: int) -> dict[str, float]:
        """Milliseconds per run, by program, the dearest first."""
        used: Counter[str] = Counter()
        for (name, pid), seconds in self._read().items():
            used[name] += round((seconds - self._began.get((name, pid), 0.0)) * 1000)
        return {name: round(used[name] / runs, 2) for name, _ in used.most_common(12)}

    def _read(self) -> dict[tuple[str, int], float]:
        found = {}
        for pid in set(cgroups.processes(self._slot)):
            with suppress(OSError):
                found[program(pid), pid] = _seconds(pid)
        for name, pid in self._more.items():
            with suppress(OSError):
                found[name, pid] = _seconds(pid)
        return found


def program(pid: int) -> str:
    """What runs: the program, the module of a Python, or the component of a hyperkube."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return ""  # it has ended meanwhile
    name = Path(words[0]).name
    if name.startswith("hyperkube"):
        return words[1]
    if "-m" in words:
        return words[words.index("-m") + 1]
    return name.rpartition("-")[0] or name


def _seconds(pid: int) -> float:
    """User and system time."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS
