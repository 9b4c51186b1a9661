"""Packs the workspace when the agent is gone.

    python -m agentbench.pod.capture WORKSPACE START CONTROL OUTPUT LIMIT_MIB

It has the agent's uid, since files that their owner closed are only his to open, and idles until
it is told to stop, which on a pod is when the agent's container has ended. Before the first
prompt it remembers how every file looks (the warden asks by `CONTROL/remember`).
"""

import json
import signal
import sys
import threading
from pathlib import Path

from agentbench.pod.diff import Diff, State, difference, remember
from agentbench.pod.snapshot import SnapshotTooLarge, capture

ARCHIVE, DIFF, REPORT = "final.tar.zst", "final.diff", "capture.json"
REMEMBER, REMEMBERED = "remember", "remembered"
TICK = 0.1  # seconds


def pack(workspace: Path, start: Path, before: State, output: Path, limit: int) -> None:
    """Write archive, diff and report."""
    report: dict[str, object] = {"notes": [], "error": "", "diffTruncated": False}
    try:
        captured = capture(workspace, output / ARCHIVE, limit)
        report["notes"] = list(captured.notes())
    except SnapshotTooLarge as error:
        report["error"] = str(error)
    diff: Diff = difference(start, before, workspace)
    (output / DIFF).write_bytes(diff.text)
    report["diffTruncated"] = diff.truncated
    draft = output / f".{REPORT}"
    draft.write_text(json.dumps(report))
    draft.rename(output / REPORT)


def main(argv: list[str]) -> int:
    """Idle, then pack; gives the exit code."""
    workspace, start, control, output = (Path(word) for word in argv[:4])
    limit = int(argv[4]) << 20
    told = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: told.set())
    before = None
    while not told.wait(TICK):
        if before is None and (control / REMEMBER).exists():
            before = remember(workspace)
            (control / REMEMBERED).touch()
    pack(workspace, start, dict(before or {}), output, limit)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
