"""Wilson and Clopper-Pearson, against published tables and statsmodels."""

import pytest
from statsmodels.stats.proportion import proportion_confint

from agentbench_analysis.intervals.clopper import upper_bound
from agentbench_analysis.intervals.wilson import Wilson

# R. G. Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in
# Medicine 17 (1998), 857-872, table I, method 3.
NEWCOMBE = (
    (81, 263, "0.2553", "0.3662"),
    (15, 148, "0.0624", "0.1605"),
    (0, 20, "0.0000", "0.1611"),
    (1, 29, "0.0061", "0.1718"),
)


@pytest.mark.parametrize(("passed", "total", "lower", "upper"), NEWCOMBE)
def test_wilson_gives_the_published_values_to_the_printed_digit(
    passed: int, total: int, lower: str, upper: str
) -> None:
    found = Wilson(passed, total, 0.95)
    assert (f"{found.lower:.4f}", f"{found.upper:.4f}") == (lower, upper)


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(("passed", "total"), [(0, 5), (1, 5), (5, 5), (47, 60), (60, 60), (1, 1)])
def test_wilson_agrees_with_statsmodels(passed: int, total: int, confidence: float) -> None:
    found = Wilson(passed, total, confidence)
    expected = proportion_confint(passed, total, alpha=1 - confidence, method="wilson")
    assert (found.lower, found.upper) == pytest.approx(expected, abs=1e-12)


def test_wilson_still_has_width_where_every_run_agrees() -> None:
    assert Wilson(5, 5, 0.95).lower == pytest.approx(0.5655, abs=1e-4)
    assert Wilson(0, 5, 0.95).upper == pytest.approx(0.4345, abs=1e-4)


def test_wilson_is_symmetric_between_passes_and_failures() -> None:
    some, rest = Wilson(13, 60, 0.95), Wilson(47, 60, 0.95)
    assert some.lower == pytest.approx(1 - (rest.upper or 0))


def test_no_run_gives_no_rate_and_no_bound() -> None:
    nothing = Wilson(0, 0, 0.95)
    assert (nothing.rate, nothing.lower, nothing.upper) == (None, None, None)
    assert upper_bound(0, 0, 0.95) is None


def test_zero_failures_in_sixty_runs_leave_a_rate_of_up_to_five_percent() -> None:
    bound = upper_bound(0, 60, 0.95)
    assert bound == pytest.approx(1 - 0.05 ** (1 / 60), abs=1e-12)
    assert bound == pytest.approx(3 / 60, rel=0.03)  # the rule of three


@pytest.mark.parametrize(("seen", "total"), [(0, 60), (1, 60), (7, 60), (59, 60)])
def test_the_upper_bound_is_half_of_a_two_sided_exact_interval(seen: int, total: int) -> None:
    _, expected = proportion_confint(seen, total, alpha=0.10, method="beta")
    assert upper_bound(seen, total, 0.95) == pytest.approx(expected, abs=1e-9)


def test_all_runs_failing_bounds_the_rate_by_one() -> None:
    assert upper_bound(5, 5, 0.95) == 1.0


@pytest.mark.parametrize(("passed", "total"), [(-1, 5), (6, 5)])
def test_impossible_counts_are_refused(passed: int, total: int) -> None:
    with pytest.raises(ValueError, match="of 5 runs"):
        Wilson(passed, total, 0.95)
    with pytest.raises(ValueError, match="in 5 runs"):
        upper_bound(passed, total, 0.95)
