"""Writes down how a run went: its metrics, its files, its summary."""

from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation

from agentbench.agents.port import ToolCount
from agentbench.core.summary import Cap, Ending, Measure, Summary
from agentbench.pod.process import Sandbox
from agentbench.pod.warden.config import WardenConfig
from agentbench.pod.warden.meter import Meter
from agentbench.pod.warden.publish import Published
from agentbench.pod.warden.repair import RepairRounds
from agentbench.pod.warden.session import Course
from agentbench_analysis.rows.words import Availability

DIFFERENCE = Decimal("0.05")  # between the agent's own count and the measured one
FROM_LOG = "from the agent's event log"


def measures_of(
    course: Course, meter: Meter, repair: RepairRounds, tools: ToolCount, sandbox: Sandbox
) -> dict[str, Measure]:
    """Every metric of the run by its canonical name."""
    measures = dict(meter.measures())
    if tools is ToolCount.HOOK and not sandbox.private_root:
        measures["tool_calls"] = Measure(
            value=measures["tool_calls"].value,
            availability=Availability.DERIVED,
            reason="the hook's settings are not root-owned in this sandbox",
        )
    measures["interventions"] = Measure(
        value=course.interventions, availability=Availability.MEASURED
    )
    measures["agent_seconds"] = (
        Measure(availability=Availability.UNAVAILABLE, reason="the agent was not started")
        if course.seconds is None
        else Measure(value=round(course.seconds, 3), availability=Availability.MEASURED)
    )
    for name, value in (("repair_rounds", repair.rounds), ("tool_failures", repair.failures)):
        measures[name] = (
            Measure(value=value, availability=Availability.DERIVED, reason=FROM_LOG)
            if repair.results or not measures["tool_calls"].value
            else Measure(
                availability=Availability.UNAVAILABLE,
                reason="the agent's event log tells of no tool results",
            )
        )
    return measures


def summary_of(
    config: WardenConfig,
    course: Course,
    meter: Meter,
    measures: Mapping[str, Measure],
    files: Mapping[str, Published],
    problem: str | None,
) -> Summary:
    """What the warden says of the attempt."""
    caps = {*meter.caps_hit, *course.caps}
    notes = [*course.notes, *meter.notes, *differences(course.reported, measures)]
    if problem is not None:
        notes.append(problem)
    for name, published in files.items():
        if published.redacted:
            taken = ", ".join(f"{what} x{count}" for what, count in published.redacted.items())
            notes.append(f"{name}: redacted {taken}")
    return Summary(
        run=config.run,
        attempt=config.attempt,
        ending=course.ending,
        exit_code=course.exit.code,
        signal=course.exit.signal,
        caps_hit=tuple(cap for cap in Cap if cap in caps),
        metrics=dict(measures),
        provider=meter.evidence(course.ending),
        models=meter.models,
        sandbox_failed=course.lost or "",
        files={name: published.file for name, published in files.items()},
        notes=tuple(notes),
    )


def not_started(config: WardenConfig, reason: str) -> Summary:
    """The summary of an attempt whose agent never got its prompt."""
    return Summary(
        run=config.run, attempt=config.attempt, ending=Ending.NOT_STARTED, notes=(reason,)
    )


def differences(
    reported: Mapping[str, int | str], measures: Mapping[str, Measure]
) -> Iterator[str]:
    """Where the agent's own count is more than 5 % off the measured one."""
    for name, said in reported.items():
        measure = measures.get(name)
        if measure is None or measure.value is None:
            continue
        try:
            ours, theirs = Decimal(str(measure.value)), Decimal(str(said))
        except InvalidOperation:
            continue
        if abs(theirs - ours) > DIFFERENCE * max(abs(ours), Decimal(1).scaleb(-6)):
            yield f"{name}: the agent reports {said}, measured were {measure.value}"
