"""Commands, files and waiting: the small tools that the rest of the program is made of."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)


class ClusterError(Exception):
    """The cluster cannot do what was asked; the text says what is wrong and how to cure it."""


class CommandError(ClusterError):
    """A command ended with an error.

    Attributes:
        code: its exit code.
        output: all that it printed, standard error after standard output.
    """

    def __init__(self, argv: list[str], code: int, output: str) -> None:
        self.code, self.output = code, output
        super().__init__(f"`{' '.join(argv)}` ended with {code}:\n{output.strip()[-4000:]}")


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent dies, kill -9 included."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def run(
    *argv: object,
    text: str | None = None,
    check: bool = True,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> str:
    """Run a command to its end and return what it printed on standard output.

    Raises:
        CommandError: the command failed, and `check` is set.
        ClusterError: there is no such command, or it took longer than `timeout` seconds.
    """
    words = [str(word) for word in argv]
    try:
        done = subprocess.run(
            words,
            input=text,
            text=True,
            capture_output=True,
            check=False,
            cwd=cwd,
            env=None if env is None else {**os.environ, **env},
            timeout=timeout,
            preexec_fn=die_with_parent,
        )
    except FileNotFoundError as error:
        raise ClusterError(f"{words[0]} is not installed: {error}") from error
    except subprocess.TimeoutExpired as error:
        raise ClusterError(f"`{' '.join(words)}` took longer than {timeout:.0f} s") from error
    if check and done.returncode:
        raise CommandError(words, done.returncode, done.stdout + done.stderr)
    return done.stdout


def write(path: Path, content: str | Mapping[str, object]) -> Path:
    """Write a text, or an object as JSON, and return the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
    return path


def wait(
    what: str, ready: Callable[[], bool], seconds: float = 90, pause: float = 0.1, hint: str = ""
) -> None:
    """Return as soon as `ready` says so.

    Raises:
        ClusterError: it did not within `seconds`.
    """
    deadline = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > deadline:
            raise ClusterError(
                f"waited {seconds:.0f} s in vain for {what}" + (hint and f"; {hint}")
            )
        time.sleep(pause)


def alive(pid: int) -> bool:
    """Say whether a process exists and is no zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"
