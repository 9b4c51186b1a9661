"""Seconds and peak memory of the whole analysis, for a campaign of many rows.

    python -m bench.analysis_rows 180
    python -m bench.analysis_rows 100000

prints seconds after import, and the process's peak resident memory in MB. Rows are as large as
real ones (about 4 kB each, with artifacts), made one at a time, as a store hands them out; making
them is not counted.
"""

import argparse
import json
import resource
import time
from collections.abc import Iterator
from random import Random
from typing import Any

import orjson
from tests.fakes.rows import AGENTS, STACKS, a_campaign, a_row, measured, not_measured, row_document

from agentbench_analysis.campaign import spec_from_campaign
from agentbench_analysis.facade import analyse, results_json_pieces

FILES = (
    "trajectory.json",
    "events.jsonl.zst",
    "usage.jsonl",
    "final.tar.zst",
    "final.diff",
    "check-1.json",
    "check-2.json",
    "check-3.json",
    "security.json",
)


def large_row(source: Random, task: str, stack: str, agent: str, repeat: int) -> dict[str, Any]:
    passed = source.random() < 0.75
    row = a_row(
        task,
        stack,
        agent,
        repeat,
        passed=passed,
        cost=f"{source.lognormvariate(0.2, 0.4):.6f}",
        seconds=round(source.lognormvariate(6.5, 0.4), 3),
        metrics={
            "setup_seconds": measured(31.5),
            "capture_seconds": measured(3.25),
            "grading_seconds": measured(88.0),
            "cost_overshoot_usd": measured("0"),
            "cache_write_5m": measured(30_000),
            "cache_write_1h": not_measured("this provider has no 1-hour cache"),
            "reasoning": not_measured("not reported apart"),
            "model_calls": measured(source.randint(20, 90)),
            "model_call_failures": measured(0),
            "tool_failures": measured(1),
        },
    )
    digest = "sha256:" + f"{source.getrandbits(256):064x}"
    row["artifacts"] = {
        name: {
            "key": f"ab-proto-1/artifacts/{row['run']}/1/{name}",
            "sha256": digest,
            "size": source.randint(1_000, 9_000_000),
            "truncated": False,
            "withheld": None,
        }
        for name in FILES
    }
    row["environment"] = {"nodeClass": "bench", "kernel": "6.1.0", "modelsReturned": "m-1"}
    row["versions"] = {"agent": "2.1.0", "stack": digest}
    for check in row["checks"]:
        check["asserts"] = [{"id": f"a{n}", "ok": passed, "detail": ""} for n in range(5)]
    return row


class Rows:
    """Documents made on demand; the time it takes to make them is kept apart."""

    def __init__(self, count: int):
        self.repeats = -(-count // 36)
        self.count = count
        self.making = self.making_cpu = 0.0
        self.size = 0

    def __iter__(self) -> Iterator[tuple[str, bytes]]:
        source, left = Random(5), self.count
        for task in range(1, 7):
            for stack in STACKS:
                for agent in AGENTS:
                    for repeat in range(1, self.repeats + 1):
                        if not left:
                            return
                        left -= 1
                        start, used = time.perf_counter(), time.process_time()
                        row = large_row(source, f"AB-T0{task}", stack, agent, repeat)
                        document = row_document(row)
                        self.size += len(document[1])
                        self.making += time.perf_counter() - start
                        self.making_cpu += time.process_time() - used
                        yield document


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("rows", type=int, nargs="?", default=180)
    arguments.add_argument("--write", action="store_true", help="also write results.json")
    chosen = arguments.parse_args()
    rows = Rows(chosen.rows)
    spec = spec_from_campaign(a_campaign(repeats=rows.repeats), campaign="ab-proto-1")
    start, used = time.perf_counter(), time.process_time()
    results = analyse(spec, rows, read=orjson.loads)  # as the command does
    seconds = time.perf_counter() - start - rows.making
    cpu = time.process_time() - used - rows.making_cpu
    written = 0
    if chosen.write:
        start = time.perf_counter()
        written = sum(len(piece) for piece in results_json_pieces(results))
        print(json.dumps({"write_seconds": round(time.perf_counter() - start, 2)}))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        json.dumps(
            {
                "rows": chosen.rows,
                "row_bytes": rows.size // chosen.rows,
                "seconds": round(seconds, 3),
                "cpu_seconds": round(cpu, 3),
                "peak_mb": round(peak),
                "results_mb": round(written / 1e6, 1),
            }
        )
    )


if __name__ == "__main__":
    main()
