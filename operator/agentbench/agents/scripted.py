"""The built-in agents that need no key: `scripted`, `oracle` and `nop`.

All three are played inside the sandbox by one small program, which needs `python3` there.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Literal

from pydantic import Field, model_validator

from agentbench.agents.lines import JsonLines
from agentbench.agents.port import (
    EventKind,
    EventReader,
    Invocation,
    Launch,
    ToolCount,
    TraceEvent,
)
from agentbench.agents.settings import NoSettings, Settings, read_settings
from agentbench.core.summary import Ending

PLAYER = ".agent-bench/player.py"
SCRIPT = ".agent-bench/script.json"
ACTIONS = (
    "shell",
    "write",
    "tool",
    "model",
    "say",
    "question",
    "sleep",
    "crash",
    "fork",
    "apply",
)


class WriteStep(Settings):
    """A file to write; the path is relative to the workspace."""

    path: str
    content: str


class ToolStep(Settings):
    """A tool call that does nothing but count."""

    name: str = "Tool"
    input: dict[str, Any] = Field(default_factory=dict)


class ModelStep(Settings):
    """A call to the model. Time-out in seconds; `retries` come on top of the first try."""

    api: Literal["anthropic", "openai", "openai-chat"] = "anthropic"
    prompt: str = "go on"
    model: str | None = None
    stream: bool = True
    max_tokens: int = 1024
    retries: int = Field(0, ge=0)
    timeout: float = Field(600, gt=0)
    url: str | None = None  # another address than the warden's, to try to get around it
    on_error: Literal["stop", "continue"] = "stop"


class CrashStep(Settings):
    """An end without a word: by a signal ("KILL", "SEGV", ...) or with an exit code."""

    signal: Literal["KILL", "SEGV", "ABRT", "TERM", "BUS"] | None = None
    exit: int | None = Field(None, ge=0, le=255)


class ForkStep(Settings):
    """A daemon that plays steps of its own and outlives the agent."""

    steps: tuple["Step", ...]


class Step(Settings):
    """One step: exactly one action, and how often it is played."""

    shell: str | None = None
    write: WriteStep | None = None
    tool: ToolStep | None = None
    model: ModelStep | None = None
    say: str | None = None
    question: str | None = None
    sleep: float | None = Field(None, ge=0)
    crash: CrashStep | None = None
    fork: ForkStep | None = None
    apply: str | None = None
    times: int = Field(1, ge=0)  # one after another
    parallel: int = Field(1, ge=1, le=256)  # at once
    timeout: float | None = Field(None, gt=0)  # of a shell command, in seconds
    hook: bool = True  # False: does not ask the hook, as an agent that gets around it
    stubborn: bool = False  # True: goes on when the hook says that the run is over

    @model_validator(mode="after")
    def _one_action(self) -> "Step":
        named = [name for name in ACTIONS if getattr(self, name) is not None]
        if len(named) != 1:
            raise ValueError(
                f"a step has exactly one of {', '.join(ACTIONS)}; this one has "
                f"{' and '.join(named) or 'none'}"
            )
        return self


class ScriptedSettings(Settings):
    """What `scripted` is started with: the steps of its script."""

    steps: tuple[Step, ...]


class OracleSettings(Settings):
    """What `oracle` is started with: where the reference solution lies, as the agent sees it."""

    solution: str


@dataclass(frozen=True, slots=True)
class ScriptedAdapter:
    """Plays the steps in its settings; asks the hook before each tool call."""

    kind: str = "scripted"
    programs: tuple[str, ...] = ("python3",)
    settings: type[Settings] = NoSettings
    tool_count: ToolCount = ToolCount.HOOK

    def steps(self, settings: Mapping[str, Any]) -> Sequence[Step]:
        """The steps to play; SettingsError if the settings are wrong."""
        return read_settings(ScriptedSettings, self.kind, settings).steps

    def start(self, launch: Launch) -> Invocation:
        """The first process."""
        script = {
            "session": "scripted-1",
            "model": launch.model,
            "modelUrl": launch.model_url,
            "hookUrl": launch.hook_url,
            "apiKey": launch.api_key,
            "steps": [
                step.model_dump(by_alias=True, exclude_none=True)
                for step in self.steps(launch.settings)
            ],
        }
        player = files("agentbench.agents").joinpath("scripted_player.py").read_text()
        return self._invocation(launch, (), {PLAYER: player, SCRIPT: json.dumps(script)})

    def resume(self, launch: Launch, session: str | None, reply: str) -> Invocation:
        """The process that goes on behind the question."""
        return self._invocation(launch, ("--reply", reply), {})

    def reader(self) -> EventReader:
        """A reader of the player's events."""
        return PlayerReader()

    def question(self, last_message: str, ending: Ending) -> bool:
        """The script says itself what is a question: its last event, not its text."""
        return ending is Ending.FINISHED and last_message.startswith(QUESTION)

    def _invocation(
        self, launch: Launch, more: tuple[str, ...], files_: Mapping[str, str]
    ) -> Invocation:
        python = launch.binary or "python3"
        home = launch.home.rstrip("/")
        return Invocation(
            argv=(python, "-I", f"{home}/{PLAYER}", f"{home}/{SCRIPT}", *more),
            env=launch.env,
            cwd=launch.workspace,
            files=files_,
        )


