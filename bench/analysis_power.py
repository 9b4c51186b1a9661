"""Seconds that `agent-bench power` takes for 1,000 simulated campaigns of AB-PROTO-1.

python -m bench.analysis_power [campaigns]
"""

import sys
import time

from tests.fakes.rows import a_spec

from agentbench_analysis.facade import power

ASSUMED = {
    "AB-S1": {"pass": 0.80, "costMedian": 1.0, "timeMedian": 700.0},
    "AB-S2": {"pass": 0.72, "costMedian": 1.5, "timeMedian": 800.0},
    "AB-S3": {"pass": 0.70, "costMedian": 1.6, "timeMedian": 780.0},
}


def main() -> None:
    campaigns = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    start, used = time.perf_counter(), time.process_time()
    found = power(a_spec(), {"stacks": ASSUMED, "campaigns": campaigns, "infra": 0.02}, seed=1)
    print(f"{time.perf_counter() - start:.1f} s ({time.process_time() - used:.1f} s of CPU)")
    for line in found.statements:
        print(line)


if __name__ == "__main__":
    main()
