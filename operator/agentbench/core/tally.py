"""What a run's model calls add up to, in bounded memory."""

from dataclasses import dataclass, field
from decimal import Decimal

from agentbench.core.calls import CallEnd, Charge
from agentbench.core.pricing import dollars
from agentbench.core.summary import Ending, Measure, ProviderEvidence
from agentbench.core.usage import COUNTS, UsageTotals
from agentbench_analysis.rows.words import Availability

MAX_NAMES = 32  # of models that are remembered by name


def measured(value: int | float | str) -> Measure:
    """A measured value."""
    return Measure(value=value, availability=Availability.MEASURED)


@dataclass(slots=True)
class Tally:
    """Adds up ended calls."""

    calls: int = 0
    failed: int = 0
    totals: UsageTotals = field(default_factory=UsageTotals)
    models: list[str] = field(default_factory=list)
    unpriced: list[str] = field(default_factory=list)
    derived: int = 0
    derived_reason: str = ""
    unknown_cost: str | None = None
    outage_like: int = 0
    trailing: int = 0
    last_status: int | None = None

    def add(self, end: CallEnd, charged: Charge) -> None:
        """Count one ended call."""
        self.calls += 1
        self.last_status = end.status
        if not end.answered:
            self.failed += 1
        if end.outage_like:
            self.outage_like += 1
            self.trailing += 1
        elif end.answered:
            self.trailing = 0
        if charged.usage is not None:
            self.totals.add(charged.usage, charged.reason)
        remember(self.models, end.reading.model)
        if charged.availability is Availability.DERIVED:
            self.derived += 1
            self.derived_reason = self.derived_reason or charged.reason or ""
        if charged.unpriced is not None:
            self.unknown_cost = self.unknown_cost or charged.reason

    def evidence(self, ending: Ending) -> ProviderEvidence:
        """What was seen of the provider; an outage is failures that ended the attempt."""
        return ProviderEvidence(
            calls=self.calls,
            failures=self.outage_like,
            trailing_failures=self.trailing,
            last_status=self.last_status,
            outage=self.trailing > 0 and ending in (Ending.FAILED, Ending.CRASHED),
            unpriced_models=tuple(self.unpriced),
        )

    def measures(self, spent: Decimal, overshoot: Decimal) -> dict[str, Measure]:
        """Every metric of the model calls by its canonical name."""
        return {
            "cost_usd": self._money(spent),
            "cost_overshoot_usd": self._money(overshoot),
            **{name: self._tokens(name) for name in COUNTS},
            "model_calls": measured(self.calls),
            "model_call_failures": measured(self.failed),
        }

    def _tokens(self, name: str) -> Measure:
        value, reason = self.totals.total(name)
        if value is None:
            return Measure(availability=Availability.UNAVAILABLE, reason=reason)
        return measured(value)

    def _money(self, amount: Decimal) -> Measure:
        if self.unknown_cost is not None:
            return Measure(availability=Availability.UNAVAILABLE, reason=self.unknown_cost)
        if self.derived:
            reason = f"{self.derived} of {self.calls} calls: {self.derived_reason}"
            return Measure(value=dollars(amount), availability=Availability.DERIVED, reason=reason)
        return measured(dollars(amount))


def remember(names: list[str], name: str | None) -> bool:
    """Add a name that is new, while there are not too many; say whether it was added."""
    if name is None or name in names or len(names) >= MAX_NAMES:
        return False
    names.append(name)
    return True
