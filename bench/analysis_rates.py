"""Milliseconds of the pass-rate interval of AB-PROTO-1's 36 cells, beside scipy's bootstrap.

    python -m bench.analysis_rates

All three give the percentile interval of the difference to the best other stack from 10,000
resamples (the exact one from all of them). scipy gets a vectorised statistic. Best of 20.
"""

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.stats import bootstrap

from agentbench_analysis.bootstrap.difference import exact_difference, resampled_rates
from agentbench_analysis.bootstrap.quantile import interval
from agentbench_analysis.bootstrap.strata import Strata
from agentbench_analysis.spec import QuantileRule

RESAMPLES = 10_000


def best_of(work: Callable[[], object], times: int = 20) -> float:
    work()
    spans = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        spans.append(time.perf_counter() - start)
    return min(spans) * 1000


def main() -> None:
    source = np.random.default_rng(1)
    counts = {name: [(5, int(k)) for k in source.binomial(5, 0.75, 12)] for name in "ABC"}
    runs = [np.repeat([1.0, 0.0], [k, n - k]) for cells in counts.values() for n, k in cells]

    def statistic(*cells: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
        means = np.stack([cell.mean(axis=axis) for cell in cells])
        rates = means.reshape(3, 12, *means.shape[1:]).mean(axis=1)
        difference: NDArray[np.float64] = rates[0] - np.maximum(rates[1], rates[2])
        return difference

    def theirs() -> object:
        return bootstrap(
            runs,
            statistic,
            n_resamples=RESAMPLES,
            method="percentile",
            vectorized=True,
            rng=np.random.default_rng(7),
        ).confidence_interval

    def drawn() -> object:
        strata = {name: Strata.of(cells) for name, cells in counts.items()}
        rates = resampled_rates(strata, RESAMPLES, 7)
        differences = rates["A"] - np.maximum(rates["B"], rates["C"])
        return interval(differences, 0.95, QuantileRule.LINEAR)

    def exact() -> object:
        strata = {name: Strata.of(cells) for name, cells in counts.items()}
        return exact_difference(strata["A"], [strata["B"], strata["C"]]).interval(0.95)

    scipy_ms, drawn_ms, exact_ms = best_of(theirs), best_of(drawn), best_of(exact)
    print(f"scipy.stats.bootstrap {scipy_ms:.2f} ms")
    print(f"simulated             {drawn_ms:.2f} ms, {scipy_ms / drawn_ms:.0f} times as fast")
    print(f"exact                 {exact_ms:.2f} ms, {scipy_ms / exact_ms:.0f} times as fast")


if __name__ == "__main__":
    main()
