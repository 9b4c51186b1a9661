import asyncio
import builtins
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.fakes.metering import CLAUDE, a_price_list, a_start, an_end

from agentbench.core.calls import CallEnd, Failure
from agentbench.pod.warden.meter import Meter
from agentbench.pod.warden.telemetry import Telemetry, TelemetryMissing, TelemetrySettings


@asynccontextmanager
async def a_collector() -> AsyncIterator[tuple[str, dict[str, list[bytes]]]]:
    got: dict[str, list[bytes]] = {}

    async def take(request: web.BaseRequest) -> web.Response:
        assert request.headers["x-team"] == "bench"
        got.setdefault(request.path, []).append(await request.read())
        return web.Response(content_type="application/x-protobuf")

    runner = web.ServerRunner(web.Server(take))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}", got
    finally:
        await runner.cleanup()


def attributes(pairs: Sequence[Any]) -> Mapping[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}


async def test_calls_are_exported_as_spans_and_metrics_of_the_genai_conventions() -> None:
    async with a_collector() as (url, got):
        settings = TelemetrySettings(
            endpoint=url, run="AB-T03-S2-A1-r4", agent="claude-code", headers={"x-team": "bench"}
        )
        telemetry = Telemetry(settings)
        meter = Meter(prices=a_price_list(), observers=[telemetry])
        async with meter.call(a_start()) as slot:
            slot.settle(an_end("0.01"))
        async with meter.call(a_start()) as slot:
            slot.settle(CallEnd(status=529, failure=Failure.STATUS, duration=0.5))
        telemetry.tool_finished("Bash", 0.25)
        await asyncio.to_thread(telemetry.close)

    traces = ExportTraceServiceRequest()
    for body in got["/v1/traces"]:
        traces.MergeFromString(body)
    spans = {
        span.name + ("!" if "error.type" in attributes(span.attributes) else ""): span
        for resource in traces.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    }
    assert set(spans) == {
        "invoke_agent claude-code",
        f"chat {CLAUDE}",
        f"chat {CLAUDE}!",
        "execute_tool Bash",
    }
    root, chat = spans["invoke_agent claude-code"], spans[f"chat {CLAUDE}"]
    assert chat.parent_span_id == root.span_id
    said = attributes(chat.attributes)
    assert said["gen_ai.provider.name"] == "anthropic"
    assert said["gen_ai.usage.output_tokens"] == 1_000
    assert said["agentbench.cost.usd"] == "0.01"
    assert attributes(root.attributes)["agentbench.run.id"] == "AB-T03-S2-A1-r4"
    failed = spans[f"chat {CLAUDE}!"]
    assert attributes(failed.attributes)["error.type"] == "529"
    assert failed.end_time_unix_nano - failed.start_time_unix_nano == 500_000_000

    metrics = ExportMetricsServiceRequest()
    for body in got["/v1/metrics"]:
        metrics.MergeFromString(body)
    points = {
        metric.name: list(metric.histogram.data_points)
        for resource in metrics.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }
    tokens = {
        attributes(point.attributes)["gen_ai.token.type"]: point.sum
        for point in points["gen_ai.client.token.usage"]
    }
    assert tokens == {"input": 0, "output": 1_000}
    assert sum(point.count for point in points["gen_ai.client.operation.duration"]) == 2
    labels = {
        name for series in points.values() for p in series for name in attributes(p.attributes)
    }
    assert not any("run" in name for name in labels)


async def test_without_the_libraries_an_endpoint_is_an_error_with_its_cure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = builtins.__import__

    def absent(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("opentelemetry.exporter"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(TelemetryMissing, match=r"install agent-bench\[otel\]"):
        Telemetry(TelemetrySettings(endpoint="http://127.0.0.1:1", run="r", agent="a"))


async def test_nothing_of_opentelemetry_is_imported_until_it_is_used() -> None:
    code = (
        "import sys, agentbench.pod.warden.proxy, agentbench.pod.warden.telemetry;"
        "sys.exit(any(name.startswith('opentelemetry') for name in sys.modules))"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code)
    assert await process.wait() == 0
