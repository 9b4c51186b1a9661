"""What an API server does with the rules of a CRD: evaluate each where its place exists.

cel-python evaluates; this walks the generated schema, so a rule is tried exactly as it is
committed. A rule that names `oldSelf` runs only on an update where both sides have the place.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

import celpy
from celpy.adapter import json_to_cel
from celpy.evaluation import CELEvalError

from agentbench.api.schema import campaign_crd, run_crd

Schema = dict[str, Any]


@cache
def _program(source: str) -> celpy.Runner:
    environment = celpy.Environment()
    return environment.program(environment.compile(source))


def _schema(kind: str) -> Schema:
    crd = {"BenchmarkCampaign": campaign_crd, "BenchmarkRun": run_crd}[kind]()
    schema: Schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return schema


def _entries(schema: Schema, new: Any, old: Any) -> Iterator[tuple[dict[str, str], Any, Any]]:
    for entry in schema.get("x-kubernetes-validations", ()):
        if "oldSelf" not in entry["rule"] or old is not None:
            yield entry, new, old
    for name, child in schema.get("properties", {}).items():
        if isinstance(new, dict) and name in new:
            before = old.get(name) if isinstance(old, dict) else None
            yield from _entries(child, new[name], before)


def refusals(new: dict[str, Any], old: dict[str, Any] | None = None) -> list[str]:
    """Messages of the rules that refuse an object, or an update of `old` to `new`."""
    said = []
    for entry, now, before in _entries(_schema(new["kind"]), new, old):
        activation = {"self": json_to_cel(now)}
        if before is not None:
            activation["oldSelf"] = json_to_cel(before)
        try:
            holds = bool(_program(entry["rule"]).evaluate(activation))
        except CELEvalError:
            holds = False  # an API server refuses on an evaluation error too
        if not holds:
            said.append(entry["message"])
    return said
