"""Print the engine's overhead per run in seconds: 3 repeats of a check and the security check.

    python -m bench.engine_overhead [RUNS]

Overhead is what is left of a run's time, from its start to its row in the store, when the agent's
own time, the checks' own time and the app's own start are taken away. The app's start is measured
by itself, outside of any sandbox, as often as it is started in a run.
"""

import asyncio
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from tests.fakes.local_pack import APP, TinyPack

from agentbench.local.engine import Engine
from agentbench.local.events import Event, RunEnded, RunStarted
from agentbench.local.preflight import EngineOptions, state_of
from agentbench.store.folder import FolderStore

REPEATS = 3
QUICK = "import time\nsys.exit(0)\n"


def main(runs: int) -> None:
    with TemporaryDirectory() as folder:
        root = Path(folder)
        start, check = app_start(root), check_time(root)
        took = asyncio.run(run_times(root, runs))
    own = (REPEATS + 1) * start + check  # the checks that a row times are taken away already
    print(round(median(took) - own, 3))


def app_start(root: Path) -> float:
    """Seconds from the app's start until it answers, the median of several."""
    (root / "app.py").write_text(APP)
    found = []
    for _ in range(5):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        env = {**os.environ, "PORT": str(port), "DATA_DIR": folder_of(root)}
        began = time.perf_counter()
        app = subprocess.Popen([sys.executable, "app.py"], cwd=root, env=env)
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.002)
        found.append(time.perf_counter() - began)
        app.kill()
        app.wait()
    return median(found)


def folder_of(root: Path) -> str:
    (root / "data").mkdir(exist_ok=True)
    return str(root / "data")


def check_time(root: Path) -> float:
    """Seconds of the security check by itself."""
    pack = TinyPack(folder=root / "alone", security=QUICK)
    pack.freeze(FolderStore(root / "alone-store"))
    program = root / "alone" / "checks-layer" / "checks" / "security.py"
    found = []
    for _ in range(5):
        began = time.perf_counter()
        subprocess.run([sys.executable, str(program)], check=True)
        found.append(time.perf_counter() - began)
    return median(found)


async def run_times(root: Path, runs: int) -> list[float]:
    """Seconds of each run, without its agent's and its checks' own time."""
    store = FolderStore(root / "store")
    pack = TinyPack(folder=root / "pack", check=QUICK, security=QUICK)
    pack.spec = {
        "repeats": runs,
        "checks": {
            "repeats": REPEATS,
            "timeout": "30s",
            "security": {"path": "checks/security.py"},
        },
    }
    spec, manifest = pack.freeze(store)
    began: dict[str, float] = {}
    took: list[float] = []

    def on_event(event: Event) -> None:
        if isinstance(event, RunStarted):
            began[event.run.id] = time.perf_counter()
        elif isinstance(event, RunEnded):
            row = event.row
            agent = float(row.metrics["agent_seconds"].value or 0)
            checks = sum(check.seconds or 0 for check in row.checks)
            took.append(time.perf_counter() - began[event.run.id] - agent - checks)

    engine = Engine(
        campaign="bench",
        spec=spec,
        manifest=manifest,
        store=store,
        options=EngineOptions(state=state_of(store)),
        on_event=on_event,
    )
    await engine.run()
    return took[1:]  # the first waits for the nursery to be ready


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 6)
