"""Quantiles of resamples, by the frozen rule, with infinite values allowed."""

from math import ceil, floor, isinf

import numpy as np
from numpy.typing import NDArray

from agentbench_analysis.spec import QuantileRule

Values = NDArray[np.float64]


def quantile(ordered: Values, share: float, rule: QuantileRule) -> float:
    """The value below which a share of sorted resamples lies; the array must not be empty.

    Between two resamples, of which one may be infinite, `rule` decides; `linear` between a
    finite and an infinite value is infinite.
    """
    place = share * (len(ordered) - 1)
    low, high = floor(place), ceil(place)
    below, above = float(ordered[low]), float(ordered[high])
    match rule:
        case QuantileRule.LOWER:
            return below
        case QuantileRule.HIGHER:
            return above
        case QuantileRule.NEAREST:
            # numpy rounds a half to the even neighbour; so does round().
            return float(ordered[round(place)])
        case QuantileRule.LINEAR:
            if below == above or low == high:
                return below
            if isinf(above) or isinf(below):
                return above if isinf(above) else below
            return below + (above - below) * (place - low)


def interval(resamples: Values, confidence: float, rule: QuantileRule) -> tuple[float, float]:
    """The percentile interval of unsorted resamples."""
    ordered = np.sort(resamples)
    tail = (1 - confidence) / 2
    return quantile(ordered, tail, rule), quantile(ordered, 1 - tail, rule)
