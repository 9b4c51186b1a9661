"""Quantile rules, against numpy, and with infinite values."""

import numpy as np
import pytest

from agentbench_analysis.bootstrap.quantile import interval, quantile
from agentbench_analysis.spec import QuantileRule


@pytest.mark.parametrize("rule", list(QuantileRule))
@pytest.mark.parametrize("count", [1, 2, 9, 10, 10_000])
@pytest.mark.parametrize("share", [0.0, 0.025, 0.5, 0.7, 0.975, 1.0])
def test_each_rule_is_the_numpy_method_of_its_name(
    rule: QuantileRule, count: int, share: float
) -> None:
    values = np.sort(np.random.default_rng(count).normal(size=count))
    expected = np.quantile(values, share, method=rule.value)
    assert quantile(values, share, rule) == pytest.approx(float(expected), abs=1e-12)


def test_between_a_finite_and_an_infinite_value_the_quantile_is_infinite() -> None:
    values = np.array([1.0, 2.0, np.inf])
    assert quantile(values, 0.75, QuantileRule.LINEAR) == np.inf
    assert quantile(values, 0.5, QuantileRule.LINEAR) == 2.0
    assert quantile(values, 0.75, QuantileRule.LOWER) == 2.0


def test_an_interval_sorts_and_takes_both_tails() -> None:
    values = np.arange(1001.0)[::-1]
    assert interval(values, 0.95, QuantileRule.LINEAR) == pytest.approx((25.0, 975.0))
