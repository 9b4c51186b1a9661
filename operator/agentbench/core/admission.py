"""Admission: which runs may start now, within parallelism and the worst case of the budget."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What admission must keep. Money in US dollars; no budget means no limit."""

    parallelism: int
    cap: Decimal
    budget: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What is under way. `reserved` counts attempts that may still spend up to their cap.

    An attempt that was given up, because its machine is out of reach, holds its slot until its
    pod is known to be gone; its whole cap is among what is spent.
    """

    live: int
    reserved: int
    spent: Decimal


def admit(limits: Limits, load: Load, waiting: Sequence[T]) -> tuple[T, ...]:
    """The first of the waiting that may start, in order.

    A run is admitted while live runs are below `parallelism`, and what is spent, plus the
    caps of all that may still spend, plus its own cap, stays within the budget.
    """
    slots = max(0, limits.parallelism - load.live)
    if limits.budget is not None:
        free = limits.budget - load.spent - limits.cap * load.reserved
        slots = min(slots, max(0, int(free // limits.cap)))
    return tuple(waiting[:slots])


def worst_case(limits: Limits, runs: int) -> Decimal:
    """US dollars that a number of runs can cost if each spends its whole cap."""
    return limits.cap * runs
