"""Exports a run's model calls as OpenTelemetry spans and metrics, by OTLP over HTTP.

Off unless an endpoint is configured; the libraries are an extra and are imported only then. Names
follow the GenAI semantic conventions (in development; pinned by the extra `otel`). Cost, which they
do not name, has the project's own attributes. No text of any prompt or answer is exported.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentbench.core.calls import CallEnd, FinishedCall
from agentbench.core.pricing import dollars
from agentbench.core.usage import Usage

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.trace import TracerProvider

SERVICE = "agent-bench-warden"
NANOS = 1_000_000_000
TIMEOUT_SECONDS = 5.0
TOKEN_BOUNDS = [4**power for power in range(14)]
SECOND_BOUNDS = [0.01 * 2**power for power in range(14)]


class TelemetryMissing(RuntimeError):
    """An endpoint is configured, but the OpenTelemetry libraries are not installed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetrySettings:
    """Where spans and metrics go, and what they say of their run.

    `endpoint` is the collector's base URL, as in OTEL_EXPORTER_OTLP_ENDPOINT.
    """

    endpoint: str
    run: str
    agent: str
    headers: Mapping[str, str] | None = None


class Telemetry:
    """An observer of the meter that exports what it is told, from a thread of its own."""

    def __init__(self, settings: TelemetrySettings) -> None:
        """Start the exporters.

        Raises:
            TelemetryMissing: the extra `otel` is not installed.
        """
        self._tracers, self._meters = _providers(settings)
        self._settings = settings
        self._tracer = self._tracers.get_tracer("agentbench.warden")
        meter = self._meters.get_meter("agentbench.warden")
        self._tokens = meter.create_histogram(
            "gen_ai.client.token.usage",
            unit="{token}",
            explicit_bucket_boundaries_advisory=TOKEN_BOUNDS,
        )
        self._seconds = meter.create_histogram(
            "gen_ai.client.operation.duration",
            unit="s",
            explicit_bucket_boundaries_advisory=SECOND_BOUNDS,
        )
        self._root = self._tracer.start_span(
            f"invoke_agent {settings.agent}",
            attributes={
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": settings.agent,
                "agentbench.run.id": settings.run,
            },
        )

    def call_finished(self, call: FinishedCall) -> None:
        """Export one model call: a span, and its tokens and seconds as metrics."""
        names: dict[str, str] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": call.start.api.provider.value,
            "gen_ai.request.model": call.start.model,
        }
        if call.end.reading.model is not None:
            names["gen_ai.response.model"] = call.end.reading.model
        if (error := _error(call.end)) is not None:
            names["error.type"] = error
        self._seconds.record(call.end.duration, names)
        usage = call.charge.usage or Usage()
        for kind, amount in (("input", _input(usage)), ("output", usage.output)):
            if amount is not None:
                self._tokens.record(amount, names | {"gen_ai.token.type": kind})
        span: dict[str, Any] = {**names, **_details(call, usage)}
        self._span(f"chat {call.start.model}", call.end.duration, span)

    def tool_finished(self, tool: str, seconds: float, error: str | None = None) -> None:
        """Export one tool call of the agent."""
        span = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool}
        if error is not None:
            span["error.type"] = error
        self._span(f"execute_tool {tool}", seconds, span)

    def close(self) -> None:
        """End the run's span and export what is left; waits a few seconds at most."""
        self._root.end()
        for provider in (self._tracers, self._meters):
            provider.force_flush(int(TIMEOUT_SECONDS * 1000))
            provider.shutdown()

    def _span(self, name: str, seconds: float, attributes: Mapping[str, Any]) -> None:
        from opentelemetry.trace import SpanKind, set_span_in_context

        end = time.time_ns()
        span = self._tracer.start_span(
            name,
            context=set_span_in_context(self._root),
            kind=SpanKind.CLIENT,
            attributes=attributes,
            start_time=end - int(seconds * NANOS),
        )
        span.end(end)


def _providers(settings: TelemetrySettings) -> "tuple[TracerProvider, MeterProvider]":
    try:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise TelemetryMissing(
            "a telemetry endpoint is configured, but OpenTelemetry is not installed: "
            "install agent-bench[otel], or remove the endpoint"
        ) from error
    base = settings.endpoint.rstrip("/")
    resource = Resource.create({"service.name": SERVICE})
    tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
    tracers.add_span_processor(
        BatchSpanProcessor(
            OTLPSpanExporter(
                endpoint=f"{base}/v1/traces", headers=settings.headers, timeout=TIMEOUT_SECONDS
            )
        )
    )
    reader = PeriodicExportingMetricReader(
        OTLPMetricExporter(
            endpoint=f"{base}/v1/metrics", headers=settings.headers, timeout=TIMEOUT_SECONDS
        )
    )
    meters = MeterProvider(metric_readers=[reader], resource=resource, shutdown_on_exit=False)
    return tracers, meters


def _details(call: FinishedCall, usage: Usage) -> dict[str, Any]:
    reading = call.end.reading
    writes = [count for count in (usage.cache_write_5m, usage.cache_write_1h) if count is not None]
    details = {
        "gen_ai.response.id": reading.response_id,
        "gen_ai.response.finish_reasons": [reading.finish] if reading.finish else None,
        "gen_ai.usage.input_tokens": _input(usage),
        "gen_ai.usage.output_tokens": usage.output,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read,
        "gen_ai.usage.cache_creation.input_tokens": sum(writes) if writes else None,
        "gen_ai.usage.reasoning.output_tokens": usage.reasoning,
        "gen_ai.agent.id": call.start.agent_id,
        "http.response.status_code": call.end.status,
        "agentbench.call.number": call.number,
        "agentbench.cost.usd": None if call.charge.unpriced else dollars(call.charge.cost),
        "agentbench.cost.availability": call.charge.availability.value,
    }
    return {name: value for name, value in details.items() if value is not None}


def _input(usage: Usage) -> int | None:
    """All input tokens, cached ones among them; None if the uncached part is not known."""
    if usage.input_uncached is None:
        return None
    cached = (usage.cache_read, usage.cache_write_5m, usage.cache_write_1h)
    return usage.input_uncached + sum(count or 0 for count in cached)


def _error(end: CallEnd) -> str | None:
    if end.failure is None:
        return None
    return end.reading.error or (str(end.status) if end.status else end.failure.value)
