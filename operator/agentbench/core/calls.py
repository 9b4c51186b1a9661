"""Model calls in the words of the meter: which API, how it ended, what it is charged."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

from agentbench.core.pricing import NoPrice, PriceList, UnknownCount, dollars
from agentbench.core.usage import NOTHING_READ, Reading, Usage
from agentbench_analysis.rows.words import Availability

BYTES_PER_TOKEN = 4  # what derived costs assume of a request's body and of streamed text


class Provider(StrEnum):
    """Whose API it is: decides the key's header and the shape of errors."""

    ANTHROPIC = "anthropic"
    OPENAI = "openai"


class Api(StrEnum):
    """The model APIs that the proxy meters."""

    MESSAGES = "messages"
    RESPONSES = "responses"
    CHAT = "chat-completions"

    @property
    def provider(self) -> Provider:
        """Whose API it is."""
        return Provider.ANTHROPIC if self is Api.MESSAGES else Provider.OPENAI


class Failure(StrEnum):
    """How a call failed on the provider's side."""

    CONNECT = "connect"  # never reached the provider: nothing was sent, nothing is billed
    NO_ANSWER = "no-answer"  # sent, but no response head came
    STATUS = "status"  # the provider answered with an HTTP error
    CUT = "cut"  # the answer broke off
    ERROR_EVENT = "error-event"  # an error inside an answer that had begun
    ABANDONED = "abandoned"  # the proxy stopped reading: the run was over


# Errors inside an answer that are the provider's own trouble, not the request's.
PROVIDER_TROUBLE = frozenset(
    {"api_error", "overloaded_error", "server_error", "server_is_overloaded", "timeout_error"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStart:
    """A call as it is let out. Sizes in bytes."""

    api: Api
    model: str
    path: str
    request_bytes: int
    streamed: bool
    agent_id: str | None = None  # the sub-agent that the client's headers name


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEnd:
    """How a call ended, as the proxy saw it. Times in seconds since the call was let out."""

    status: int | None = None
    reading: Reading = NOTHING_READ
    failure: Failure | None = None
    client_gone: bool = False
    first_byte: float | None = None
    duration: float = 0.0

    @property
    def outage_like(self) -> bool:
        """Whether it speaks for an outage: 5xx (529 too), no connection, a broken answer."""
        if self.failure is Failure.STATUS:
            return self.status is not None and self.status >= 500
        if self.failure is Failure.ERROR_EVENT:
            return self.reading.error in PROVIDER_TROUBLE
        return self.failure not in (None, Failure.ABANDONED)

    @property
    def answered(self) -> bool:
        """Whether the provider answered in full."""
        return self.failure is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What a call is counted as; `usage` None means that the provider bills nothing for it."""

    usage: Usage | None
    cost: Decimal
    availability: Availability
    reason: str | None = None
    unpriced: str | None = None  # the model or count that the price list does not know

    def as_json(self) -> Mapping[str, Any]:
        """The charge as the ledger writes it."""
        return {
            "usage": None if self.usage is None else self.usage.counts(),
            "costUsd": None if self.unpriced else dollars(self.cost),
            "cost": self.availability.value,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedCall:
    """One call that has ended, for observers. `at` is in seconds since the meter began."""

    number: int
    at: float
    start: CallStart
    end: CallEnd
    charge: Charge


FREE = Charge(usage=None, cost=Decimal(0), availability=Availability.MEASURED)


def charge(start: CallStart, end: CallEnd, prices: PriceList) -> Charge:
    """Count and price one ended call.

    A call that the provider refused, or that never reached it, is free. A call with its whole
    usage is measured. For the rest the cost is derived, at the model's prices, from the size of
    the request (unless the answer told the input) and of the text that came.
    """
    reading = end.reading
    unbilled = end.failure in (Failure.CONNECT, Failure.STATUS) or (
        end.failure is Failure.ERROR_EVENT and not reading.started
    )
    if unbilled:
        return FREE
    try:
        model = prices.priced_name(start.model, reading.model)
        if reading.complete:
            try:
                cost = prices.cost(model, reading.usage, reading.searches)
            except UnknownCount as error:
                return _derived(start, end, prices, model, reading.reason or str(error))
            return Charge(
                usage=reading.usage,
                cost=cost,
                availability=Availability.MEASURED,
                reason=reading.reason,
            )
        return _derived(start, end, prices, model, reading.reason or _why(end))
    except NoPrice as error:
        return Charge(
            usage=reading.usage,
            cost=Decimal(0),
            availability=Availability.UNAVAILABLE,
            reason=str(error),
            unpriced=reading.model or start.model,
        )


def _why(end: CallEnd) -> str:
    if end.failure is Failure.NO_ANSWER:
        return "no answer came to a call that was sent"
    if end.failure is Failure.ABANDONED:
        return "the run ended before the answer did"
    if end.failure is not None:
        return "the answer was cut before its usage"
    return "the answer carried no usage"


def _derived(start: CallStart, end: CallEnd, prices: PriceList, model: str, reason: str) -> Charge:
    reading = end.reading
    usage = reading.usage
    told = usage.input_uncached is not None
    assumed = Usage(
        input_uncached=usage.input_uncached if told else _tokens(start.request_bytes),
        cache_read=usage.cache_read or 0,
        cache_write_5m=usage.cache_write_5m or 0,
        cache_write_1h=usage.cache_write_1h or 0,
        output=max(usage.output or 0, _tokens(reading.text_bytes)),
    )
    return Charge(
        usage=usage,
        cost=prices.cost(model, assumed, reading.searches),
        availability=Availability.DERIVED,
        reason=reason,
    )


def _tokens(size: int) -> int:
    return -(-size // BYTES_PER_TOKEN)