@dataclass(frozen=True, slots=True)
class OracleAdapter(ScriptedAdapter):
    """Applies the pack's reference solution: what a perfect agent would leave behind."""

    kind: str = "oracle"

    def steps(self, settings: Mapping[str, Any]) -> Sequence[Step]:
        """One step: lay the solution over the workspace."""
        return (Step(apply=read_settings(OracleSettings, self.kind, settings).solution),)


@dataclass(frozen=True, slots=True)
class NopAdapter(ScriptedAdapter):
    """Does nothing: what a check must fail on."""

    kind: str = "nop"

    def steps(self, settings: Mapping[str, Any]) -> Sequence[Step]:
        """No step."""
        read_settings(NoSettings, self.kind, settings)
        return ()


QUESTION = "\x00question\x00"
_KINDS = {
    "message": EventKind.MESSAGE,
    "reply": EventKind.OTHER,
    "tool_call": EventKind.TOOL_CALL,
    "tool_result": EventKind.TOOL_RESULT,
    "retry": EventKind.RETRY,
    "error": EventKind.FAILED,
    "done": EventKind.FINISHED,
    "stopped": EventKind.FINISHED,
    "question": EventKind.FINISHED,
}


@dataclass(slots=True)
class PlayerReader(JsonLines):
    """Reads the player's events."""

    asked: bool = False
    ended: EventKind | None = field(default=None)

    def read(self, event: Mapping[str, Any]) -> Sequence[TraceEvent]:
        """Turn one event into trace events."""
        name = event.get("type")
        kind = _KINDS.get(str(name), EventKind.OTHER)
        text = str(event.get("text", event.get("message", event.get("output", ""))))
        if name == "session":
            self.session = str(event.get("id"))
        if kind is EventKind.MESSAGE:
            self.last_message = text
        if kind in (EventKind.FINISHED, EventKind.FAILED):
            self.ended = kind
        if name == "question":
            self.last_message = QUESTION + text
            text = ""
        ok = event.get("ok")
        arguments = event.get("input")
        return (
            TraceEvent(
                kind=kind,
                text=text,
                call_id=_text(event.get("id")) if kind.value.startswith("tool") else None,
                tool=_text(event.get("tool")),
                arguments=arguments if isinstance(arguments, dict) else {},
                ok=ok if isinstance(ok, bool) else None,
                raw=event,
            ),
        )

    def ending(self, exit_code: int | None, signal: int | None) -> Ending:
        """Judge the end: a script that ended without saying so has crashed."""
        if signal is not None or exit_code is None or self.ended is None:
            return Ending.CRASHED
        if exit_code == 0 and self.ended is EventKind.FINISHED:
            return Ending.FINISHED
        return Ending.FAILED


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
