"""The command `agent-bench`, started as a user starts it."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAM = str(Path(sys.executable).with_name("agent-bench"))


@dataclass(frozen=True)
class Said:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The answer of a command that was given --json."""
        return json.loads(self.out)


def agent_bench(
    *arguments: object, cwd: Path | None = None, env: dict[str, str] | None = None
) -> Said:
    """Run the command to its end."""
    done = subprocess.run(
        [PROGRAM, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=240,
        check=False,
    )
    return Said(done.returncode, done.stdout.decode(), done.stderr.decode())


def a_program(path: Path) -> Path:
    """A program that does nothing, at that path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path
