"""List and report of 10,000 rows, as the command does it: seconds of each, two numbers.

    python -m bench.report_10000

The store is a folder with one row per run of `bench/plan_10000.py`'s campaign; making it is not
counted, starting the command is.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from bench.analysis_rows import large_row
from bench.plan_10000 import write_pack
from tests.fakes.rows import row_document

from agentbench.core.keys import row_key
from agentbench.core.plan import plan
from agentbench.pack.load import Pack, load_pack
from agentbench.pack.prepare import prepare

PROGRAM = str(Path(sys.executable).with_name("agent-bench"))


def write_rows(pack: Pack, store: Path) -> int:
    source, digest = Random(7), prepare(pack).digest
    runs = plan(pack.spec)
    for run in runs:
        cell = run.cell
        row = large_row(source, cell.task, cell.stack, cell.agent, run.repeat)
        row |= {
            "campaign": pack.name,
            "protocol": pack.spec.protocol.id,
            "digest": digest,
            "draft": True,
            "run": run.id,
            "order": run.order,
        }
        path = store / row_key(pack.name, run.id, 1)
        path.parent.mkdir(parents=True)
        path.write_bytes(row_document(row)[1])
    return len(runs)


def seconds(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root, store = Path(folder, "pack"), Path(folder, "store")
        root.mkdir()
        write_pack(root)
        rows = write_rows(load_pack(root), store)
        for command in ("list", "report"):
            taken = seconds([PROGRAM, command, str(root), "--store", str(store)])
            print(f"{command} of {rows} rows: {taken:.2f}")


if __name__ == "__main__":
    main()
