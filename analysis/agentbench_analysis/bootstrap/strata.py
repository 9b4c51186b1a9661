"""A stack's cells as binomial strata: what resampling within cells does to pass counts."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, gammaln, xlog1py, xlogy

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Strata:
    """The pass counts of one stack, cell by cell.

    Resampling a cell of `n` runs with `k` passes gives a binomial count with rate `k / n`.
    Cells of the same observed rate add up to one binomial; cells with no pass, or nothing but
    passes, never vary. `groups` are (runs, rate) of the rest.
    """

    runs: int
    passes: int
    certain: int  # passes that every resample has
    groups: tuple[tuple[int, float], ...]

    @classmethod
    def of(cls, cells: Iterable[tuple[int, int]]) -> "Strata":
        """From (runs, passes) of each cell."""
        counted = [(n, k) for n, k in cells if n]
        sizes: Counter[float] = Counter()
        for n, k in counted:
            if 0 < k < n:
                sizes[k / n] += n
        return cls(
            runs=sum(n for n, _ in counted),
            passes=sum(k for _, k in counted),
            certain=sum(k for n, k in counted if k == n),
            groups=tuple((n, rate) for rate, n in sorted(sizes.items())),
        )

    def distribution(self) -> Values:
        """The chance of each number of passes, from 0 to `runs`, over all resamples."""
        chances = np.zeros(self.runs + 1)
        part = np.ones(1)
        for n, rate in self.groups:
            part = np.convolve(part, binomial(n, rate))
        chances[self.certain : self.certain + len(part)] = part
        return chances

    def resample(self, uniforms: Values) -> Values:
        """Pass counts of resamples, from one uniform number per resample and group.

        `uniforms` has shape (resamples, groups). Counts come from inverting the binomial's
        distribution, so they depend on the bit generator alone.
        """
        counts = np.full(len(uniforms), float(self.certain))
        for column, (n, rate) in enumerate(self.groups):
            ladder = bdtr(np.arange(n), n, rate)
            counts += np.searchsorted(ladder, uniforms[:, column], side="right")
        return counts


def binomial(n: int, rate: float) -> Values:
    """The chances of 0 to n successes."""
    k = np.arange(n + 1)
    logs = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    chances: Values = np.exp(logs + xlogy(k, rate) + xlog1py(n - k, -rate))
    return chances


def columns(strata: Sequence[Strata]) -> int:
    """How many uniform numbers one resample of all stacks takes."""
    return sum(len(each.groups) for each in strata)
