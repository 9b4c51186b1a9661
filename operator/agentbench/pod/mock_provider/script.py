"""Scripts of the mock provider (`agentbench.mock/v1`), in YAML or JSON."""

from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, ValidationError, model_validator

from agentbench.core.summary import Frozen


class ScriptError(ValueError):
    """A script that cannot be played; the text names file, field, value and cure."""


class FaultKind(StrEnum):
    """What goes wrong instead of, or with, a turn."""

    STATUS = "status"  # an HTTP error in the provider's shape
    CUT = "cut"  # the connection breaks after `after_events` events of the stream
    SLOW = "slow"  # `seconds` pass before the head, and before each event
    GARBAGE = "garbage"  # 200, but no answer that could be read
    SILENT = "silent"  # no answer at all, until the client goes away
    ERROR_EVENT = "error-event"  # an error event after `after_events` events of the stream


class FaultPlan(Frozen):
    """A fault that hits the first `times` calls which reach its turn (0: every call)."""

    kind: FaultKind
    times: int = Field(1, ge=0)
    status: int = Field(500, ge=400, le=599)
    error: str | None = None  # the error's type or code; by default the status's usual one
    headers: dict[str, str] = Field(default_factory=dict)
    after_events: int = Field(1, ge=0)
    seconds: float = Field(1.0, ge=0, le=3600)


class ToolUse(Frozen):
    """One tool call. An object as `input` is a function call, a text a custom tool call."""

    name: str = Field(min_length=1)
    input: dict[str, Any] | str = Field(default_factory=dict)
    namespace: str | None = None  # of custom tools in the Responses API


class UsagePlan(Frozen):
    """Tokens that an answer reports, in canonical counts; input parts do not overlap.

    `raw` is sent as it is instead, for what no honest provider would report; `missing` sends none.
    """

    input: int = Field(100, ge=0)
    cache_read: int = Field(0, ge=0)
    cache_write_5m: int = Field(0, ge=0, alias="cacheWrite5m")
    cache_write_1h: int = Field(0, ge=0, alias="cacheWrite1h")
    output: int = Field(20, ge=0)
    reasoning: int = Field(0, ge=0)
    searches: int = Field(0, ge=0)
    raw: dict[str, Any] | None = None
    missing: bool = False


class Turn(Frozen):
    """One answer of the model. The calls in `tools` are made in parallel."""

    text: str = ""
    tools: tuple[ToolUse, ...] = ()
    usage: UsagePlan = UsagePlan()
    model: str | None = None  # the name to return; by default the one that was asked for
    fault: FaultPlan | None = None


class Conversation(Frozen):
    """Turns for the requests whose body holds the text `match`, counted apart from the others."""

    match: str = Field(min_length=1)
    turns: tuple[Turn, ...] = Field(min_length=1)


class Script(Frozen):
    """What the mock provider plays.

    A request goes to the first conversation whose `match` it holds, else to `turns`; each takes
    its turns in order. After the last one, `after` says: `last` repeats it, `error` answers 500.
    """

    schema_: Literal["agentbench.mock/v1"] = Field("agentbench.mock/v1", alias="schema")
    turns: tuple[Turn, ...] = ()
    conversations: tuple[Conversation, ...] = ()
    after: Literal["last", "error"] = "last"
    key: str | None = None  # if set, calls with another key get 401

    @model_validator(mode="after")
    def _has_turns(self) -> "Script":
        if not self.turns and not self.conversations:
            raise ValueError("there are no turns: add at least one under turns or conversations")
        return self


def read_script(text: str, source: str) -> Script:
    """Read a script from YAML or JSON; `source` is the file's name, for errors.

    Raises:
        ScriptError: the text is no script.
    """
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ScriptError(f"{source}: not YAML or JSON: {error}") from None
    if not isinstance(document, dict):
        raise ScriptError(f"{source}: not an object: begin with 'turns:'")
    try:
        return Script.model_validate(document)
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(str(part) for part in fault['loc']) or 'script'}: {fault['msg']}"
            f" (found {fault['input']!r:.80})"
            for fault in error.errors(include_url=False)
        )
        raise ScriptError(f"{source}: {faults}") from None


def load_script(path: Path) -> Script:
    """Read a script's file.

    Raises:
        ScriptError: the file cannot be read, or is no script.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ScriptError(f"{path}: {error}") from None
    return read_script(text, str(path))
