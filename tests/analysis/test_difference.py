"""The pass-rate bootstrap: simulated against exact, exact against enumeration, and scipy."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap

from agentbench_analysis.bootstrap.difference import exact_difference, resampled_rates
from agentbench_analysis.bootstrap.medians import Values
from agentbench_analysis.bootstrap.quantile import interval
from agentbench_analysis.bootstrap.strata import Strata
from agentbench_analysis.spec import QuantileRule

Cells = list[tuple[int, int]]

SAMPLE: dict[str, Cells] = {
    "A": [(5, k) for k in (4, 2, 5, 2, 4, 4, 3, 4, 4, 5, 3, 4)],
    "B": [(5, k) for k in (4, 3, 4, 4, 5, 4, 5, 4, 3, 4, 4, 2)],
    "C": [(5, k) for k in (2, 3, 4, 4, 5, 2, 4, 5, 4, 3, 4, 2)],
}


def strata(cells: dict[str, Cells]) -> dict[str, Strata]:
    return {name: Strata.of(each) for name, each in cells.items()}


def enumerated(cells: Cells) -> dict[int, Fraction]:
    """Slow reference: the distribution of pass counts, resample by resample, in fractions."""
    chances = {0: Fraction(1)}
    for n, k in cells:
        after: dict[int, Fraction] = {}
        for sofar, chance in chances.items():
            for hits in range(n + 1):
                extra = comb(n, hits) * Fraction(k, n) ** hits * Fraction(n - k, n) ** (n - hits)
                after[sofar + hits] = after.get(sofar + hits, Fraction(0)) + chance * extra
        chances = after
    return chances


def slow_quantile(reference: Cells, others: Sequence[Cells], share: Fraction) -> Fraction:
    """The smallest difference that at least this share of all resamples does not pass."""
    sizes = [sum(n for n, _ in cells) for cells in (reference, *others)]
    chances: dict[Fraction, Fraction] = {}
    distributions = [enumerated(cells) for cells in (reference, *others)]
    for counts in product(*distributions):
        chance = Fraction(1)
        for count, distribution in zip(counts, distributions, strict=True):
            chance *= distribution[count]
        rates = [Fraction(count, size) for count, size in zip(counts, sizes, strict=True)]
        value = rates[0] - max(rates[1:])
        chances[value] = chances.get(value, Fraction(0)) + chance
    total = Fraction(0)
    for value in sorted(chances):
        total += chances[value]
        if total >= share:
            return value
    raise AssertionError("chances do not add up to one")


@pytest.mark.parametrize("share", [Fraction(1, 40), Fraction(1, 2), Fraction(39, 40)])
def test_the_exact_bootstrap_equals_enumeration_in_fractions(share: Fraction) -> None:
    reference, others = [(5, 4), (4, 1), (3, 3)], [[(5, 2), (5, 5), (2, 1)], [(4, 3), (3, 0)]]
    exact = exact_difference(Strata.of(reference), [Strata.of(cells) for cells in others])
    expected = slow_quantile(reference, others, share)
    assert exact.quantile(float(share)) == pytest.approx(float(expected), abs=1e-12)


def test_the_distribution_of_a_stack_is_the_convolution_of_its_cells() -> None:
    expected = enumerated(SAMPLE["A"])
    found = Strata.of(SAMPLE["A"]).distribution()
    assert found == pytest.approx([float(expected.get(k, 0)) for k in range(61)], abs=1e-13)


def test_the_simulated_bootstrap_has_the_exact_distribution() -> None:
    found = strata(SAMPLE)
    drawn = resampled_rates(found, 200_000, seed=7)
    differences = drawn["A"] - np.maximum(drawn["B"], drawn["C"])
    exact = exact_difference(found["A"], [found["B"], found["C"]])
    for value, below in zip(exact.values, exact.cumulative, strict=True):
        share = np.mean(differences <= value + 1e-9)
        assert share == pytest.approx(below, abs=0.005)


def test_scipy_draws_the_same_interval() -> None:
    runs = [np.repeat([1.0, 0.0], [k, n - k]) for cells in SAMPLE.values() for n, k in cells]

    def statistic(*cells: Values, axis: int = -1) -> Any:
        rates = [
            np.mean(np.concatenate(cells[12 * i : 12 * i + 12], axis=axis), axis=axis)
            for i in range(3)
        ]
        return rates[0] - np.maximum(rates[1], rates[2])

    theirs = bootstrap(
        runs,
        statistic,
        n_resamples=20_000,
        method="percentile",
        vectorized=True,
        batch=2_000,
        rng=np.random.default_rng(3),
    ).confidence_interval
    drawn = resampled_rates(strata(SAMPLE), 20_000, seed=7)
    ours = interval(drawn["A"] - np.maximum(drawn["B"], drawn["C"]), 0.95, QuantileRule.LINEAR)
    # Values lie on sixtieths, so either may fall on the neighbouring one.
    assert ours == pytest.approx((theirs.low, theirs.high), abs=1 / 60 + 1e-9)


def test_swapping_the_arms_turns_the_interval_round() -> None:
    found = strata(SAMPLE)
    lower, upper = exact_difference(found["A"], [found["B"]]).interval(0.95)
    other = exact_difference(found["B"], [found["A"]])
    assert (lower, upper) == pytest.approx((-other.quantile(0.975), -other.quantile(0.025)))


def test_the_order_of_the_other_stacks_does_not_matter() -> None:
    found = strata(SAMPLE)
    one = exact_difference(found["A"], [found["B"], found["C"]])
    two = exact_difference(found["A"], [found["C"], found["B"]])
    assert one.interval(0.95) == two.interval(0.95)


def test_a_best_other_picked_anew_is_never_below_a_fixed_one() -> None:
    found = strata(SAMPLE)
    anew = exact_difference(found["A"], [found["B"], found["C"]]).interval(0.95)
    fixed = exact_difference(found["A"], [found["B"]]).interval(0.95)
    assert anew[0] <= fixed[0]
    assert anew[1] <= fixed[1]


def test_cells_where_every_run_agrees_never_vary() -> None:
    flat = {"A": [(5, 5)] * 12, "B": [(5, 5)] * 6 + [(5, 0)] * 6}
    drawn = resampled_rates(strata(flat), 1_000, seed=7)
    assert set(drawn["A"]) == {1.0}
    assert set(drawn["B"]) == {0.5}


def test_the_same_seed_draws_the_same_numbers_and_another_does_not() -> None:
    one, same, other = (resampled_rates(strata(SAMPLE), 100, seed)["A"] for seed in (7, 7, 8))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


cells_of_any_size = st.lists(
    st.integers(1, 6).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))),
    min_size=1,
    max_size=6,
)


@settings(max_examples=60, deadline=None)
@given(cells_of_any_size, cells_of_any_size, cells_of_any_size)
def test_chances_add_up_to_one_and_the_mean_is_the_observed_one(
    a: Cells, b: Cells, c: Cells
) -> None:
    found = exact_difference(Strata.of(a), [Strata.of(b)])
    assert found.cumulative[-1] == pytest.approx(1.0)
    mean = float(np.sum(found.values * np.diff(found.cumulative, prepend=0.0)))
    rates = [sum(k for _, k in cells) / sum(n for n, _ in cells) for cells in (a, b)]
    assert mean == pytest.approx(rates[0] - rates[1], abs=1e-9)
    both = exact_difference(Strata.of(a), [Strata.of(b), Strata.of(c)])
    assert both.cumulative[-1] == pytest.approx(1.0)
    assert -1 <= both.values[0] <= both.values[-1] <= 1
