"""A run's trace as it is replayed: its steps, bounded in number and in size."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from agentbench_analysis.site import atif, formats
from agentbench_analysis.site.stream import read
from agentbench_analysis.site.text import Clip, clip, line

SOURCES = ("system", "user", "agent")


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a page shows of a trace at most: bytes read, steps, characters a field and in all."""

    bytes: int = 16 * 1024 * 1024
    steps: int = 1_000
    field: int = 4_000
    total: int = 1_200_000


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call and what came back."""

    id: str
    name: str
    arguments: Clip
    results: tuple[Clip, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One step. Times in seconds from the first step; unknown values are None, never 0."""

    number: int
    source: str
    at: float | None
    message: Clip
    reasoning: Clip
    calls: tuple[Call, ...]
    results: tuple[Clip, ...]  # results that name no call of this step
    model: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    intervention: bool = False
    copied: bool = False

    @property
    def facts(self) -> str:
        """When it was, by which model, and what it used, on one line."""
        parts = [formats.clock(self.at)] if self.at is not None else []
        if self.model:
            parts.append(self.model)
        if self.tokens_in is not None or self.tokens_out is not None:
            used, made = formats.number(self.tokens_in), formats.number(self.tokens_out)
            parts.append(f"{used} in, {made} out")
        if self.cost is not None:
            parts.append(formats.money(self.cost))
        if self.copied:
            parts.append("copied context")
        return " · ".join(parts)


@dataclass(frozen=True, slots=True)
class Trace:
    """The steps of one agent, those of its sub-agents apart."""

    agent: str
    schema: str
    steps: tuple[Step, ...]
    problems: tuple[str, ...]
    subagents: tuple["Trace", ...] = ()

    @property
    def seconds(self) -> float | None:
        """From the first step that has a time to the last."""
        times = [step.at for step in self.steps if step.at is not None]
        return max(times) if times else None

    @property
    def calls(self) -> int:
        """Tool calls on the page."""
        return sum(len(step.calls) for step in self.steps)


class _Budget:
    """Hands out characters until the page's share is used up."""

    def __init__(self, bounds: Bounds) -> None:
        self.field = bounds.field
        self.left = bounds.total

    def clip(self, text: str) -> Clip:
        kept = clip(text, min(self.field, self.left))
        self.left = max(0, self.left - kept.size)
        return kept


def read_trace(chunks: Iterable[bytes], bounds: Bounds | None = None) -> Trace:
    """Read `trajectory.json` (ATIF v1.0 to v1.8) within bounds; never raises for its content."""
    bounds = bounds or Bounds()
    raw = atif.parse(read(chunks, bounds.bytes), bounds.steps)
    budget = _Budget(bounds)
    main = _trace(raw.fields, raw.steps, budget)
    subagents = []
    for sub in _records(raw.fields.get("subagent_trajectories"))[:20]:
        steps = _records(sub.get("steps"))[: bounds.steps]
        subagents.append(_trace(sub, tuple(steps), budget))
    problems = list(raw.problems)
    if not main.steps:
        problems.append("No step could be read.")
    if budget.left == 0:
        problems.append("The trace is longer than a page may be; later texts are left out.")
    return Trace(main.agent, main.schema, main.steps, tuple(problems), tuple(subagents))


def _trace(fields: atif.Record, records: tuple[atif.Record, ...], budget: _Budget) -> Trace:
    agent = fields.get("agent")
    name = version = ""
    if isinstance(agent, dict):
        name, version = _text(agent.get("name")), _text(agent.get("version"))
    start = next((t for t in map(_moment, records) if t is not None), None)
    steps = tuple(_step(i, r, start, budget) for i, r in enumerate(records, 1))
    return Trace(
        line(f"{name} {version}".strip()), line(_text(fields.get("schema_version"))), steps, ()
    )


def _step(number: int, record: atif.Record, start: float | None, budget: _Budget) -> Step:
    source = _text(record.get("source"))
    moment = _moment(record)
    results = _results(record.get("observation"))
    calls = []
    for call in _records(record.get("tool_calls"))[:200]:
        call_id = _text(call.get("tool_call_id"))
        mine = [text for source_id, text in results if source_id == call_id]
        results = [pair for pair in results if pair[0] != call_id]
        calls.append(
            Call(
                line(call_id, 80),
                line(_text(call.get("function_name")) or "unnamed tool", 80),
                budget.clip(_arguments(call.get("arguments"))),
                tuple(budget.clip(text) for text in mine),
            )
        )
    metrics = record.get("metrics")
    numbers = metrics if isinstance(metrics, dict) else {}
    extra = record.get("extra")
    return Step(
        number=number,
        source=source if source in SOURCES else "unknown",
        at=None if moment is None or start is None else max(0.0, moment - start),
        message=budget.clip(_content(record.get("message"))),
        reasoning=budget.clip(_content(record.get("reasoning_content"))),
        calls=tuple(calls),
        results=tuple(budget.clip(text) for _, text in results[:200]),
        model=line(_text(record.get("model_name")), 80),
        tokens_in=_count(numbers.get("prompt_tokens")),
        tokens_out=_count(numbers.get("completion_tokens")),
        cost=_amount(numbers.get("cost_usd")),
        intervention=isinstance(extra, dict) and extra.get("intervention_index") is not None,
        copied=record.get("is_copied_context") is True,
    )


def _results(observation: object) -> list[tuple[str, str]]:
    if not isinstance(observation, dict):
        return []
    return [
        (_text(result.get("source_call_id")), _content(result.get("content")))
        for result in _records(observation.get("results"))[:200]
    ]


def _content(value: object) -> str:
    """Return a message's text; a picture or a sound is named, never loaded."""
    if isinstance(value, list):
        return "\n".join(_part(part) for part in value[:200])
    return _text(value)


def _part(part: object) -> str:
    if not isinstance(part, dict):
        return _text(part)
    if part.get("type") == "text":
        return _text(part.get("text"))
    source = part.get("source")
    path = _text(source.get("path")) if isinstance(source, dict) else ""
    return f"[{_text(part.get('type')) or 'part'}: {path or 'not shown'}]"


def _arguments(value: object) -> str:
    if isinstance(value, dict) and len(value) == 1:
        only = next(iter(value.values()))
        if isinstance(only, str):
            return only  # one command or one path reads better than its JSON
    return "" if value in (None, {}) else _dump(value, indent=2)


def _records(value: object) -> list[atif.Record]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else _dump(value)


def _dump(value: object, indent: int | None = None) -> str:
    try:
        return json.dumps(value, indent=indent, ensure_ascii=False)
    except RecursionError:
        return "(nested too deeply to show)"


def _count(value: object) -> int | None:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**15:
        return value
    return None


def _amount(value: object) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 10**9:
        return float(value)
    return None


def _moment(record: atif.Record) -> float | None:
    value = record.get("timestamp")
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
