"""The pass-rate difference to the best other stack: simulated bootstrap, and exact one.

Resampling runs within cells makes each stack's pass count a sum of binomials. The simulated
bootstrap draws them; the exact one convolves them, which is what the simulated one tends to with
more and more resamples.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import PCG64, Generator
from numpy.typing import NDArray

from agentbench_analysis.bootstrap.strata import Strata, columns

Values = NDArray[np.float64]

EXACT_LIMIT = 600
"""Most runs per stack for which the exact distribution is computed."""


def resampled_rates(strata: Mapping[str, Strata], resamples: int, seed: int) -> dict[str, Values]:
    """Pass rates of every stack in every resample, from `Generator(PCG64(seed))`.

    Shapes: one array of `resamples` rates per stack. Stacks take their uniform numbers in the
    order of the mapping.
    """
    source = Generator(PCG64(seed))
    uniforms = source.random((columns(list(strata.values())), resamples)).T
    rates, start = {}, 0
    for stack, each in strata.items():
        stop = start + len(each.groups)
        rates[stack] = each.resample(uniforms[:, start:stop]) / each.runs
        start = stop
    return rates


@dataclass(frozen=True, slots=True)
class ExactDifference:
    """The whole bootstrap distribution of the difference: its values and their chances."""

    values: Values
    cumulative: Values

    def quantile(self, share: float) -> float:
        """The smallest value that at least this share of all resamples does not pass."""
        place = int(np.searchsorted(self.cumulative, share - 1e-12))
        return float(self.values[min(place, len(self.values) - 1)])

    def interval(self, confidence: float) -> tuple[float, float]:
        """The percentile interval."""
        tail = (1 - confidence) / 2
        return self.quantile(tail), self.quantile(1 - tail)


def exact_difference(reference: Strata, others: Sequence[Strata]) -> ExactDifference:
    """The bootstrap distribution of reference rate minus the best of the other rates.

    The best other is picked anew in every resample; pass one stack to fix the choice.
    """
    best, chances = _best(others)
    own = np.arange(reference.runs + 1) / reference.runs
    differences: Values = np.subtract.outer(own, best).ravel()
    weights: Values = np.outer(reference.distribution(), chances).ravel()
    # Equal differences of different fractions meet at ten decimals; true ones are further apart.
    _, first, place = np.unique(np.round(differences, 10), return_index=True, return_inverse=True)
    chance = np.bincount(place, weights=weights)
    return ExactDifference(values=differences[first], cumulative=np.cumsum(chance))


def _best(others: Sequence[Strata]) -> tuple[Values, Values]:
    """Values of the best other rate, and their chances: the product of the distributions."""
    rates = np.concatenate([np.arange(each.runs + 1) / each.runs for each in others])
    _, first = np.unique(np.round(rates, 10), return_index=True)
    values: Values = rates[first]
    below = np.ones(len(values))
    for each in others:
        places = np.floor(values * each.runs + 1e-6).astype(np.int64)
        below *= np.cumsum(each.distribution())[places]
    return values, np.diff(below, prepend=0.0)
