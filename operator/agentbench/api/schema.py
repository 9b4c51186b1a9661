"""Custom resource definitions, made from the models.

A CRD wants a structural schema: no references, no unions, one type per place, every list, map
and string bounded (an API server prices each CEL rule by those bounds). What pydantic writes is
translated here; what cannot be said structurally is refused, never dropped.
"""

from collections.abc import Mapping
from typing import Any

import yaml
from pydantic import BaseModel

from agentbench.api.base import API_GROUP, API_VERSION
from agentbench.api.campaign import CAMPAIGN_NAME, CAMPAIGN_NAME_LENGTH, BenchmarkCampaign
from agentbench.api.cel import CAMPAIGN_RULES, RUN_RULES, Place, Rule
from agentbench.api.run import BenchmarkRun

Schema = dict[str, Any]

_DROPPED = frozenset({"title", "default", "additionalProperties", "propertyNames"})
_KEPT = frozenset(
    {
        "description",
        "enum",
        "format",
        "maxItems",
        "maxLength",
        "maximum",
        "minItems",
        "minLength",
        "minimum",
        "pattern",
        "required",
        "type",
        "x-kubernetes-list-map-keys",
        "x-kubernetes-list-type",
    }
)


class NotStructural(ValueError):
    """A model says something that a structural schema cannot; the message names the place."""


def structural(model: type[BaseModel]) -> Schema:
    """The structural schema of a model: references inlined, everything bounded.

    Raises:
        NotStructural: a place of the model has no structural form, or has no bound.
    """
    raw = model.model_json_schema(by_alias=True)
    return _inline(raw, raw.get("$defs", {}), ())


def _inline(node: Mapping[str, Any], defs: Mapping[str, Any], place: Place) -> Schema:
    node = _resolve(node, defs, place)
    out: Schema = {}
    for key, value in node.items():
        if key == "properties":
            out[key] = {n: _inline(child, defs, (*place, n)) for n, child in value.items()}
        elif key == "items":
            out[key] = _inline(value, defs, (*place, "[]"))
        elif key == "const":
            out["enum"] = [value]
        elif key == "patternProperties":
            (child,) = value.values()
            out["additionalProperties"] = _inline(child, defs, (*place, "{}"))
        elif key == "maxProperties" or key in _KEPT:
            out[key] = value
        elif key not in _DROPPED and key != "$defs":
            raise NotStructural(f"{'.'.join(place) or 'the root'}: {key} has no structural form")
    values = node.get("additionalProperties")
    if isinstance(values, Mapping) and values:
        out["additionalProperties"] = _inline(values, defs, (*place, "{}"))
    if out.get("minLength") == 0:
        del out["minLength"]
    if "default" in node:
        out["description"] = _with_default(out.get("description", ""), node["default"])
    _bounded(out, place)
    return out


def _resolve(node: Mapping[str, Any], defs: Mapping[str, Any], place: Place) -> dict[str, Any]:
    """Follow a reference and drop "or null": an absent field is how a resource says none."""
    out = dict(node)
    if options := out.pop("anyOf", None):
        kinds = [option for option in options if option.get("type") != "null"]
        if len(kinds) != 1:
            raise NotStructural(f"{'.'.join(place)}: a union has no structural form")
        out = {**kinds[0], **out}
    if reference := out.pop("$ref", None):
        target = defs[reference.removeprefix("#/$defs/")]
        out = {**_resolve(target, defs, place), **out}
    return out


def _with_default(description: str, default: Any) -> str:
    if default is None or default == "" or default == [] or default == {}:
        return description
    if isinstance(default, dict):
        return description
    shown = str(default).lower() if isinstance(default, bool) else default
    if isinstance(default, list):
        shown = ", ".join(str(part) for part in default)
    return f"{description} Default: {shown}."


def _bounded(node: Schema, place: Place) -> None:
    where = ".".join(place)
    kind = node.get("type")
    if kind == "string" and "enum" not in node and "maxLength" not in node:
        raise NotStructural(f"{where}: a string needs max_length")
    if kind == "array" and "maxItems" not in node:
        raise NotStructural(f"{where}: a list needs max_length")
    if kind == "object" and "properties" not in node:
        if place == ("metadata",):
            return
        if "maxProperties" not in node or "additionalProperties" not in node:
            raise NotStructural(f"{where}: a map needs max_length and a type for its values")


