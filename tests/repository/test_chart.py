"""The chart installs what the models say, and its schema knows every value."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

ROOT = Path(__file__).parents[2]
CHART = ROOT / "charts/agent-bench"
SCHEMA: dict[str, Any] = json.loads((CHART / "values.schema.json").read_text())
VALUES: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text())


def test_the_charts_definitions_are_the_generated_ones() -> None:
    generated = {path.name: path.read_bytes() for path in (ROOT / "crds").glob("*.yaml")}
    shipped = {path.name: path.read_bytes() for path in (CHART / "files/crds").glob("*.yaml")}
    assert shipped == generated, "cp crds/*.yaml charts/agent-bench/files/crds/"


def unknown(values: dict[str, Any], schema: dict[str, Any], place: str = "") -> Iterator[str]:
    """Values that the schema does not name; maps that people fill are not looked into."""
    known = schema.get("properties", {})
    for name, value in values.items():
        where = f"{place}.{name}".removeprefix(".")
        if name not in known:
            yield where
        elif isinstance(value, dict) and "properties" in known[name]:
            yield from unknown(value, known[name], where)


def unset(schema: dict[str, Any], values: Any, place: str = "") -> Iterator[str]:
    """Values that the schema names and values.yaml gives no default."""
    for name, child in schema.get("properties", {}).items():
        where = f"{place}.{name}".removeprefix(".")
        if name not in values:
            yield where
        elif isinstance(values[name], dict):
            yield from unset(child, values[name], where)


def nodes(schema: dict[str, Any], place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every place of the schema, by the value's path."""
    for name, child in schema.get("properties", {}).items():
        where = f"{place}.{name}".removeprefix(".")
        yield where, child
        yield from nodes(child, where)
        yield from nodes(child.get("items", {}), f"{where}[]")


def test_the_schema_names_every_value_and_no_other() -> None:
    missing = list(unknown(VALUES, SCHEMA))
    assert not missing, f"in values.yaml and not in values.schema.json: {', '.join(missing)}"
    without = [name for name in unset(SCHEMA, VALUES) if name != "global"]
    assert not without, f"in values.schema.json and not in values.yaml: {', '.join(without)}"


def test_every_template_reads_only_values_that_there_are() -> None:
    known = {f".Values.{where}": "properties" in node for where, node in nodes(SCHEMA)}

    def there_is(name: str) -> bool:
        """A value that is named, or one in a map that people fill."""
        above = [name.rsplit(".", cut)[0] for cut in range(1, name.count("."))]
        return (
            name in known or known.get(next((each for each in above if each in known), "")) is False
        )

    read = {
        found
        for path in (CHART / "templates").rglob("*.*")
        for found in re.findall(r"\.Values(?:\.\w+)+", path.read_text())
    }
    strange = sorted(name for name in read if not there_is(name))
    assert not strange, f"templates read values that values.schema.json lacks: {strange}"


def test_every_value_is_described_and_no_other_is_taken() -> None:
    Draft7Validator.check_schema(SCHEMA)
    bare = [where for where, node in nodes(SCHEMA) if not node.get("description", "").strip()]
    assert not bare, f"values.schema.json says nothing about: {', '.join(bare)}"
    loose = [
        where
        for where, node in [("the root", SCHEMA), *nodes(SCHEMA)]
        if "properties" in node and node.get("additionalProperties") is not False
    ]
    assert not loose, f"values.schema.json takes unknown values in: {', '.join(loose)}"


def test_the_defaults_are_valid() -> None:
    assert [error.message for error in Draft7Validator(SCHEMA).iter_errors(VALUES)] == []


@pytest.mark.parametrize(
    ("wrong", "at"),
    [
        ({"gatewayy": {}}, ""),
        ({"operator": {"patience": {"imagepull": 5}}}, "operator.patience"),
        ({"operator": {"patience": {"quota": 0}}}, "operator.patience.quota"),
        ({"image": {"digest": "sha256:abc"}}, "image.digest"),
        ({"image": {"repository": "registry.test/operator@sha256:abc"}}, "image.repository"),
        ({"image": {"pullPolicy": "Sometimes"}}, "image.pullPolicy"),
        ({"gateway": {"port": "http"}}, "gateway.port"),
        ({"gateway": {"allowedPorts": []}}, "gateway.allowedPorts"),
        ({"gateway": {"allowedPorts": [70000]}}, "gateway.allowedPorts.0"),
        ({"gateway": {"egressCIDRs": ["everywhere"]}}, "gateway.egressCIDRs.0"),
        ({"imagePullSecrets": ["registry"]}, "imagePullSecrets.0"),
        ({"rbac": {"watchNamespaces": "bench"}}, "rbac.watchNamespaces"),
        ({"serviceImages": {"postgres": "postgres:18"}}, "serviceImages.postgres"),
        ({"fence": {"forbidden": "10.0.0.1"}}, "fence.forbidden"),
        ({"metrics": {"serviceMonitor": {"interval": 30}}}, "metrics.serviceMonitor.interval"),
    ],
)
def test_a_wrong_value_is_refused_where_it_stands(wrong: dict[str, Any], at: str) -> None:
    errors = list(Draft7Validator(SCHEMA).iter_errors(wrong))
    assert [".".join(map(str, error.absolute_path)) for error in errors] == [at]


def test_the_operators_verbs_are_pinned() -> None:
    text = (CHART / "templates/_helpers.tpl").read_text()
    block = text.split('define "agent-bench.rules" -}}')[1].split("{{- end -}}")[0]
    rules = {
        (group, resource): frozenset(rule["verbs"])
        for rule in yaml.safe_load(block)
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }
    assert rules == {
        ("agentbench.dev", "benchmarkcampaigns"): {"get", "list", "watch", "patch"},
        ("agentbench.dev", "benchmarkcampaigns/status"): {"patch"},
        ("agentbench.dev", "benchmarkruns/status"): {"patch"},
        ("agentbench.dev", "benchmarkruns"): {"get", "list", "watch", "create"},
        ("", "pods"): {"get", "list", "watch", "create", "delete"},
        ("", "secrets"): {"get", "create"},
        ("", "configmaps"): {"get", "create"},
        ("", "events"): {"create", "patch"},
        ("batch", "jobs"): {"get", "list", "watch", "create", "delete"},
        ("batch", "cronjobs"): {"get", "create", "update"},
        ("networking.k8s.io", "networkpolicies"): {"get", "create"},
    }
