"""The port between the warden and an agent: how it is started, resumed, read and asked.

An adapter is pure: it turns settings into a command line and lines of an event log into trace
events. The warden starts processes, keeps time and counts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from agentbench.agents.settings import Settings
from agentbench.core.summary import Ending


class ToolCount(StrEnum):
    """Where tool calls are counted for this agent."""

    HOOK = "hook"  # asked for beforehand through the agent's own pre-tool hook: exact
    PROXY = "proxy"  # tool-use items in the provider's answers: derived


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What an adapter needs to know to write a command line. Paths are the agent's own."""

    prompt: str
    model: str
    settings: Mapping[str, Any]
    workspace: str
    home: str
    tmp: str
    binary: str
    model_url: str  # the warden's proxy
    hook_url: str  # the warden's pre-tool endpoint
    api_key: str  # a dummy: the real key never reaches the agent
    env: Mapping[str, str] = field(default_factory=dict)  # PATH, HOME, the stack's variables
    private_root: bool = True  # False: root-owned settings would be the whole machine's


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """One process of the agent: argument vector, whole environment, files to write first.

    `files` are written under the agent's HOME; `root_files` are absolute, owned by root and
    read-only to the agent (managed hook settings).
    """

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: str
    files: Mapping[str, str] = field(default_factory=dict)
    root_files: Mapping[str, str] = field(default_factory=dict)


class EventKind(StrEnum):
    """What a line of an agent's event log tells."""

    MESSAGE = "message"  # text from the agent
    REASONING = "reasoning"
    TOOL_CALL = "tool-call"
    TOOL_RESULT = "tool-result"
    RETRY = "retry"
    FINISHED = "finished"
    FAILED = "failed"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceEvent:
    """One event of an agent's log, in the terms of the trace."""

    kind: EventKind
    text: str = ""
    call_id: str | None = None
    tool: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    ok: bool | None = None
    subagent: str | None = None
    raw: Mapping[str, Any] = field(default_factory=dict)


class EventReader(Protocol):
    """Reads one invocation's event log, a line at a time; never raises on what an agent prints."""

    def feed(self, line: bytes) -> Sequence[TraceEvent]:
        """Turn one line into trace events; a line that is no event gives one of kind OTHER.

        After the last line comes an empty one: what was held back is given then.
        """

    @property
    def session(self) -> str | None:
        """The id by which this agent's session can be resumed."""

    @property
    def last_message(self) -> str:
        """The agent's last text: where a question would stand."""

    def ending(self, exit_code: int | None, signal: int | None) -> Ending:
        """Judge the process's end by its exit and by the last event."""

    def reported(self) -> Mapping[str, int | str]:
        """What the agent itself says it used: a cross-check, never the measure."""


class Adapter(Protocol):
    """One agent CLI."""

    @property
    def kind(self) -> str:
        """The name that a protocol's `agents[].adapter` selects it by."""

    @property
    def programs(self) -> tuple[str, ...]:
        """Programs that its sandbox must have on PATH, the agent's own first."""

    @property
    def settings(self) -> type[Settings]:
        """What a protocol may set of it."""

    @property
    def tool_count(self) -> ToolCount:
        """Where this agent's tool calls are counted."""

    def start(self, launch: Launch) -> Invocation:
        """The first process."""

    def resume(self, launch: Launch, session: str | None, reply: str) -> Invocation:
        """The process that gives the scripted reply to a blocking question."""

    def reader(self) -> EventReader:
        """A reader for one invocation's event log."""

    def question(self, last_message: str, ending: Ending) -> bool:
        """The frozen rule: whether the agent ended its turn with a blocking question."""
