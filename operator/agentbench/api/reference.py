"""The reference of both custom resources, as Markdown made from the models."""

from collections.abc import Iterator
from typing import Any

from agentbench.api.schema import Schema, campaign_crd, run_crd

_HEAD = """\
# Custom resources: every field

`agentbench.dev/v1alpha1`. A pack's `campaign.yaml` is a BenchmarkCampaign. This page is made from
the models by `python -m agentbench.api.reference`; `kubectl explain` says the same.

A field with * must be there. "Frozen" fields can never change once the campaign has a freeze.
"""


def reference() -> str:
    """The text of `docs/api.md`."""
    return "\n".join([_HEAD, *_resource(campaign_crd()), *_resource(run_crd())])


def _resource(crd: Schema) -> Iterator[str]:
    names = crd["spec"]["names"]
    schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    yield f"## {names['kind']}\n"
    yield f"Short name `{names['shortNames'][0]}`. {schema['description']}\n"
    for part in ("spec", "status"):
        yield from _part(part, schema["properties"][part])


def _part(path: str, node: Schema) -> Iterator[str]:
    """A table of a node's fields, then one for each field that has fields of its own."""
    yield f"### `{path}`\n"
    if node.get("description"):
        yield f"{node['description']}\n"
    yield "| field | type | meaning |"
    yield "|---|---|---|"
    inner: list[tuple[str, Schema]] = []
    for name, child in node["properties"].items():
        star = "*" if name in node.get("required", ()) else ""
        kind, below = _type(child)
        if below is not None:
            inner.append((f"{path}.{name}{_steps(child)}", below))
        yield f"| `{name}`{star} | {kind} | {child.get('description', '')} |"
    yield ""
    rules = node.get("x-kubernetes-validations", ())
    general = [rule["message"] for rule in rules if "of a frozen campaign" not in rule["message"]]
    if general:
        yield "Rules:\n"
        yield from (f"- {message}" for message in general)
        yield ""
    for name, below in inner:
        yield from _part(name, below)


def _steps(node: Schema) -> str:
    kind = node.get("type")
    if kind == "array":
        return "[]" + _steps(node["items"])
    if kind == "object" and "additionalProperties" in node:
        return ".KEY" + _steps(node["additionalProperties"])
    return ""


def _type(node: Schema) -> tuple[str, Schema | None]:
    """A type in words, and the node whose fields need a table of their own."""
    if "enum" in node:
        return " or ".join(f"`{word}`" for word in node["enum"] if word != ""), None
    match node["type"]:
        case "array":
            kind, below = _type(node["items"])
            return f"list of {kind}, at most {node['maxItems']}", below
        case "object" if "additionalProperties" in node:
            kind, below = _type(node["additionalProperties"])
            return f"map to {kind}, at most {node['maxProperties']}", below
        case "object":
            return "object", node
        case "integer":
            return f"integer{_range(node)}", None
        case "string":
            return f"string, at most {node['maxLength']} characters", None
    return str(node["type"]), None


def _range(node: dict[str, Any]) -> str:
    if "minimum" in node and "maximum" in node:
        return f", {node['minimum']} to {node['maximum']}"
    return f", from {node['minimum']}" if "minimum" in node else ""


if __name__ == "__main__":
    print(reference(), end="")
