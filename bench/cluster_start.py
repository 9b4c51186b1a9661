"""Seconds from nothing to three Ready nodes with DNS, everything built beforehand.

Takes this checkout's cluster down first, and again afterwards.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def lab(verb: str) -> None:
    command = [sys.executable, "-m", "tests.cluster.lab.cli", verb]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    lab("down")
    lab("build")
    began = time.monotonic()
    lab("up")
    took = time.monotonic() - began
    lab("down")
    print(f"{took:.1f}")


if __name__ == "__main__":
    main()
