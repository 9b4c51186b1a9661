"""Serves the harness API in a grader pod.

python -m agentbench.pod.serve_harness TOLD
"""

import asyncio
import os
import shutil
import signal
import socket
import sys
from pathlib import Path

from agentbench.api.factors import Stack
from agentbench.pod.harness import Harness
from agentbench.pod.harness_app import LIBRARY, PodApp
from agentbench.pod.harness_services import PodServices
from agentbench.pod.told import HarnessTold

CONTROL, CLOCK = Path("/agentbench/control"), Path("/agentbench/clock")
WORKSPACE, DATA = Path("/workspace"), Path("/data")
FAKETIME = "usr/lib/*/faketime/libfaketimeMT.so.1"


def lay_clock() -> None:
    """Lay libfaketime where the app's container sees it."""
    found = next(Path("/").glob(FAKETIME), None)
    if found is not None:
        shutil.copyfile(found, CLOCK / LIBRARY)
        (CLOCK / LIBRARY).chmod(0o755)


async def serve(told: HarnessTold) -> None:
    """Serve until the pod ends."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    stack = Stack.model_validate(told.stack)
    app = PodApp(
        stack=stack,
        control=CONTROL,
        workspace=WORKSPACE,
        data=DATA,
        clock=CLOCK,
        port=told.app_port,
        env=told.app_env,
    )
    harness = Harness(app=app, services=PodServices(stack, told.urls), token=told.token)
    listening = socket.create_server(("0.0.0.0", told.port))
    await harness.serve(listening)
    await stop.wait()
    await harness.close()
    # The app's container would sit out its grace: its shell takes no notice of SIGTERM.
    (CONTROL / "end").touch()


def main(argv: list[str]) -> int:
    """Run the harness; gives its exit code."""
    os.umask(0o002)
    told = HarnessTold.model_validate_json(Path(argv[0]).read_bytes())
    lay_clock()
    asyncio.run(serve(told))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
