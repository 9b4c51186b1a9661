"""Resampled medians of stacks with thousands of runs, without drawing every run.

A resample's median needs only the counts of draws on either side of it. Those counts are binomial
within each cell, so the median is found by halving the sorted values again and again, drawing at
each step how many of a cell's draws fall in the lower half. The medians have exactly the
distribution that drawing run by run gives.
"""

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Values = NDArray[np.float64]
Counts = NDArray[np.int64]


def large_medians(
    sizes: Sequence[int], values: Values, resamples: int, source: Generator
) -> Values:
    """Medians of `resamples` resamples within cells, NaN where no drawn run has a value.

    `sizes` are the cells' runs, `values` their values, cell after cell, NaN for none.
    """
    owner = np.repeat(np.arange(len(sizes)), sizes)
    there = ~np.isnan(values)
    order = np.argsort(values[there], kind="stable")
    ladder = values[there][order]
    if not len(ladder):
        return np.full(resamples, np.nan)
    below = np.zeros((len(ladder) + 1, len(sizes)), dtype=np.int64)
    np.cumsum(owner[there][order][:, None] == np.arange(len(sizes)), axis=0, out=below[1:])
    drawn = source.binomial(sizes, below[-1] / np.maximum(sizes, 1), (resamples, len(sizes)))
    totals = drawn.sum(axis=1)
    found = totals > 0
    medians = np.full(resamples, np.nan)
    if found.any():
        medians[found] = _middle(below, ladder, drawn[found], totals[found], source)
    return medians


def _middle(
    below: Counts, ladder: Values, drawn: Counts, totals: Counts, source: Generator
) -> Values:
    """The mean of the two middle draws of each resample (the same one where odd)."""
    rows = np.arange(len(drawn))
    low = np.zeros(len(drawn), dtype=np.int64)
    high = np.full(len(drawn), len(ladder), dtype=np.int64)
    # The nearest part above the search that holds a draw: where the upper middle one may be.
    next_low, next_high, next_drawn = low.copy(), high.copy(), np.zeros_like(drawn)
    first, inside, rank = drawn.copy(), totals.copy(), (totals - 1) // 2
    while (high - low > 1).any():
        middle = (low + high + 1) // 2
        lower = _split(below, low, middle, high, first, source)
        count = lower.sum(axis=1)
        left = rank < count
        saved = left & (inside > count)
        next_low[saved], next_high[saved] = middle[saved], high[saved]
        next_drawn[saved] = (first - lower)[saved]
        first = np.where(left[:, None], lower, first - lower)
        inside = np.where(left, count, inside - count)
        rank = np.where(left, rank, rank - count)
        low, high = np.where(left, low, middle), np.where(left, middle, high)
    below_middle = ladder[low]
    above_middle = below_middle.copy()
    beyond = rows[(totals % 2 == 0) & (rank + 1 >= inside)]
    if len(beyond):
        above_middle[beyond] = ladder[
            _least(below, next_low[beyond], next_high[beyond], next_drawn[beyond], source)
        ]
    return (below_middle + above_middle) / 2


def _least(below: Counts, low: Counts, high: Counts, drawn: Counts, source: Generator) -> Counts:
    """The place of the smallest draw within parts that hold at least one."""
    while (high - low > 1).any():
        middle = (low + high + 1) // 2
        lower = _split(below, low, middle, high, drawn, source)
        left = lower.sum(axis=1) > 0
        drawn = np.where(left[:, None], lower, drawn - lower)
        low, high = np.where(left, low, middle), np.where(left, middle, high)
    return low


def _split(
    below: Counts, low: Counts, middle: Counts, high: Counts, drawn: Counts, source: Generator
) -> Counts:
    """How many of the draws between low and high fall below the middle, cell by cell."""
    span = below[high] - below[low]
    part = below[middle] - below[low]
    counts: Counts = source.binomial(drawn, part / np.maximum(span, 1))
    return counts
