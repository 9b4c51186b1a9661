"""A trace over time: who speaks above, tool calls below."""

from dataclasses import dataclass

from agentbench_analysis.site.trace import Trace

WIDTH = 1000.0
_LEAST = 1.2
_MOST_CALLS = 8  # marks of one step


@dataclass(frozen=True, slots=True)
class Lane:
    """All bars of one kind, as the data of one SVG path in the picture's units."""

    kind: str
    path: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """Where each step starts, from 0 to `WIDTH`, and the bars."""

    starts: tuple[float, ...]
    lanes: tuple[Lane, ...]


def timeline(trace: Trace) -> Timeline:
    """Lay a trace out over time; steps without times are spread evenly."""
    starts = _starts(trace)
    paths: dict[str, list[str]] = {}
    for step, start, end in zip(trace.steps, starts, [*starts[1:], WIDTH], strict=True):
        width = max(_LEAST, end - start - 0.6)
        paths.setdefault(step.source, []).append(_bar(start, 4, width, 14))
        marks = min(_MOST_CALLS, len(step.calls))
        for place in range(marks):
            x = start + place * (width + 0.6) / marks
            paths.setdefault("call", []).append(_bar(x, 24, 2.4, 16))
    lanes = tuple(Lane(kind, "".join(bars)) for kind, bars in paths.items())
    return Timeline(tuple(round(start, 1) for start in starts), lanes)


def _bar(x: float, y: int, width: float, height: int) -> str:
    return f"M{x:.1f} {y}h{width:.1f}v{height}h-{width:.1f}z"


def _starts(trace: Trace) -> list[float]:
    total = trace.seconds
    count = len(trace.steps)
    if not total or any(step.at is None for step in trace.steps):
        return [WIDTH * index / count for index in range(count)]
    # The last step keeps a sliver of its own, and no step starts before the one it follows.
    scale = (WIDTH - 4) / total
    starts, latest = [], 0.0
    for step in trace.steps:
        latest = max(latest, (step.at or 0.0) * scale)
        starts.append(latest)
    return starts
