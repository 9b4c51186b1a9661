"""Wilson's score interval for one rate."""

from dataclasses import dataclass
from math import sqrt

from scipy.special import ndtri


@dataclass(frozen=True, slots=True)
class Wilson:
    """A rate and Wilson's interval for it, without continuity correction.

    The interval has width for 0 of n and n of n too. Coverage at small n is on average the
    nominal one, and for some rates below it.

    Reference: E. B. Wilson, "Probable inference, the law of succession, and statistical
    inference", JASA 22 (1927), 209-212.

    >>> interval = Wilson(passed=81, total=263, confidence=0.95)
    >>> round(interval.lower, 4), round(interval.upper, 4)
    (0.2553, 0.3662)
    """

    passed: int
    total: int
    confidence: float

    def __post_init__(self) -> None:
        if not 0 <= self.passed <= self.total:
            raise ValueError(f"{self.passed} passes of {self.total} runs")

    @property
    def rate(self) -> float | None:
        """The observed rate; None without any run."""
        return self.passed / self.total if self.total else None

    @property
    def lower(self) -> float | None:
        """The lower bound; None without any run."""
        return self._bound(-1)

    @property
    def upper(self) -> float | None:
        """The upper bound; None without any run."""
        return self._bound(1)

    def _bound(self, side: int) -> float | None:
        n = self.total
        if n == 0:
            return None
        if side < 0 and self.passed == 0:
            return 0.0
        if side > 0 and self.passed == n:
            return 1.0
        z = float(ndtri(0.5 + self.confidence / 2))
        rate = self.passed / n
        centre = rate + z * z / (2 * n)
        half = z * sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
        return (centre + side * half) / (1 + z * z / n)
