"""Simulated coverage of every interval at five runs per cell, as a Markdown table.

    python -m bench.analysis_coverage [campaigns]

Each line is one assumed world of AB-PROTO-1; `docs/statistics.md` shows the output.
"""

import sys

import numpy as np
from numpy.random import PCG64, Generator
from tests.fakes.rows import a_spec

from agentbench_analysis.intervals.wilson import Wilson
from agentbench_analysis.power.assumptions import assumptions_from
from agentbench_analysis.power.world import World
from agentbench_analysis.spec import AnalysisSpec, Rule
from agentbench_analysis.verdict.ground import Ground
from agentbench_analysis.verdict.pass_rate import bounds, strata_of
from agentbench_analysis.verdict.ratio import decide_ratio, medians_of

WORLDS = {
    "equal, 50 %": ((0.5, 0.5, 0.5), (1.0, 1.0, 1.0), {}),
    "equal, 75 %": ((0.75, 0.75, 0.75), (1.0, 1.0, 1.0), {}),
    "equal, 90 %": ((0.9, 0.9, 0.9), (1.0, 1.0, 1.0), {}),
    "equal, 75 %, hard and easy tasks": (
        (0.72, 0.72, 0.72),
        (1.0, 1.0, 1.0),
        {f"AB-T0{n}": {"pass": 0.24 if n % 2 else -0.24} for n in range(1, 7)},
    ),
    "80 / 70 / 60 %, costs 1 / 1.5 / 2": ((0.8, 0.7, 0.6), (1.0, 1.5, 2.0), {}),
    "80 / 70 / 60 %, task costs 0.3 to 3": (
        (0.8, 0.7, 0.6),
        (1.0, 1.5, 2.0),
        {f"AB-T0{n}": {"cost": 0.3 * 10 ** ((n - 1) / 5)} for n in range(1, 7)},
    ),
    "30 / 30 / 30 %": ((0.3, 0.3, 0.3), (1.0, 1.0, 1.0), {}),
}


def coverage(spec: AnalysisSpec, world: World, campaigns: int) -> tuple[float, float, float]:
    """Shares of campaigns whose intervals hold the truth; ratios in a quarter of them."""
    truth, source = world.truth(), Generator(PCG64(11))
    cost = next(each for each in spec.hypotheses if each.rule is Rule.COST)
    wilson, difference, ratio = [], [], []
    for number in range(campaigns):
        sample, _, _ = world.draw(source)
        strata = strata_of(sample)
        own = strata[spec.reference]
        rate = Wilson(own.passes, own.runs, spec.confidence)
        wilson.append((rate.lower or 0) <= truth.pass_rate[spec.reference] <= (rate.upper or 1))
        low, high = bounds(spec, strata)
        difference.append(low - 1e-9 <= truth.difference(spec) <= high + 1e-9)
        if number % 4 == 0:
            ground = Ground(spec, sample, ())
            found = decide_ratio(ground, cost, medians_of(ground)[Rule.COST]).figures[0]
            upper = found.upper if found.upper is not None else np.inf
            ratio.append((found.lower or 0) <= truth.cost_ratio(spec) <= upper)
    return float(np.mean(wilson)), float(np.mean(difference)), float(np.mean(ratio))


def main() -> None:
    campaigns = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    spec = a_spec(analysis={"resamples": 1000})
    print("| world | Wilson, stack (60) | difference to best other | ratio of medians |")
    print("| --- | ---: | ---: | ---: |")
    for name, (rates, costs, tasks) in WORLDS.items():
        stacks = {
            f"AB-S{n}": {"pass": rate, "costMedian": cost, "timeMedian": 600.0}
            for n, (rate, cost) in enumerate(zip(rates, costs, strict=True), start=1)
        }
        assumed = assumptions_from({"stacks": stacks, "tasks": tasks}, spec, name)
        shown = coverage(spec, World.of(spec, assumed), campaigns)
        print(f"| {name} | " + " | ".join(f"{share * 100:.1f} %" for share in shown) + " |")
        sys.stdout.flush()
    print()
    print("| true rate | Wilson, cell (5) | Wilson, task and stack (10) | Wilson, stack (60) |")
    print("| ---: | ---: | ---: | ---: |")
    source = Generator(PCG64(11))
    for rate in (0.1, 0.3, 0.5, 0.75, 0.9, 0.97):
        parts = []
        for runs in (5, 10, 60):
            drawn = source.binomial(runs, rate, 20_000)
            inside = [
                (w.lower or 0) <= rate <= (w.upper or 1)
                for w in (Wilson(int(k), runs, 0.95) for k in range(runs + 1))
            ]
            parts.append(f"{np.mean(np.array(inside)[drawn]) * 100:.1f} %")
        print(f"| {rate * 100:g} % | " + " | ".join(parts) + " |")


if __name__ == "__main__":
    main()
