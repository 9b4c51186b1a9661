"""Suspend, resume and cancel write one field, once, and say what that means."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.cluster_objects import CAMPAIGNS, a_campaign
from tests.fakes.kube_server import KubeServer, kube_server

from agentbench.cli.cluster import steering
from agentbench.cli.cluster.connection import Connection, connect
from agentbench.cli.cluster.errors import BadCluster
from agentbench.cli.screen import Screen

TINY = f"{CAMPAIGNS}/tiny"


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[tuple[KubeServer, Connection]]:
    with kube_server(tmp_path) as (server, config):
        server.on("PATCH", TINY, lambda _q, body: (200, body))
        yield server, connect(config, None, None)


def written(server: KubeServer) -> list[Any]:
    return [body for method, _, body in server.asked if method == "PATCH"]


def campaign(spec: dict[str, Any] | None = None, phase: str = "Running", **counts: int) -> Any:
    found = a_campaign(phase, name="tiny", stalled="", **counts)
    found["spec"] |= spec or {}
    return 200, found


def test_a_suspend_lets_live_runs_end(lab: tuple[KubeServer, Connection]) -> None:
    server, connection = lab
    server.on("GET", TINY, campaign(live=1))
    said = steering.suspend(connection, "tiny")
    assert said.said == "tiny starts no more runs; 1 live run still to end and be recorded."
    assert written(server) == [{"spec": {"suspend": True}}]


def test_a_second_suspend_writes_nothing(lab: tuple[KubeServer, Connection]) -> None:
    server, connection = lab
    server.on("GET", TINY, campaign({"suspend": True}, "Suspended"))
    assert not steering.suspend(connection, "tiny").changed
    assert written(server) == []


def test_a_resume_says_how_many_runs_are_left(lab: tuple[KubeServer, Connection]) -> None:
    server, connection = lab
    server.on("GET", TINY, campaign({"suspend": True}, "Suspended", done=1))
    assert steering.resume(connection, "tiny").said == "tiny goes on: 1 run to go."
    assert written(server) == [{"spec": {"suspend": False}}]


def test_what_is_over_is_not_steered_any_more(lab: tuple[KubeServer, Connection]) -> None:
    server, connection = lab
    server.on("GET", TINY, campaign({}, "Complete", done=2))
    with pytest.raises(BadCluster, match="is Complete: it cannot be resumed any more"):
        steering.resume(connection, "tiny")
    server.on("GET", TINY, campaign({"cancel": True}, "Cancelling", live=1))
    with pytest.raises(BadCluster, match="is Cancelled: it cannot be suspended"):
        steering.suspend(connection, "tiny")
    assert written(server) == []


def test_a_cancel_says_what_it_costs(lab: tuple[KubeServer, Connection]) -> None:
    server, connection = lab
    server.on("GET", TINY, campaign(live=1))
    said = steering.cancel(connection, "tiny", sure=True, screen=Screen()).said
    assert "1 live run ends now and is recorded as aborted" in said
    assert "at most $2.00" in said
    assert "0 recorded runs and $0.50 spent stay as they are; 1 run will never start" in said
    assert written(server) == [{"spec": {"cancel": True}}]
