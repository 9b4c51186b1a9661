"""Start-up of `agent-bench --help`: median wall milliseconds of 15 starts, one number.

    python bench/cli_start.py [--beside]

`--beside` also prints what Python itself and `import click` cost, to compare.
"""

import statistics
import subprocess
import sys
import time
from pathlib import Path

STARTS = 15
PROGRAM = str(Path(sys.executable).with_name("agent-bench"))


def median_ms(command: list[str]) -> float:
    taken = []
    for _ in range(STARTS):
        began = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        taken.append((time.perf_counter() - began) * 1000)
    return statistics.median(taken)


if __name__ == "__main__":
    print(f"{median_ms([PROGRAM, '--help']):.0f}")
    if "--beside" in sys.argv:
        print(f"python -c pass: {median_ms([sys.executable, '-c', 'pass']):.0f}")
        print(f"import click: {median_ms([sys.executable, '-c', 'import click']):.0f}")
