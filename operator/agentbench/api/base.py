"""The ground that every model stands on: strict, frozen, camelCase, bounded."""

import re
from decimal import Decimal
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

API_GROUP = "agentbench.dev"
API_VERSION = "v1alpha1"


class Model(BaseModel):
    """A value that never changes and refuses fields that it does not know."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        populate_by_name=True,
        serialize_by_alias=True,
    )


def _whole_string(value: Any) -> Any:
    """Refuse numbers where a decimal string is wanted: a binary fraction loses cents."""
    if isinstance(value, float | int) and not isinstance(value, bool):
        raise ValueError(
            f'a bare number can lose cents; write the amount in quotes, as in "{value:.2f}"'
        )
    return value


DURATION = re.compile(r"^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$")

Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$", max_length=40)]
"""An id of the protocol. A run id joins three of them, and must fit a Kubernetes label too."""

Name = Annotated[str, Field(min_length=1, max_length=200)]
Line = Annotated[str, Field(max_length=200)]
Text = Annotated[str, Field(max_length=4096)]
Sha256 = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$", max_length=71)]
Path = Annotated[str, Field(pattern=r"^[^/\x00-\x1f][^\x00-\x1f]*$", max_length=400)]
"""A path relative to the pack's root, with forward slashes."""

Duration = Annotated[
    str, Field(pattern=r"^([0-9]{1,6}h)?([0-9]{1,6}m)?([0-9]{1,6}s)?$", min_length=2, max_length=20)
]
"""A length of time: hours, minutes and seconds, as in `1h30m` or `45s`."""


def _above_zero_seconds(value: str) -> str:
    if seconds(value) <= 0:
        raise ValueError("a time limit must be above zero; write it as in 45m or 1h30m")
    return value


TimeLimit = Annotated[Duration, AfterValidator(_above_zero_seconds)]
"""A Duration above zero."""

Money = Annotated[
    str,
    Field(pattern=r"^[0-9]{1,9}(\.[0-9]{1,2})?$", max_length=12),
    BeforeValidator(_whole_string),
]
"""US dollars as a decimal string with at most two decimals, such as `"5"` or `"0.25"`."""


def _above_zero_dollars(value: str) -> str:
    if dollars(value) <= 0:
        raise ValueError('an amount must be above zero; write it as in "5"')
    return value


Amount = Annotated[Money, AfterValidator(_above_zero_dollars)]
"""Money above zero."""

Image = Annotated[str, Field(pattern=r"^[^\s@]+@sha256:[0-9a-f]{64}$", max_length=500)]
"""A container image pinned by digest."""

Timestamp = Annotated[
    str, Field(pattern=r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$", max_length=40)
]
"""An instant in UTC, as RFC 3339 writes it."""

Host = Annotated[str, Field(pattern=r"^[A-Za-z0-9.-]+(:[0-9]{1,5})?$", max_length=253)]
"""A host name, with a port where it is not 443."""

EnvName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=100)]
EnvValue = Annotated[str, Field(max_length=2000)]


def seconds(duration: str) -> float:
    """Seconds in a Duration such as `1h30m`.

    Raises:
        ValueError: the text is no duration.
    """
    match = DURATION.match(duration)
    if not duration or match is None:
        raise ValueError(f"{duration!r} is no duration; write it as in 45m or 1h30m")
    hours, minutes, rest = (int(part or 0) for part in match.groups())
    return float(hours * 3600 + minutes * 60 + rest)


def dollars(amount: str) -> Decimal:
    """The exact value of a Money string, in US dollars."""
    return Decimal(amount)
