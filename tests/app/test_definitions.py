"""Definitions older than the operator are told by the fields that they lack."""

import asyncio
import copy
from collections.abc import Iterator
from typing import Any

import pytest

from agentbench.api.schema import campaign_crd, run_crd
from agentbench.app.definitions import Definitions, lacks
from agentbench.kube.errors import ClusterError, Denied, Retry

NAMES = ("benchmarkcampaigns.agentbench.dev", "benchmarkruns.agentbench.dev")


class Server:
    """An API server with definitions, of which a test takes parts away."""

    def __init__(self) -> None:
        self.crds = dict(zip(NAMES, (campaign_crd(), run_crd()), strict=True))
        self.error: ClusterError | None = None
        self.asked = 0

    async def get(self, kind: str, namespace: str, name: str) -> dict[str, Any]:
        self.asked += 1
        if self.error is not None:
            raise self.error
        return self.crds[name]


def schemas(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every place with properties in a schema."""
    if "properties" in schema:
        yield path, schema["properties"]
        for name, inner in schema["properties"].items():
            yield from schemas(inner, f"{path}.{name}")
    for kind in ("items", "additionalProperties"):
        if isinstance(schema.get(kind), dict):
            yield from schemas(schema[kind], f"{path}[]")


def test_every_field_that_is_missing_is_found_wherever_it_is() -> None:
    whole = campaign_crd()
    root = whole["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    for path, properties in schemas(root):
        for name in properties:
            old = copy.deepcopy(whole)
            there = old["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
            (found,) = [each for at, each in schemas(there) if at == path]
            del found[name]
            assert lacks(old, whole) == [f"{path}.{name}"]


def test_a_field_that_only_the_cluster_knows_is_no_lack() -> None:
    newer = campaign_crd()
    spec = newer["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["properties"]["later"] = {"type": "string"}
    assert lacks(newer, campaign_crd()) == []


def test_another_version_is_a_lack() -> None:
    old = campaign_crd()
    old["spec"]["versions"][0]["name"] = "v1alpha0"
    assert lacks(old, campaign_crd()) == ["version v1alpha1"]


def test_the_problem_names_field_and_cure_until_the_definitions_are_new_enough() -> None:
    server = Server()
    spec = server.crds[NAMES[0]]["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    cancel = spec["spec"]["properties"].pop("cancel")
    definitions = Definitions(server)  # type: ignore[arg-type]
    said = asyncio.run(definitions.problem())
    assert "BenchmarkCampaign: .spec.cancel" in said
    assert "crds/" in said
    spec["spec"]["properties"]["cancel"] = cancel
    assert asyncio.run(definitions.problem()) == ""
    asked = server.asked
    assert asyncio.run(definitions.problem()) == ""
    assert server.asked == asked, "never asked again"


def test_an_operator_that_may_not_read_them_goes_on() -> None:
    server = Server()
    server.error = Denied("no verb")
    assert asyncio.run(Definitions(server).problem()) == ""  # type: ignore[arg-type]


def test_no_answer_is_waited_for() -> None:
    server = Server()
    server.error = Retry("no answer")
    with pytest.raises(Retry):
        asyncio.run(Definitions(server).problem())  # type: ignore[arg-type]
