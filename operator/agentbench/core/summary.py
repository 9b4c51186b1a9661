"""What the warden says of an attempt when the agent is gone (`agentbench.summary/v1`).

The engine and the operator judge an attempt by this and by what they saw themselves, never by
anything that an agent printed.
"""

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from agentbench_analysis.rows.words import Availability

SUMMARY_SCHEMA: Literal["agentbench.summary/v1"] = "agentbench.summary/v1"


class Frozen(BaseModel):
    """A value that never changes; in JSON its names are camelCase."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=to_camel,
        populate_by_name=True,
        serialize_by_alias=True,
    )


class Cap(StrEnum):
    """The limits of a run."""

    WALL = "wall"
    COST = "cost"
    TOOL_CALLS = "tool-calls"
    INTERVENTIONS = "interventions"


class Ending(StrEnum):
    """How the agent's last process ended."""

    FINISHED = "finished"  # by itself, and its event log says that its turn is complete
    FAILED = "failed"  # by itself, with an error it reported
    CRASHED = "crashed"  # a signal that we did not send, or a broken event stream
    STOPPED = "stopped"  # by the warden, at a cap
    NOT_STARTED = "not-started"


class Measure(Frozen):
    """One value and where it comes from; money is a decimal string."""

    value: int | float | str | None = None
    availability: Availability
    reason: str | None = None


class StoredFile(Frozen):
    """A file that the warden wrote for the record. Size in bytes."""

    name: str
    sha256: str
    size: int
    truncated: bool = False
    withheld: str | None = None


class ProviderEvidence(Frozen):
    """What the proxy saw of the provider, counted over the attempt."""

    calls: int = 0
    failures: int = 0  # 5xx, 529 and connection failures, each try
    trailing_failures: int = 0  # at the end, with no success after them
    last_status: int | None = None
    outage: bool = False  # failures outlasted the agent's own retries and ended the attempt
    unpriced_models: tuple[str, ...] = ()


class Summary(Frozen):
    """One attempt as the warden measured it. Durations in seconds of its monotonic clock."""

    schema_: Literal["agentbench.summary/v1"] = Field(SUMMARY_SCHEMA, alias="schema")
    run: str
    attempt: int
    ending: Ending
    exit_code: int | None = None
    signal: int | None = None
    caps_hit: tuple[Cap, ...] = ()
    metrics: dict[str, Measure] = Field(default_factory=dict)
    provider: ProviderEvidence = ProviderEvidence()
    models: tuple[str, ...] = ()  # names that the API returned
    files: dict[str, StoredFile] = Field(default_factory=dict)
    denied_egress: tuple[str, ...] = ()
    set_up_failed: str = ""  # how the stack's own set-up ended; empty if it ended well
    interrupted: str = ""  # why the place ended the agent from outside; empty if it did not
    sandbox_failed: str = ""  # how the sandbox, not the agent, ended the run; else empty
    notes: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether the agent came to an end of its own: nobody ended its pod before."""
        return self.ending is not Ending.NOT_STARTED and not self.interrupted
