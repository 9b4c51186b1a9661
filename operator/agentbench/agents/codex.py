"""Codex CLI, run headless: `codex exec --json`.

Give the native binary as `binary`, not the Node launcher: a launcher that is killed leaves Codex
running. Tool calls are asked for by its PreToolUse hook in `requirements.toml`, which only root can
write; the hook needs `curl` in the sandbox. In code mode each nested tool call asks, the outer
`exec` does not. Input written into a running session (`write_stdin`) asks for nothing: it is no
call of its own.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import Field

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

REQUIREMENTS = "/etc/codex/requirements.toml"
CONFIG = ".codex/config.toml"
KIND = "codex"


class CodexSettings(Settings):
    """Settings of `codex`, frozen by the protocol. Time-out in milliseconds."""

    reasoning_effort: Literal["minimal", "low", "medium", "high", "xhigh"] | None = None
    request_max_retries: int = Field(4, ge=0, le=20)
    stream_max_retries: int = Field(5, ge=0, le=20)
    stream_idle_timeout_ms: int = Field(300_000, ge=1000)


@dataclass(frozen=True, slots=True)
class Codex:
    """Codex CLI."""

    kind: str = KIND
    programs: tuple[str, ...] = ("codex", "curl")
    settings: type[Settings] = CodexSettings
    tool_count: ToolCount = ToolCount.HOOK

    def start(self, launch: Launch) -> Invocation:
        """The first process."""
        flags = ("-m", launch.model)
        return self._invocation(launch, ("exec",), (*flags, "--", launch.prompt))

    def resume(self, launch: Launch, session: str | None, reply: str) -> Invocation:
        """The same thread with one more message."""
        which = ("--last",) if session is None else (session,)
        return self._invocation(launch, ("exec", "resume"), ("--", *which, reply))

    def reader(self) -> EventReader:
        """A reader of its JSON lines."""
        return CodexReader()

    def question(self, last_message: str, ending: Ending) -> bool:
        """It cannot ask and wait: a turn that ends with a question is one."""
        return ending is Ending.FINISHED and is_blocking_question(last_message)

    def _invocation(
        self, launch: Launch, command: Sequence[str], rest: Sequence[str]
    ) -> Invocation:
        settings = read_settings(CodexSettings, KIND, launch.settings)
        flags = ["--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
        config = configuration(launch, settings)
        root_files: dict[str, str] = {}
        if launch.private_root:
            managed = f"[hooks]\nmanaged_dir = {_toml(REQUIREMENTS.rsplit('/', 1)[0])}\n"
            root_files[REQUIREMENTS] = managed + hook(launch.hook_url)
        else:
            # Hooks of the user's own file run only with this flag: else it skips them silently.
            flags.append("--dangerously-bypass-hook-trust")
            config += hook(launch.hook_url)
        return Invocation(
            argv=(launch.binary or "codex", *command, *flags, *rest),
            env={
                **launch.env,
                "CODEX_HOME": f"{launch.home.rstrip('/')}/.codex",
                "AGENTBENCH_MODEL_KEY": launch.api_key,
            },
            cwd=launch.workspace,
            files={CONFIG: config},
            root_files=root_files,
        )


def configuration(launch: Launch, settings: CodexSettings) -> str:
    """Its `config.toml`: the proxy as a provider of its own, nothing that phones home."""
    effort = settings.reasoning_effort
    return "\n".join(
        (
            f"model = {_toml(launch.model)}",
            'model_provider = "proxy"',
            'web_search = "disabled"',
            *((f"model_reasoning_effort = {_toml(effort)}",) if effort else ()),
            "",
            "[model_providers.proxy]",
            'name = "proxy"',
            f"base_url = {_toml(launch.model_url.rstrip('/') + '/v1')}",
            'env_key = "AGENTBENCH_MODEL_KEY"',
            'wire_api = "responses"',
            f"request_max_retries = {settings.request_max_retries}",
            f"stream_max_retries = {settings.stream_max_retries}",
            f"stream_idle_timeout_ms = {settings.stream_idle_timeout_ms}",
            "",
            "[analytics]",
            "enabled = false",
            "",
            "[features]",
            "plugins = false",
            "unbounded_connection_retries = false",
            "",
        )
    )


def hook(hook_url: str) -> str:
    """The pre-tool hook in TOML. A hook that gets no answer denies the tool (exit code 2)."""
    command = (
        "curl -sSf --noproxy '*' --max-time 25 --data-binary @-"
        f" -H 'Content-Type: application/json' {hook_url} || exit 2"
    )
    return "\n".join(
        (
            "",
            "[[hooks.PreToolUse]]",
            "[[hooks.PreToolUse.hooks]]",
            'type = "command"',
            f"command = {_toml(command)}",
            "timeout = 30",
            "",
        )
    )


_NOT_TOOLS = ("agent_message", "reasoning", "error", "todo_list", "plan")


@dataclass(slots=True)
class CodexReader(JsonLines):
    """Reads the events of `exec --json`. They leave out much: they are a trace, no measure."""

    ended: str | None = None
    usage: dict[str, int | str] = field(default_factory=dict)
    _open: set[str] = field(default_factory=set)

    def read(self, event: Mapping[str, Any]) -> Sequence[TraceEvent]:
        """Turn one event into trace events."""
        name = event.get("type")
        if name == "thread.started":
            self.session = str(event["thread_id"])
        elif name in ("turn.completed", "turn.failed"):
            return (self._turn(event),)
        elif name == "error":
            return (TraceEvent(kind=EventKind.RETRY, text=str(event.get("message", ""))),)
        elif name in ("item.started", "item.completed"):
            return tuple(self._item(name == "item.completed", event["item"]))
        return (TraceEvent(kind=EventKind.OTHER, raw=event),)

    def reported(self) -> Mapping[str, int | str]:
        """The thread's totals so far; what its sub-agents used is not in them."""
        return self.usage

    def ending(self, exit_code: int | None, signal: int | None) -> Ending:
        """Judge by its last turn event."""
        if signal is not None or exit_code is None or self.ended is None:
            return Ending.CRASHED
        if exit_code == 0 and self.ended == "turn.completed":
            return Ending.FINISHED
        return Ending.FAILED

    def _turn(self, event: Mapping[str, Any]) -> TraceEvent:
        self.ended = str(event["type"])
        if self.ended == "turn.failed":
            text = str(event["error"]["message"])
            return TraceEvent(kind=EventKind.FAILED, text=text, ok=False, raw=event)
        usage = event.get("usage")
        if isinstance(usage, dict):
            cached = int(usage["cached_input_tokens"])
            written = int(usage.get("cache_write_input_tokens") or 0)
            self.usage = {
                "input_uncached": int(usage["input_tokens"]) - cached - written,
                "cache_read": cached,
                "output": int(usage["output_tokens"]),
            }
        return TraceEvent(kind=EventKind.FINISHED, ok=True, raw=event)

    def _item(self, completed: bool, item: Mapping[str, Any]) -> Iterator[TraceEvent]:
        kind = str(item["type"])
        if kind in _NOT_TOOLS:
            yield self._words(kind, item)
            return
        name = str(item["id"])
        if name not in self._open:
            self._open.add(name)
            yield TraceEvent(
                kind=EventKind.TOOL_CALL,
                call_id=name,
                tool=str(item.get("tool") or kind),
                arguments=_arguments(item),
            )
        if completed:
            self._open.discard(name)
            failed = item.get("status") not in ("completed", None)
            yield TraceEvent(
                kind=EventKind.TOOL_RESULT, call_id=name, text=_output(item), ok=not failed
            )

    def _words(self, kind: str, item: Mapping[str, Any]) -> TraceEvent:
        text = str(item.get("text", item.get("message", "")))
        if kind == "agent_message":
            self.last_message = text
            return TraceEvent(kind=EventKind.MESSAGE, text=text)
        if kind == "reasoning":
            return TraceEvent(kind=EventKind.REASONING, text=text)
        return TraceEvent(kind=EventKind.OTHER, text=text, raw=item)


_OUTCOME = ("id", "type", "status", "aggregated_output", "exit_code", "result", "error", "tool")


def _arguments(item: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name not in _OUTCOME}


def _output(item: Mapping[str, Any]) -> str:
    output = item.get("aggregated_output")
    if isinstance(output, str):
        code = item.get("exit_code")
        return output if code in (0, None) else f"{output}\n[exit code {code}]"
    told = {name: item[name] for name in ("result", "error") if item.get(name) is not None}
    return json.dumps(told, default=str) if told else str(item.get("status", ""))


def _toml(text: str) -> str:
    """A TOML basic string: JSON's escapes are a subset of its own, DEL apart."""
    return json.dumps(text).replace("\x7f", "\\u007f")