def _at(schema: Schema, place: Place) -> Schema:
    for step in place:
        schema = schema["items"] if step == "[]" else schema["properties"][step]
    return schema


def _resource_schema(model: type[BaseModel], rules: Mapping[Place, tuple[Rule, ...]]) -> Schema:
    schema = structural(model)
    schema["properties"]["apiVersion"] = {"type": "string"}
    schema["properties"]["kind"] = {"type": "string"}
    schema["properties"]["metadata"] = {"type": "object"}
    for place, entries in rules.items():
        _at(schema, place)["x-kubernetes-validations"] = [rule.manifest() for rule in entries]
    return schema


def _column(name: str, path: str, kind: str = "string", priority: int = 0) -> Schema:
    column: Schema = {"name": name, "type": kind, "jsonPath": path}
    return {**column, "priority": priority} if priority else column


_AGE = _column("Age", ".metadata.creationTimestamp", "date")

_CAMPAIGN_COLUMNS = [
    _column("Phase", ".status.phase"),
    _column("Done", ".status.counts.done", "integer"),
    _column("Total", ".status.counts.total", "integer"),
    _column("Live", ".status.counts.live", "integer"),
    _column("Pass", ".status.counts.passed", "integer"),
    _column("Infra", ".status.counts.infra", "integer"),
    _column("Spent", ".status.spend.spentUSD"),
    _column("Verdict", ".status.verdict.headline"),
    _AGE,
    _column("Protocol", ".spec.protocol.id", priority=1),
    _column("Digest", ".spec.protocol.freeze.digest", priority=1),
]

_RUN_COLUMNS = [
    _column("Task", ".spec.cell.task"),
    _column("Stack", ".spec.cell.stack"),
    _column("Agent", ".spec.cell.agent"),
    _column("Attempt", ".status.attempts[-1:].number", "integer"),
    _column("Phase", ".status.phase"),
    _column("Outcome", ".status.attempts[-1:].outcome"),
    _column("Cause", ".status.attempts[-1:].cause"),
    _column("Cost", ".status.attempts[-1:].costUSD"),
    _AGE,
    _column("Repeat", ".spec.repeat", "integer", priority=1),
    _column("Reason", ".status.attempts[-1:].reason", priority=1),
]


def _definition(
    kind: str, plural: str, short: str, schema: Schema, columns: list[Schema]
) -> Schema:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{API_GROUP}"},
        "spec": {
            "group": API_GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": kind,
                "listKind": f"{kind}List",
                "plural": plural,
                "singular": kind.lower(),
                "shortNames": [short],
                "categories": ["agentbench"],
            },
            "versions": [
                {
                    "name": API_VERSION,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": columns,
                    "schema": {"openAPIV3Schema": schema},
                }
            ],
        },
    }


def campaign_crd() -> Schema:
    """The CustomResourceDefinition of BenchmarkCampaign."""
    schema = _resource_schema(BenchmarkCampaign, CAMPAIGN_RULES)
    schema["properties"]["metadata"]["properties"] = {
        "name": {
            "type": "string",
            "maxLength": CAMPAIGN_NAME_LENGTH,
            "pattern": f"^{CAMPAIGN_NAME.pattern}$",
        }
    }
    # Until the operator has looked, GitOps tools must not take a campaign for ready: no generation
    # is -1. It is the only default of the schema, and no part of what people apply.
    schema["properties"]["status"]["default"] = {"observedGeneration": -1}
    return _definition("BenchmarkCampaign", "benchmarkcampaigns", "bc", schema, _CAMPAIGN_COLUMNS)


def run_crd() -> Schema:
    """The CustomResourceDefinition of BenchmarkRun."""
    schema = _resource_schema(BenchmarkRun, RUN_RULES)
    return _definition("BenchmarkRun", "benchmarkruns", "br", schema, _RUN_COLUMNS)


class _Plain(yaml.SafeDumper):
    """Writes every value out: an alias would hide what a reader of the file looks for."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def crd_files() -> dict[str, str]:
    """Name and text of every file in `crds/`."""
    return {
        f"{crd['spec']['names']['plural']}.yaml": yaml.dump(
            crd, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=100
        )
        for crd in (campaign_crd(), run_crd())
    }
