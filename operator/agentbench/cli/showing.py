"""One row, as people read it."""

from agentbench.cli.screen import Screen
from agentbench_analysis.rows.model import Check, Metric, Row
from agentbench_analysis.rows.words import Availability


def show_row(screen: Screen, row: Row) -> None:
    """Print a row, part by part; parts with nothing in them are left out."""
    cause = f" ({row.cause})" if row.cause else ""
    draft = ", draft" if row.draft else ""
    screen.heading(f"{row.run}, attempt {row.attempt}: {row.outcome}{cause}{draft}")
    _pairs(screen, "", _head(row))
    if row.checks:
        screen.heading("Checks")
        screen.table(
            ["#", "Verdict", "Exit", "Time", "Reason", "Failed assertions"],
            [_check(check) for check in row.checks],
            right=["#", "Exit", "Time"],
        )
        screen.say()
    failed = {a.id: a.detail for check in row.checks for a in check.asserts if not a.ok}
    _pairs(screen, "Assertions that failed", failed)
    _pairs(screen, "Security", _security(row))
    screen.heading("Metrics")
    screen.table(
        ["Metric", "Value", "Source"],
        [[name, _value(metric), _source(metric)] for name, metric in row.metrics.items()],
        right=["Value"],
    )
    screen.say()
    artifacts = {
        name: f"withheld: {each.withheld}"
        if each.withheld
        else f"{each.key} ({each.size} bytes{', truncated' if each.truncated else ''})"
        for name, each in row.artifacts.items()
    }
    _pairs(screen, "Artifacts", artifacts)
    _pairs(screen, "Versions", row.versions)
    _pairs(screen, "Environment", row.environment)
    for title, lines in (("Denied egress", row.denied_egress), ("Notes", row.notes)):
        if lines:
            screen.heading(title)
            for line in lines:
                screen.say(f"  {line}")


def _head(row: Row) -> dict[str, str]:
    cell = row.cell
    plugins = f", plugins {', '.join(cell.plugins)}" if cell.plugins else ""
    found = {
        "cell": f"task {cell.task}, stack {cell.stack}, agent {cell.agent}{plugins}",
        "order": f"run {row.order + 1} of the plan, repeat {row.repeat}, {row.phase}",
        "time": f"{row.started_at} to {row.ended_at}",
        "reasons": ", ".join(row.reasons),
        "caps hit": ", ".join(row.caps_hit),
        "evidence": "; ".join(row.evidence),
        "digest": row.digest,
    }
    return {name: text for name, text in found.items() if text}


def _check(check: Check) -> list[object]:
    return [
        check.repeat,
        check.verdict,
        "" if check.exit_code is None else check.exit_code,
        "" if check.seconds is None else f"{check.seconds:.1f} s",
        check.reason or "",
        ", ".join(a.id for a in check.asserts if not a.ok),
    ]


def _security(row: Row) -> dict[str, str]:
    if not row.security.ran:
        return {"did not run": row.security.reason or ""}
    flags = {f"{flag.kind}, {flag.assertion}": flag.detail for flag in row.security.flags}
    return flags or {"ran": row.security.reason or "nothing found"}


def _value(metric: Metric) -> str:
    if metric.value is None:
        return "unavailable"
    return f"{metric.value:.2f}" if isinstance(metric.value, float) else str(metric.value)


def _source(metric: Metric) -> str:
    if metric.availability is Availability.UNAVAILABLE:
        return metric.reason or ""
    return f"{metric.availability}: {metric.reason}" if metric.reason else str(metric.availability)


def _pairs(screen: Screen, title: str, pairs: dict[str, str]) -> None:
    if not pairs:
        return
    if title:
        screen.heading(title)
    width = max(len(name) for name in pairs)
    for name, text in pairs.items():
        screen.say(f"  {name.ljust(width)}  {text}".rstrip())
    screen.say()
