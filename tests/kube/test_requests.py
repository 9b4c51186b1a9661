"""Every request to the API server is told of once, with the class of its answer."""

from __future__ import annotations

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from kubernetes.aio import client

from agentbench.kube.cluster import Cluster
from agentbench.kube.errors import Missing, Retry, Taken


def answering(status: int, reason: str = "") -> web.Application:
    """A server that answers everything with one status."""

    async def answer(_: web.Request) -> web.Response:
        body = {"reason": reason, "message": "said", "items": [], "metadata": {}}
        return web.json_response(body, status=status)

    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", answer)
    return app


async def told_of(app: web.Application, error: type[Exception] | None) -> list[tuple[str, str]]:
    """What is told of a read and a write; `error` is what both raise."""
    told: list[tuple[str, str]] = []

    def hear(verb: str, code: str, seconds: float) -> None:
        assert 0 <= seconds < 30
        told.append((verb, code))

    async with TestServer(app) as server:
        settings = client.Configuration(host=str(server.make_url("")).rstrip("/"))
        settings.retries = None
        cluster = Cluster(client.ApiClient(settings), hear)
        if error is None:
            await cluster.get("Pod", "n", "p")
            await cluster.create({"kind": "Pod", "metadata": {"namespace": "n"}})
        else:
            with pytest.raises(error):
                await cluster.get("Pod", "n", "p")
            with pytest.raises(error):
                await cluster.create({"kind": "Pod", "metadata": {"namespace": "n"}})
        await cluster.close()
    return told


@pytest.mark.parametrize(
    ("status", "reason", "error", "code"),
    [
        (200, "", None, "2xx"),
        (404, "", Missing, "4xx"),
        (409, "AlreadyExists", Taken, "4xx"),
        (503, "", Retry, "5xx"),
    ],
)
async def test_the_class_of_an_answer_is_told(
    status: int, reason: str, error: type[Exception] | None, code: str
) -> None:
    told = await told_of(answering(status, reason), error)
    assert told == [("get", code), ("post", code)]


async def test_a_server_that_is_not_there_is_told_as_no_answer() -> None:
    told: list[tuple[str, str]] = []
    settings = client.Configuration(host="http://127.0.0.1:1")
    cluster = Cluster(client.ApiClient(settings), lambda verb, code, _: told.append((verb, code)))
    with pytest.raises(Retry):
        await cluster.get("Pod", "n", "p")
    await cluster.close()
    assert told == [("get", "none")]
