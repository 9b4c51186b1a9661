"""A real Prometheus that scrapes the operator's real metrics, fed with rows and ticks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry, ProcessCollector, start_http_server
from tests.cluster.lab.prometheus import Prometheus
from tests.cluster.lab.shell import wait
from tests.monitoring.feed import Feed
from tests.monitoring.prometheus import find_programs, prometheus

from agentbench.app.metrics import Metrics


@pytest.fixture(scope="session")
def programs() -> dict[str, Path]:
    """Prometheus and promtool."""
    return find_programs()


@pytest.fixture(scope="module")
def scraped(
    programs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Prometheus]:
    """Prometheus, after it has seen a campaign start, go on and meet trouble."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    feed = Feed(Metrics(registry))
    server, thread = start_http_server(0, addr="127.0.0.1", registry=registry)
    target = f"127.0.0.1:{server.server_port}"
    try:
        with prometheus(programs, tmp_path_factory.mktemp("prometheus"), target) as one:
            feed.go_on()
            wait("what came later", lambda: bool(one.query("agentbench_runs_done == 9")), 30)
            wait("ten scrapes", lambda: _samples(one) >= 10, 30)
            yield one
    finally:
        server.shutdown()
        thread.join(5)
        server.server_close()


def _samples(one: Prometheus) -> float:
    found = one.query("count_over_time(agentbench_build_info[5m])")
    return float(found[0]["value"][1]) if found else 0.0
