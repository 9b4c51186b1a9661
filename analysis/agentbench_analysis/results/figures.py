"""How numbers become published figures: settled, and with a reason where they do not exist."""

from math import isinf

from agentbench_analysis.codec import settled
from agentbench_analysis.intervals.wilson import Wilson
from agentbench_analysis.results.model import Figure
from agentbench_analysis.rows.words import Availability


def _published(number: float | None) -> float | None:
    return None if number is None or isinf(number) else settled(number)


def figure(
    ident: str,
    label: str,
    unit: str,
    value: float | None,
    *,
    bounds: tuple[float | None, float | None] = (None, None),
    of: tuple[int | None, int | None] = (None, None),
    method: str = "",
    availability: Availability = Availability.DERIVED,
    reason: str | None = None,
    notes: tuple[str, ...] = (),
) -> Figure:
    """One published number. Infinite ones are written as absent, with what they mean.

    `bounds` are those of its interval, `of` says how many of how many runs it rests on.
    """
    lower, upper = bounds
    if value is None or isinf(value):
        availability = Availability.UNAVAILABLE
        reason = reason or ("infinite" if value is not None else "nothing to compute it from")
    return Figure(
        id=ident,
        label=label,
        unit=unit,
        value=_published(value),
        lower=_published(lower),
        upper=_published(upper),
        unbounded=upper is not None and isinf(upper),
        count=of[0],
        total=of[1],
        method=method,
        availability=availability,
        reason=reason,
        notes=notes,
    )


def rate_figure(ident: str, label: str, passed: int, total: int, confidence: float) -> Figure:
    """A pass rate with Wilson's interval."""
    wilson = Wilson(passed, total, confidence)
    return figure(
        ident,
        label,
        "share",
        wilson.rate,
        bounds=(wilson.lower, wilson.upper),
        of=(passed, total),
        method=f"Wilson {confidence:g}",
        reason=None if total else "no scored run",
    )
