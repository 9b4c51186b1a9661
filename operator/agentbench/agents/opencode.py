"""opencode, run headless: `opencode run --format json`.

It has no hook that a run can trust, so its tool calls are counted at the model proxy: derived, and
the cap overshoots by the calls of one answer. Titles are made by the model under test, not by a
second one that the protocol does not name.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from agentbench.agents.lines import JsonLines
from agentbench.agents.port import (
    EventKind,
    EventReader,
    Invocation,
    Launch,
    ToolCount,
    TraceEvent,
)
from agentbench.agents.question import is_blocking_question
from agentbench.agents.settings import Settings, read_settings
from agentbench.core.summary import Ending

KIND = "opencode"
CONFIG = ".config/opencode/opencode.json"


class OpencodeSettings(Settings):
    """Settings of `opencode`, frozen by the protocol."""

    provider: Literal["anthropic", "openai"] = "anthropic"
    variant: str | None = None


@dataclass(frozen=True, slots=True)
class Opencode:
    """opencode."""

    kind: str = KIND
    programs: tuple[str, ...] = ("opencode",)
    settings: type[Settings] = OpencodeSettings
    tool_count: ToolCount = ToolCount.PROXY

    def start(self, launch: Launch) -> Invocation:
        """The first process."""
        return self._invocation(launch, (), launch.prompt)

    def resume(self, launch: Launch, session: str | None, reply: str) -> Invocation:
        """The same session with one more message."""
        which = ("--continue",) if session is None else ("--session", session)
        return self._invocation(launch, which, reply)

    def reader(self) -> EventReader:
        """A reader of its JSON lines."""
        return OpencodeReader()

    def question(self, last_message: str, ending: Ending) -> bool:
        """It cannot ask and wait: a turn that ends with a question is one."""
        return ending is Ending.FINISHED and is_blocking_question(last_message)

    def _invocation(self, launch: Launch, which: Sequence[str], text: str) -> Invocation:
        settings = read_settings(OpencodeSettings, KIND, launch.settings)
        model = f"{settings.provider}/{launch.model}"
        variant = () if settings.variant is None else ("--variant", settings.variant)
        argv = (
            *(launch.binary or "opencode", "run", "--format", "json", "--auto", "-m", model),
            *variant,
            *which,
            *("--", text),
        )
        return Invocation(
            argv=argv,
            env={
                **launch.env,
                "OPENCODE_CONFIG": f"{launch.home.rstrip('/')}/{CONFIG}",
                "OPENCODE_DISABLE_AUTOUPDATE": "1",
                "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
                "OPENCODE_DISABLE_MODELS_FETCH": "1",
                "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
            },
            cwd=launch.workspace,
            files={CONFIG: json.dumps(configuration(launch, settings.provider, model))},
        )


def configuration(launch: Launch, provider: str, model: str) -> Mapping[str, Any]:
    """Its `opencode.json`: the proxy as the provider's address, one model for everything."""
    options = {"baseURL": launch.model_url.rstrip("/") + "/v1", "apiKey": launch.api_key}
    return {
        "model": model,
        "small_model": model,
        "autoupdate": False,
        "share": "disabled",
        "enabled_providers": [provider],
        "provider": {provider: {"options": options, "models": {launch.model: {}}}},
        "agent": {"title": {"disable": True}},
        "permission": {"webfetch": "deny", "websearch": "deny"},
    }


@dataclass(slots=True)
class OpencodeReader(JsonLines):
    """Reads its JSON lines. A tool is told of when it has ended."""

    finished: bool = False
    failed: bool = False
    usage: dict[str, int | str] = field(default_factory=dict)

    def read(self, event: Mapping[str, Any]) -> Sequence[TraceEvent]:
        """Turn one event into trace events."""
        name = event.get("type")
        if isinstance(event.get("sessionID"), str):
            self.session = event["sessionID"]
        if name == "text":
            self.last_message = str(event["part"]["text"])
            return (TraceEvent(kind=EventKind.MESSAGE, text=self.last_message),)
        if name == "reasoning":
            return (TraceEvent(kind=EventKind.REASONING, text=str(event["part"]["text"])),)
        if name == "tool_use":
            return tuple(_tool(event["part"]))
        if name == "error":
            self.failed = True
            text = json.dumps(event.get("error"), default=str)
            return (TraceEvent(kind=EventKind.FAILED, text=text, raw=event),)
        if name == "step_finish":
            self.finished = event["part"].get("reason") == "stop"
        return (TraceEvent(kind=EventKind.OTHER, raw=event),)

    def ending(self, exit_code: int | None, signal: int | None) -> Ending:
        """Judge by its exit and by the reason of its last step."""
        if signal is not None or exit_code is None or exit_code > 128:
            return Ending.CRASHED
        if exit_code == 0 and self.finished and not self.failed:
            return Ending.FINISHED
        return Ending.FAILED if self.failed or exit_code != 0 else Ending.CRASHED


def _tool(part: Mapping[str, Any]) -> Iterator[TraceEvent]:
    state = part["state"]
    call = str(part["callID"])
    tool = str(part["tool"])
    arguments = state.get("input")
    yield TraceEvent(
        kind=EventKind.TOOL_CALL,
        call_id=call,
        tool=tool,
        arguments=arguments if isinstance(arguments, dict) else {},
    )
    metadata = state.get("metadata")
    code = metadata.get("exit") if isinstance(metadata, dict) else None
    ok = state.get("status") == "completed" and tool != "invalid" and code in (0, None)
    output = state.get("output", state.get("error", ""))
    yield TraceEvent(kind=EventKind.TOOL_RESULT, call_id=call, text=str(output), ok=ok)
