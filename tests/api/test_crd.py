"""The committed CRDs: what the models say, structural, bounded, and what a cluster takes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
import yaml
from kubernetes.client import V1CustomResourceDefinition
from pydantic import BaseModel, Field

from agentbench.api.campaign import CampaignStatus
from agentbench.api.schema import NotStructural, campaign_crd, crd_files, run_crd, structural

CRDS = Path(__file__).parents[2] / "crds"
BOTH = pytest.mark.parametrize("crd", [campaign_crd(), run_crd()], ids=["campaign", "run"])


def test_the_committed_files_are_what_the_models_give() -> None:
    committed = {path.name: path.read_text() for path in CRDS.glob("*.yaml")}
    assert committed == crd_files(), "run: agent-bench crd --out crds"


@BOTH
def test_the_official_client_takes_it(crd: dict[str, Any]) -> None:
    V1CustomResourceDefinition.model_validate(crd)


def schema_of(crd: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return found


def nodes(node: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    yield path, node
    for name, child in node.get("properties", {}).items():
        yield from nodes(child, f"{path}.{name}")
    if "items" in node:
        yield from nodes(node["items"], f"{path}[]")
    if "additionalProperties" in node:
        yield from nodes(node["additionalProperties"], f"{path}{{}}")


FORBIDDEN = {"$ref", "$defs", "anyOf", "oneOf", "allOf", "const", "default", "title", "uniqueItems"}
FREE = {".apiVersion", ".kind", ".metadata"}


@BOTH
def test_every_place_is_structural_and_bounded(crd: dict[str, Any]) -> None:
    for path, node in nodes(schema_of(crd)):
        assert "type" in node, path
        unseen = {"default"} if path == ".status" else set()
        assert not FORBIDDEN & node.keys() - unseen, path
        if path in FREE:
            continue
        kind = node["type"]
        if kind == "string":
            assert "enum" in node or "maxLength" in node, path
        if kind == "array":
            assert "maxItems" in node, path
        if kind == "object":
            assert (
                "properties" in node or {"maxProperties", "additionalProperties"} <= node.keys()
            ), path
            assert not {"properties", "additionalProperties"} <= node.keys(), path
        for required in node.get("required", ()):
            assert required in node["properties"], path


def test_a_campaign_that_nobody_has_looked_at_is_of_no_generation() -> None:
    status = schema_of(campaign_crd())["properties"]["status"]
    assert status["default"] == {"observedGeneration": -1}
    assert CampaignStatus.model_validate(status["default"]).observed_generation == -1


@BOTH
def test_every_field_says_what_it_means(crd: dict[str, Any]) -> None:
    for path, node in nodes(schema_of(crd)):
        if path and path not in FREE and not path.endswith(("[]", "{}", ".name")):
            assert node.get("description"), path


@BOTH
def test_conditions_are_a_map_by_type(crd: dict[str, Any]) -> None:
    conditions = schema_of(crd)["properties"]["status"]["properties"]["conditions"]
    assert conditions["x-kubernetes-list-type"] == "map"
    assert conditions["x-kubernetes-list-map-keys"] == ["type"]
    assert "type" in conditions["items"]["required"]


@BOTH
def test_status_is_a_subresource_and_columns_lead_to_fields(crd: dict[str, Any]) -> None:
    version = crd["spec"]["versions"][0]
    assert version["subresources"] == {"status": {}}
    schema = schema_of(crd)
    for column in version["additionalPrinterColumns"]:
        node = schema
        steps = column["jsonPath"].removeprefix(".").replace("[-1:]", ".[]").split(".")
        if steps[0] == "metadata":
            continue
        for step in steps:
            node = node["items"] if step == "[]" else node["properties"][step]
        assert node["type"] == column["type"], column


COLUMNS = {
    "bc": ["Phase", "Done", "Total", "Live", "Pass", "Infra", "Spent", "Verdict", "Age"],
    "br": ["Task", "Stack", "Agent", "Attempt", "Phase", "Outcome", "Cause", "Cost", "Age"],
}


def test_the_columns_are_those_of_the_design() -> None:
    def names(crd: dict[str, Any]) -> list[str]:
        columns = crd["spec"]["versions"][0]["additionalPrinterColumns"]
        return [column["name"] for column in columns if not column.get("priority")]

    assert names(campaign_crd()) == COLUMNS["bc"]
    assert names(run_crd()) == COLUMNS["br"]


@BOTH
def test_a_rule_names_a_field_of_its_place(crd: dict[str, Any]) -> None:
    for path, node in nodes(schema_of(crd)):
        for rule in node.get("x-kubernetes-validations", ()):
            inner = node
            for step in rule.get("fieldPath", "").split(".")[1:]:
                assert step in inner["properties"], (path, rule["fieldPath"])
                inner = inner["properties"][step]
            assert len(rule["message"]) < 2048


def test_the_crds_stay_small_enough_for_client_side_apply() -> None:
    for name, text in crd_files().items():
        assert yaml.safe_load(text)["kind"] == "CustomResourceDefinition"
        assert len(text) < 200_000, name


class _Unbounded(BaseModel):
    text: str


class _Union(BaseModel):
    value: int | Literal["all"]


class _Free(BaseModel):
    map: dict[str, int] = Field(default_factory=dict)


@pytest.mark.parametrize(
    ("model", "said"),
    [(_Unbounded, "text: a string needs"), (_Union, "value: a union"), (_Free, "map: a map needs")],
)
def test_a_model_that_is_not_structural_is_refused(model: type[BaseModel], said: str) -> None:
    with pytest.raises(NotStructural, match=said):
        structural(model)
