"""Claude Code, run headless: `claude -p --output-format stream-json`.

Tool calls are asked for by its PreToolUse hook in managed settings, which only root can write and
which it puts above every other settings file. Web tools are off: they reach past the model proxy.
Background tasks are off unless the settings turn them on: with them a run has several results.
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
from agentbench.agents.settings import Names, Settings, read_settings
from agentbench.core.summary import Ending

MANAGED_SETTINGS = "/etc/claude-code/managed-settings.json"
KIND = "claude-code"


class ClaudeCodeSettings(Settings):
    """Settings of `claude-code`, frozen by the protocol."""

    max_output_tokens: int | None = Field(None, ge=1)
    max_retries: int = Field(4, ge=0, le=20)
    background_tasks: bool = False
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    disallowed_tools: Names = ("WebSearch", "WebFetch")
    append_system_prompt: str | None = None


@dataclass(frozen=True, slots=True)
class ClaudeCode:
    """Claude Code."""

    kind: str = KIND
    programs: tuple[str, ...] = ("claude",)
    settings: type[Settings] = ClaudeCodeSettings
    tool_count: ToolCount = ToolCount.HOOK

    def start(self, launch: Launch) -> Invocation:
        """The first process."""
        return self._invocation(launch, launch.prompt, ())

    def resume(self, launch: Launch, session: str | None, reply: str) -> Invocation:
        """The same session with one more message."""
        which = ("--continue",) if session is None else ("--resume", session)
        return self._invocation(launch, reply, which)

    def reader(self) -> EventReader:
        """A reader of its stream of JSON lines."""
        return ClaudeCodeReader()

    def question(self, last_message: str, ending: Ending) -> bool:
        """It cannot ask and wait: a turn that ends with a question is one."""
        return ending is Ending.FINISHED and is_blocking_question(last_message)

    def _invocation(self, launch: Launch, prompt: str, which: Sequence[str]) -> Invocation:
        settings = read_settings(ClaudeCodeSettings, KIND, launch.settings)
        argv = [
            *(launch.binary or "claude", "-p"),
            *("--output-format", "stream-json", "--verbose"),
            *("--model", launch.model, "--dangerously-skip-permissions"),
            *which,
        ]
        if settings.effort is not None:
            argv += ["--effort", settings.effort]
        if settings.append_system_prompt is not None:
            argv += ["--append-system-prompt", settings.append_system_prompt]
        if settings.disallowed_tools:
            argv += ["--disallowedTools", ",".join(settings.disallowed_tools)]
        managed = json.dumps(managed_settings(launch.hook_url))
        root_files: dict[str, str] = {}
        if launch.private_root:
            root_files[MANAGED_SETTINGS] = managed
        else:
            argv += ["--settings", managed]
        # Behind a "--": a prompt that begins with a dash is still a prompt.
        argv += ["--", prompt]
        return Invocation(
            argv=tuple(argv),
            env=environment(launch, settings),
            cwd=launch.workspace,
            root_files=root_files,
        )


def environment(launch: Launch, settings: ClaudeCodeSettings) -> Mapping[str, str]:
    """Its whole environment: the proxy's address, a dummy key, nothing that phones home."""
    env = {
        **launch.env,
        "ANTHROPIC_BASE_URL": launch.model_url,
        "ANTHROPIC_API_KEY": launch.api_key,
        "CLAUDE_CONFIG_DIR": f"{launch.home.rstrip('/')}/.claude",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": str(settings.max_retries),
        "DISABLE_AUTOUPDATER": "1",
    }
    if not settings.background_tasks:
        env["CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"] = "1"
    if settings.max_output_tokens is not None:
        env["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] = str(settings.max_output_tokens)
    return env


def managed_settings(hook_url: str) -> Mapping[str, Any]:
    """Settings that make it ask before each tool, and that nobody below root can take away."""
    hook = {"type": "http", "url": f"{hook_url}?stop=1", "timeout": 30, "onFailure": "block"}
    return {
        "allowManagedHooksOnly": True,
        "hooks": {"PreToolUse": [{"hooks": [hook]}]},
    }


@dataclass(slots=True)
class ClaudeCodeReader(JsonLines):
    """Reads `stream-json`. Usage in its events is not summed: the proxy measures."""

    result: Mapping[str, Any] | None = None
    usage: dict[str, int | str] = field(default_factory=dict)

    def read(self, event: Mapping[str, Any]) -> Sequence[TraceEvent]:
        """Turn one event into trace events."""
        name = event.get("type")
        if isinstance(event.get("session_id"), str):
            self.session = event["session_id"]
        if name == "assistant":
            return tuple(self._assistant(event))
        if name == "user":
            return tuple(_results(event))
        if name == "result":
            return (self._result(event),)
        if name == "system" and event.get("subtype") == "api_retry":
            text = f"retry {event.get('attempt')}: {event.get('error')}"
            return (TraceEvent(kind=EventKind.RETRY, text=text, raw=event),)
        return (TraceEvent(kind=EventKind.OTHER, raw=event),)

    def reported(self) -> Mapping[str, int | str]:
        """The totals of its last result, over all models and resumed turns."""
        return self.usage

    def ending(self, exit_code: int | None, signal: int | None) -> Ending:
        """Judge by its last result: `subtype` says success even where a call failed."""
        if signal is not None or exit_code is None or exit_code > 128 or self.result is None:
            return Ending.CRASHED
        if exit_code == 0 and not self.result.get("is_error"):
            return Ending.FINISHED
        return Ending.FAILED

    def _assistant(self, event: Mapping[str, Any]) -> Iterator[TraceEvent]:
        message = event["message"]
        subagent = _text(event.get("parent_tool_use_id"))
        own_words = message.get("model") == "<synthetic>"
        for block in message["content"]:
            kind = block.get("type")
            if kind == "text":
                text = str(block.get("text", ""))
                if own_words:
                    # The CLI's own text (an API error), not the model's.
                    yield TraceEvent(kind=EventKind.FAILED, text=text, subagent=subagent)
                    continue
                if subagent is None:
                    self.last_message = text
                yield TraceEvent(kind=EventKind.MESSAGE, text=text, subagent=subagent)
            elif kind == "thinking":
                text = str(block.get("thinking", ""))
                yield TraceEvent(kind=EventKind.REASONING, text=text, subagent=subagent)
            elif kind == "tool_use":
                arguments = block.get("input")
                yield TraceEvent(
                    kind=EventKind.TOOL_CALL,
                    call_id=_text(block.get("id")),
                    tool=_text(block.get("name")),
                    arguments=arguments if isinstance(arguments, dict) else {},
                    subagent=subagent,
                )

    def _result(self, event: Mapping[str, Any]) -> TraceEvent:
        self.result = event
        self.usage = _reported(event)
        failed = bool(event.get("is_error"))
        text = str(event.get("result") or event.get("terminal_reason") or "") if failed else ""
        kind = EventKind.FAILED if failed else EventKind.FINISHED
        return TraceEvent(kind=kind, text=text, ok=not failed, raw=event)


_COUNTS = {
    "inputTokens": "input_uncached",
    "cacheReadInputTokens": "cache_read",
    "cacheCreationEphemeral5mInputTokens": "cache_write_5m",
    "cacheCreationEphemeral1hInputTokens": "cache_write_1h",
    "outputTokens": "output",
}


def _reported(event: Mapping[str, Any]) -> dict[str, int | str]:
    """What the last result says was used, over all models and earlier turns."""
    used = event.get("modelUsage")
    models = list(used.values()) if isinstance(used, dict) else []
    totals: dict[str, int | str] = {}
    for theirs, ours in _COUNTS.items():
        counts = [model.get(theirs) for model in models if isinstance(model, dict)]
        known = [count for count in counts if isinstance(count, int)]
        if counts and len(known) == len(counts):
            totals[ours] = sum(known)
    cost = event.get("total_cost_usd")
    guessed = any(isinstance(m, dict) and m.get("costBasis") == "unknown" for m in models)
    if isinstance(cost, int | float) and not guessed:
        totals["cost_usd"] = repr(cost)
    return totals


def _results(event: Mapping[str, Any]) -> Iterator[TraceEvent]:
    subagent = _text(event.get("parent_tool_use_id"))
    content = event["message"]["content"]
    blocks = content if isinstance(content, list) else []
    for block in blocks:
        if not isinstance(block, dict) or block.get("type") != "tool_result":
            yield TraceEvent(kind=EventKind.OTHER, raw=event)
            continue
        yield TraceEvent(
            kind=EventKind.TOOL_RESULT,
            text=_content(block.get("content")),
            call_id=_text(block.get("tool_use_id")),
            ok=block.get("is_error") is not True,
            subagent=subagent,
        )


def _content(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", f"[{part.get('type')}]")) for part in content if part)
    return content if isinstance(content, str) else ""


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
