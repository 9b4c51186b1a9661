"""Resampled medians: against a slow reference, scipy, and each other for large stacks."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.random import PCG64, Generator
from scipy.stats import bootstrap, ks_2samp

from agentbench_analysis.bootstrap.large import large_medians
from agentbench_analysis.bootstrap.medians import Stratified, Values, median, resampled_medians
from agentbench_analysis.bootstrap.quantile import interval
from agentbench_analysis.spec import QuantileRule

NAN = float("nan")
SIZES = (5, 3, 4)
COST = np.array([1.0, NAN, 2.5, 0.5, 1.5, 3.0, NAN, 2.0, 1.2, 1.1, NAN, 4.0])


def slow_medians(
    sizes: Sequence[int], values: Sequence[float], resamples: int, seed: int
) -> list[float]:
    """Slow reference: the same random numbers, one run at a time, and sorted lists."""
    drawn = Generator(PCG64(seed)).random((resamples, len(values)))
    found = []
    for row in drawn:
        picked, place = [], 0
        for size in sizes:
            for uniform in row[place : place + size]:
                picked.append(values[place + int(uniform * size)])
            place += size
        there = sorted(value for value in picked if value == value)
        half = len(there) // 2
        if not there:
            found.append(NAN)
        elif len(there) % 2:
            found.append(there[half])
        else:
            found.append((there[half - 1] + there[half]) / 2)
    return found


def test_resampled_medians_equal_a_slow_reference_run_by_run() -> None:
    stack = Stratified(SIZES, (COST, COST * 2 + 1))
    ((cost, time),) = resampled_medians([stack], 500, seed=7)
    assert cost == pytest.approx(slow_medians(SIZES, COST.tolist(), 500, 7), nan_ok=True)
    assert time == pytest.approx(slow_medians(SIZES, (COST * 2 + 1).tolist(), 500, 7), nan_ok=True)


def test_scipy_draws_the_same_interval_of_a_ratio() -> None:
    source = np.random.default_rng(5)
    one, two = source.lognormal(0, 0.5, 40), source.lognormal(0.3, 0.5, 40)

    def ratio(a: Values, b: Values, axis: int = -1) -> Any:
        return np.median(a, axis=axis) / np.median(b, axis=axis)

    theirs = bootstrap(
        (one, two),
        ratio,
        n_resamples=20_000,
        method="percentile",
        vectorized=True,
        rng=np.random.default_rng(3),
    ).confidence_interval
    stacks = [Stratified((40,), (one,)), Stratified((40,), (two,))]
    (a,), (b,) = resampled_medians(stacks, 20_000, seed=7)
    ours = interval(a / b, 0.95, QuantileRule.LINEAR)
    assert ours == pytest.approx((theirs.low, theirs.high), rel=0.03)


def test_the_middle_two_are_averaged_and_absent_values_left_out() -> None:
    assert median(np.array([1.0, NAN, 4.0, 2.0, 3.0])) == 2.5
    assert median(np.array([NAN])) is None


def test_a_stack_without_any_value_has_no_median_in_any_resample() -> None:
    stack = Stratified((5,), (np.full(5, NAN),))
    ((found,),) = resampled_medians([stack], 50, seed=7)
    assert np.isnan(found).all()


def test_a_stack_without_any_run_has_no_median() -> None:
    ((found,),) = resampled_medians([Stratified((0, 0), (np.array([]),))], 50, seed=7)
    assert np.isnan(found).all()


def test_one_passing_run_is_missed_by_some_resamples() -> None:
    stack = Stratified((5,), (np.array([1.0, NAN, NAN, NAN, NAN]),))
    ((found,),) = resampled_medians([stack], 20_000, seed=7)
    assert np.isnan(found).mean() == pytest.approx(0.8**5, abs=0.01)
    assert set(found[~np.isnan(found)]) == {1.0}


def test_chunks_do_not_change_what_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    stack = Stratified(SIZES, (COST,))
    ((whole,),) = resampled_medians([stack], 300, seed=7)
    monkeypatch.setattr("agentbench_analysis.bootstrap.medians.CHUNK", 100)
    ((parts,),) = resampled_medians([stack], 300, seed=7)
    assert np.array_equal(whole, parts, equal_nan=True)


def test_blocks_drawn_side_by_side_are_those_of_one_stream_stack_after_stack(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agentbench_analysis.bootstrap.medians.CHUNK", 100)
    values, source = np.arange(8.0), np.random.Generator(np.random.PCG64(7))
    found = resampled_medians([Stratified((5, 3), (values,))] * 2, 300, seed=7)
    sizes, starts = np.repeat([5, 3], [5, 3]), np.repeat([0, 5], [5, 3])
    for (medians,) in found:
        places = np.floor(source.random((300, 8)) * sizes).astype(int) + starts
        assert np.array_equal(medians, np.median(values[places], axis=1))


@pytest.mark.parametrize("cells", [1, 4])
@pytest.mark.parametrize("size", [2, 5, 30])
def test_large_stacks_have_the_same_distribution_as_drawing_every_run(
    cells: int, size: int
) -> None:
    source = np.random.default_rng(cells * 100 + size)
    values = np.round(source.lognormal(0, 0.5, cells * size), 1)  # with ties
    values[::4] = np.nan
    sizes = (size,) * cells
    ((direct,),) = resampled_medians([Stratified(sizes, (values,))], 20_000, seed=7)
    halved = large_medians(sizes, values, 20_000, np.random.default_rng(11))
    assert np.isnan(halved).mean() == pytest.approx(np.isnan(direct).mean(), abs=0.01)
    test = ks_2samp(direct[~np.isnan(direct)], halved[~np.isnan(halved)])
    assert test.statistic < 0.02


def test_stacks_of_thousands_of_runs_are_resampled_by_halving() -> None:
    values = np.random.default_rng(1).lognormal(0, 0.5, 3_000)
    ((found,),) = resampled_medians([Stratified((1_500, 1_500), (values,))], 2_000, seed=7)
    assert np.median(found) == pytest.approx(np.median(values), rel=0.01)
    # The standard error of a median: 1.2533 sigma / sqrt(n), times the median for a log-normal.
    assert found.std() == pytest.approx(1.2533 * 0.5 / 3_000**0.5, rel=0.15)


def test_large_stacks_without_any_value_have_no_median() -> None:
    found = large_medians((5, 5), np.full(10, NAN), 20, np.random.default_rng(1))
    assert np.isnan(found).all()
