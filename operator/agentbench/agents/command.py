"""Any agent that is given as a command and takes the model's address from its environment.

Its tool calls are counted at the model proxy: derived. Its standard output is its trace. A
question is seen only where the settings say how the agent is resumed.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field, field_validator

from agentbench.agents.port import (
    EventKind,
    EventReader,
    Invocation,
    Launch,
    ToolCount,
    TraceEvent,
)
from agentbench.agents.question import is_blocking_question
from agentbench.agents.settings import Settings, SettingsError, Texts, Words, read_settings
from agentbench.core.summary import Ending

KIND = "command"
PLACEHOLDERS = ("prompt", "model", "modelUrl", "workspace", "home", "tmp", "key", "reply")
LAST_LINES = 40
LONGEST_PARAGRAPH = 200  # lines


class CommandSettings(Settings):
    """Settings of `command`. In `argv`, `resume`, `env` and `files` placeholders are filled in.

    They are `{prompt}`, `{model}`, `{modelUrl}`, `{workspace}`, `{home}`, `{tmp}`, `{key}` and, in
    `resume`, `{reply}`. A brace that stands for itself is written twice.
    """

    argv: Words = Field(min_length=1, description="the command line, as in agent --task {prompt}")
    resume: Words | None = None
    env: Texts = Field(default_factory=dict)
    files: Texts = Field(default_factory=dict)  # paths below HOME

    @field_validator("argv", "resume")
    @classmethod
    def _known(cls, value: tuple[str, ...] | None) -> tuple[str, ...] | None:
        for part in value or ():
            _fill(part, dict.fromkeys(PLACEHOLDERS, ""))
        return value


@dataclass(frozen=True, slots=True)
class Command:
    """An agent given as a command."""

    kind: str = KIND
    programs: tuple[str, ...] = ()
    settings: type[Settings] = CommandSettings
    tool_count: ToolCount = ToolCount.PROXY

    def start(self, launch: Launch) -> Invocation:
        """The first process."""
        settings = read_settings(CommandSettings, KIND, launch.settings)
        return self._invocation(launch, settings, settings.argv, "")

    def resume(self, launch: Launch, session: str | None, reply: str) -> Invocation:
        """The process that the settings name for a reply."""
        settings = read_settings(CommandSettings, KIND, launch.settings)
        if settings.resume is None:
            raise SettingsError(f"settings of adapter {KIND}: resume is missing: add its command")
        return self._invocation(launch, settings, settings.resume, reply)

    def reader(self) -> EventReader:
        """A reader of plain text."""
        return TextReader()

    def question(self, last_message: str, ending: Ending) -> bool:
        """The last paragraph that it printed is read by the common rule."""
        return ending is Ending.FINISHED and is_blocking_question(last_message)

    def _invocation(
        self, launch: Launch, settings: CommandSettings, argv: Sequence[str], reply: str
    ) -> Invocation:
        values = {
            "prompt": launch.prompt,
            "model": launch.model,
            "modelUrl": launch.model_url,
            "workspace": launch.workspace,
            "home": launch.home,
            "tmp": launch.tmp,
            "key": launch.api_key,
            "reply": reply,
        }
        model_url = launch.model_url.rstrip("/")
        return Invocation(
            argv=tuple(_fill(part, values) for part in argv),
            env={
                **launch.env,
                "ANTHROPIC_BASE_URL": model_url,
                "ANTHROPIC_API_KEY": launch.api_key,
                "OPENAI_BASE_URL": f"{model_url}/v1",
                "OPENAI_API_KEY": launch.api_key,
                **{name: _fill(value, values) for name, value in settings.env.items()},
            },
            cwd=launch.workspace,
            files={path: _fill(text, values) for path, text in settings.files.items()},
        )


@dataclass(slots=True)
class TextReader:
    """Reads text, a paragraph a message; its exit code alone says how the agent ended."""

    session: str | None = None
    _paragraph: list[str] = field(default_factory=list)
    _lines: deque[str] = field(default_factory=lambda: deque(maxlen=LAST_LINES))

    def feed(self, line: bytes) -> Sequence[TraceEvent]:
        """A blank line, or very many others, end a message."""
        text = line.decode("utf-8", "replace").rstrip("\r")
        self._lines.append(text)
        if text.strip():
            self._paragraph.append(text)
            if len(self._paragraph) < LONGEST_PARAGRAPH:
                return ()
        if not self._paragraph:
            return ()
        message = "\n".join(self._paragraph)
        self._paragraph.clear()
        return (TraceEvent(kind=EventKind.MESSAGE, text=message),)

    @property
    def last_message(self) -> str:
        """The last lines that it printed."""
        return "\n".join(self._lines)

    def reported(self) -> Mapping[str, int | str]:
        """Nothing: plain text reports no usage."""
        return {}

    def ending(self, exit_code: int | None, signal: int | None) -> Ending:
        """Exit code 0 is a finished turn, another one an error it reported."""
        if signal is not None or exit_code is None or exit_code > 128:
            return Ending.CRASHED
        return Ending.FINISHED if exit_code == 0 else Ending.FAILED


def _fill(template: str, values: Mapping[str, Any]) -> str:
    try:
        return template.format_map(values)
    except (KeyError, IndexError, AttributeError, ValueError) as error:
        known = ", ".join("{" + name + "}" for name in PLACEHOLDERS)
        raise ValueError(
            f"{template!r} has a placeholder that is not known ({error}); use {known}, "
            "and write a brace that stands for itself twice"
        ) from None
