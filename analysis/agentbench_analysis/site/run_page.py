"""A page per attempt: what it was, how it was judged, what it changed, and its trace."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agentbench_analysis.results.model import Attempt
from agentbench_analysis.rows.model import Artifact, Metric, Row
from agentbench_analysis.rows.read import number_of, parse_row
from agentbench_analysis.site import formats
from agentbench_analysis.site.diff import Diff, read_diff
from agentbench_analysis.site.links import Links
from agentbench_analysis.site.render import Renderer
from agentbench_analysis.site.stream import OpenArtifact
from agentbench_analysis.site.timeline import timeline
from agentbench_analysis.site.trace import Bounds, Trace, read_trace
from agentbench_analysis.spec import Caps

TRACE = "trajectory.json"
DIFF = "final.diff"


@dataclass(frozen=True, slots=True)
class CapLine:
    """One cap as a gauge; `share` is what was used of it, None where that is not known."""

    name: str
    used: str
    limit: str
    share: float | None
    hit: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class MetricLine:
    """One metric as it is printed."""

    name: str
    value: str
    availability: str
    reason: str


class RunPages:
    """Makes the pages of all attempts."""

    def __init__(
        self,
        renderer: Renderer,
        caps: Caps,
        open_artifact: OpenArtifact,
        file_href: Callable[[str], str | None],
        bounds: Bounds,
    ) -> None:
        self._renderer = renderer
        self._caps = caps
        self._open = open_artifact
        self._href = file_href
        self._bounds = bounds

    def pages(self, attempts: tuple[Attempt, ...]) -> Iterator[tuple[str, bytes]]:
        """Yield (address, page) for each attempt, in the order in which they ran.

        Raises:
            AnalysisError: a stored row is not the one that the results were made from.
        """
        links = Links(attempts)
        ordered = sorted(attempts, key=lambda each: (each.order, each.attempt))
        for place, attempt in enumerate(ordered):
            before = ordered[place - 1] if place else None
            after = ordered[place + 1] if place + 1 < len(ordered) else None
            yield links.page(attempt), self._page(attempt, links, before, after)

    def _page(
        self, attempt: Attempt, links: Links, before: Attempt | None, after: Attempt | None
    ) -> bytes:
        row = self._row(attempt)
        trace, trace_missing = self._trace(row)
        diff, diff_missing = self._diff(row)
        return self._renderer.page(
            "run.html.j2",
            root="../",
            here="runs.html",
            attempt=attempt,
            row=row,
            links=links,
            before=before,
            after=after,
            attempts=links.attempts(attempt.run),
            caps=cap_lines(attempt, self._caps),
            metrics=metric_lines(attempt),
            confirmed=_confirmed(attempt),
            file_href=self._href,
            trace=trace,
            trace_missing=trace_missing,
            timeline=timeline(trace) if trace else None,
            diff=diff,
            diff_missing=diff_missing,
        )

    def _row(self, attempt: Attempt) -> Row | None:
        chunks = self._open(attempt.key)
        if chunks is None:
            return None
        return parse_row(attempt.key, b"".join(chunks), attempt.sha256)

    def _trace(self, row: Row | None) -> tuple[Trace | None, str]:
        file, missing = _artifact(row, TRACE, "trace")
        chunks = self._open(file.key) if file else None
        if chunks is None:
            return None, missing
        return read_trace(chunks, self._bounds), ""

    def _diff(self, row: Row | None) -> tuple[Diff | None, str]:
        file, missing = _artifact(row, DIFF, "final diff")
        chunks = self._open(file.key) if file else None
        if chunks is None:
            return None, missing
        return read_diff(chunks), ""


def _artifact(row: Row | None, name: str, title: str) -> tuple[Artifact | None, str]:
    """The stored file of a name, and the sentence that stands in for it where it is missing."""
    if row is None:
        return None, f"The row is not at hand, and so neither is its {title}."
    stem = name.partition(".")[0]
    for key, file in row.artifacts.items():
        if key in (name, stem) or file.key.endswith("/" + name):
            if file.withheld:
                return None, f"The {title} was withheld: {file.withheld}."
            return file, f"The {title} ({file.key}) is not at hand where this page was made."
    return None, f"No {title} was stored for this attempt."


def cap_lines(attempt: Attempt, caps: Caps) -> tuple[CapLine, ...]:
    """The four caps with what the attempt used of each."""
    hit = set(attempt.caps_hit)

    def one(
        key: str, title: str, metric: str, limit: float, show: Callable[[float], str]
    ) -> CapLine:
        found = attempt.metrics.get(metric)
        used = number_of(found)
        note = ""
        if used is None:
            note = (found.reason if found else None) or "not reported"
        share = used / limit if used is not None and limit else None
        shown = formats.UNKNOWN if used is None else show(used)
        return CapLine(title, shown, show(limit), share, key in hit, note)

    return (
        one("wall", "Wall time", "agent_seconds", caps.wall_seconds, formats.duration),
        one("cost", "Cost", "cost_usd", caps.cost_usd, formats.money),
        one("tool-calls", "Tool calls", "tool_calls", caps.tool_calls, formats.number),
        one("interventions", "Interventions", "interventions", caps.interventions, formats.number),
    )


def metric_lines(attempt: Attempt) -> tuple[MetricLine, ...]:
    """Every metric of an attempt, known or not."""
    return tuple(
        MetricLine(name, _value(name, metric), metric.availability.value, metric.reason or "")
        for name, metric in sorted(attempt.metrics.items())
    )


def _value(name: str, metric: Metric) -> str:
    number = number_of(metric)
    if number is None:
        return formats.UNKNOWN if metric.value is None else str(metric.value)
    if name.endswith("_usd"):
        return formats.money(number)
    if name.endswith("_seconds"):
        return formats.duration(number)
    return formats.number(number, 0 if number == int(number) else 2)


def _confirmed(attempt: Attempt) -> Callable[[str], str]:
    judged = attempt.judgement.security if attempt.judgement else None

    def word(assertion: str) -> str:
        if judged is None:
            return "not judged yet"
        return "confirmed" if assertion in judged else "refused"

    return word
