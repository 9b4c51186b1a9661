"""Resampled medians over passing runs, resampled within cells."""

import statistics
from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.random import PCG64, Generator
from numpy.typing import NDArray

from agentbench_analysis.bootstrap.large import large_medians

Values = NDArray[np.float64]
Counts = NDArray[np.intp]

CHUNK = 16_000
"""Draws held in memory at once. Arrays of so many stay in the processor's cache, and are below the
128 KiB from which memory is asked of the system, and given back, for each array."""

FEW_BLOCKS = 32
"""Most blocks that one thread draws alone: starting another would take longer."""

THREADS = 2
"""Threads that draw blocks; what they draw does not depend on how many there are."""

DIRECT_LIMIT = 2_000
"""Most runs per stack whose resamples are drawn run by run; beyond, order by order."""


@dataclass(frozen=True, slots=True)
class Stratified:
    """The runs of one stack: how many each cell has, and one array of values per metric.

    A run without a value (it failed, or did not report) is NaN: it is drawn like any other,
    and then does not enter the median.
    """

    sizes: tuple[int, ...]
    metrics: tuple[Values, ...]

    @property
    def runs(self) -> int:
        """All runs of the stack."""
        return sum(self.sizes)


def median(values: Values) -> float | None:
    """The median of the values that are there, the middle two averaged; None without any."""
    there = values[~np.isnan(values)]
    # Small samples, thousands of them: a plain sort takes a fifth of the time.
    return float(statistics.median(there.tolist())) if len(there) else None


def resampled_medians(
    stacks: Sequence[Stratified], resamples: int, seed: int
) -> list[tuple[Values, ...]]:
    """Medians of every metric of every stack in every resample, NaN where no run has a value.

    All metrics of a stack are read from the same resamples. Random numbers come from
    `Generator(PCG64(seed))`, stack after stack.
    """
    bits = PCG64(seed)
    with ThreadPoolExecutor(THREADS) as threads:  # starts none until there is work for it
        return [_medians(stack, resamples, bits, threads) for stack in stacks]


def _medians(
    stack: Stratified, resamples: int, bits: PCG64, threads: Executor
) -> tuple[Values, ...]:
    if not stack.runs:
        return tuple(np.full(resamples, np.nan) for _ in stack.metrics)
    if stack.runs > DIRECT_LIMIT:
        return tuple(
            large_medians(stack.sizes, values, resamples, Generator(bits))
            for values in stack.metrics
        )
    sizes = np.repeat(stack.sizes, stack.sizes).astype(np.float64)
    starts = np.repeat(np.cumsum((0, *stack.sizes[:-1])), stack.sizes)
    ladders = [_ladder(values) for values in stack.metrics]
    state = bits.state

    def block(begin: int, count: int) -> list[Values]:
        """The medians of some resamples; a number takes one step of the bit generator."""
        own = PCG64(0)
        own.state = state
        drawn = Generator(own.advance(begin * stack.runs)).random((count, stack.runs))
        drawn *= sizes
        places = drawn.astype(np.intp)  # towards zero, which is down: nothing is negative
        places += starts
        places += np.arange(0, places.size, stack.runs)[:, None]
        times = np.bincount(places.ravel(), minlength=places.size).reshape(places.shape)
        return [_row_medians(times.take(order, axis=1), ladder) for order, ladder in ladders]

    step = max(1, CHUNK // stack.runs)
    begins = range(0, resamples, step)
    counts = [min(step, resamples - begin) for begin in begins]
    together = threads.map if len(begins) > FEW_BLOCKS else map
    blocks = list(together(block, begins, counts))
    bits.advance(resamples * stack.runs)
    return tuple(np.concatenate(parts) for parts in zip(*blocks, strict=True))


def _ladder(values: Values) -> tuple[Counts, Values]:
    """The places of the runs that have a value, lowest value first, and those values."""
    order = np.argsort(values, kind="stable")[: np.count_nonzero(~np.isnan(values))]  # NaN is last
    return order, values[order]


def _row_medians(times: Counts, ladder: Values) -> Values:
    """The median of each row, which says how many times each value of the ladder was drawn.

    Counts are added up along all rows at once, so one sorted search finds every middle.
    """
    rows, steps = times.shape
    if not steps:
        return np.full(rows, np.nan)
    reached = times.ravel().cumsum()
    ends = reached[steps - 1 :: steps]
    begins = np.concatenate(([0], ends[:-1]))
    drawn = ends - begins
    first = np.arange(0, rows * steps, steps)
    low = np.searchsorted(reached, begins + (drawn - 1) // 2, side="right") - first
    high = np.searchsorted(reached, begins + drawn // 2, side="right") - first
    # Rows without a draw point outside, and have no median.
    middle = ladder.take(low, mode="clip") + ladder.take(high, mode="clip")
    return np.where(drawn > 0, middle / 2, np.nan)
