"""The exact upper bound of a rate, for events that were seldom or never seen."""

from scipy.special import betaincinv


def upper_bound(seen: int, total: int, confidence: float) -> float | None:
    """The one-sided Clopper-Pearson upper bound of a rate; None without any run.

    With nothing seen it is `1 - (1 - confidence) ** (1 / total)`, which the rule of three
    (3 / total) approximates at 95 %.

    Reference: C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits
    illustrated in the case of the binomial", Biometrika 26 (1934), 404-413.

    >>> round(upper_bound(0, 60, 0.95), 4)
    0.0487
    """
    if not 0 <= seen <= total:
        raise ValueError(f"{seen} events in {total} runs")
    if total == 0:
        return None
    if seen == total:
        return 1.0
    return float(betaincinv(seen + 1, total - seen, confidence))
