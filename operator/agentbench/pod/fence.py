"""The fence: waits until an address that the policy forbids is refused.

    python -m agentbench.pod.fence HOST:PORT [SECONDS]

A new pod is open for about a second before its NetworkPolicy is in force. Exit code 0: closed;
1: still open after SECONDS (60), so nothing that is not trusted may start here.
"""

import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path

IN_A_ROW = 3
PAUSE = 0.1
MESSAGE = Path("/dev/termination-log")


def closed(
    is_open: Callable[[], bool],
    *,
    limit: float,
    clock: Callable[[], float],
    sleep: Callable[[float], None],
) -> bool:
    """Whether the way is closed several times in a row within a limit of seconds."""
    end = clock() + limit
    refused = 0
    while clock() < end:
        refused = 0 if is_open() else refused + 1
        if refused == IN_A_ROW:
            return True
        sleep(PAUSE)
    return False


def reachable(host: str, port: int) -> bool:
    """Whether a TCP connection is taken. A reject, a time-out and no route all mean no."""
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True


def main(argv: list[str]) -> int:
    """Run the fence; gives its exit code."""
    host, _, port = argv[0].rpartition(":")
    limit = float(argv[1]) if len(argv) > 1 else 60.0
    shut = closed(
        lambda: reachable(host, int(port)), limit=limit, clock=time.monotonic, sleep=time.sleep
    )
    if not shut and MESSAGE.exists():
        MESSAGE.write_text(f"{argv[0]} is still open after {limit:.0f} s")
    return 0 if shut else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
