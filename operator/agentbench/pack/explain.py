"""What a model refuses, said so that a person can mend it."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError

from agentbench.api.schema import structural
from agentbench.pack.problems import Loc, Problem, nearest, shown
from agentbench.pack.source import Source

_CURES: tuple[tuple[str, str], ...] = (
    (r"^[0-9]{1,9}(\.", 'Write US dollars in quotes with at most two decimals, as in "0.25".'),
    (r"^([0-9]{1,6}h)", "Write a length of time with its units, as in 45m or 1h30m."),
    (r"^sha256:", "Write sha256: and 64 hex digits; agent-bench freeze fills it in."),
    (
        r"^[^\s@]+@sha256:",
        "Pin the image by digest, as in registry/name@sha256:...: a tag can be moved.",
    ),
    (
        r"^[A-Za-z0-9]([A-Za-z0-9._-]*",
        "Use letters, digits, dots, dashes and underscores, with a letter or digit at both ends.",
    ),
    (r"^[a-z0-9]([a-z0-9-]*", "Use lower-case letters, digits and dashes."),
    (r"^[^/\x00", "Write a path relative to the pack's folder, with forward slashes."),
    (r"^\d{4}-\d{2}-\d{2}$", "Write a day as YYYY-MM-DD."),
    (r"^\d{4}-\d{2}-\d{2}T", "Write an instant in UTC, as in 2026-10-14T08:00:00Z."),
    (r"^-?[0-9]+(\.[0-9]{1,6})", 'Write a decimal number in quotes, as in "0.95".'),
    (r"^https?://", "Write an address that begins with http:// or https://."),
    (r"^/", "Write a path that begins with a slash."),
    (r"^[A-Za-z_]", "Use letters, digits and underscores, and do not begin with a digit."),
    (r"^[A-Za-z0-9.-]+(:", "Write a host name alone, with a port where it is not 443."),
    (r"^[0-9a-f]{7,64}$", "Write the commit as 7 to 64 hex digits."),
    (r"^[0-9]+(\.[0-9]+)?(m|k", "Write a quantity as Kubernetes does, as in 500m, 2 or 4Gi."),
)


def explain(error: ValidationError, model: type[BaseModel], source: Source) -> list[Problem]:
    """One problem for every refusal, in the order of the file."""
    details = error.errors(include_url=False)
    found = [
        _problem(detail, model, source) for detail in details if not _echo(detail, details, model)
    ]
    return sorted(found, key=lambda problem: problem.line or 0)


def _echo(detail: Any, details: Sequence[Any], model: type[BaseModel]) -> bool:
    """Whether a refusal only follows from another one: the misspelt field, the bad entry."""
    loc = detail["loc"]
    if detail["type"] == "too_short":
        return any(other["loc"][: len(loc)] == loc and other is not detail for other in details)
    if detail["type"] == "missing":
        known = _node(model, loc[:-1]).get("properties", {})
        return any(
            other["type"] == "extra_forbidden"
            and other["loc"][:-1] == loc[:-1]
            and nearest(str(other["loc"][-1]), known) == loc[-1]
            for other in details
        )
    return False


@cache
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    return structural(model)


def _node(model: type[BaseModel], loc: Loc) -> Mapping[str, Any]:
    """The schema of a place, empty where the schema does not reach."""
    node: Any = _schema(model)
    for step in loc:
        if isinstance(step, int):
            node = node.get("items", {})
        else:
            inner = node.get("properties", {}).get(step)
            node = inner if inner is not None else node.get("additionalProperties", {})
    return node if isinstance(node, Mapping) else {}


def _problem(detail: Any, model: type[BaseModel], source: Source) -> Problem:
    loc: Loc = tuple(step for step in detail["loc"] if step != "[key]")
    if loc == ("metadata",):
        loc = ("metadata", "name")  # the one field of it that we judge
    kind: str = detail["type"]
    context: Mapping[str, Any] = detail.get("ctx", {})
    about = _node(model, loc)
    described = str(about.get("description", "")).split(". Default")[0].removesuffix(".")
    meaning = f"{described}." if described else "See docs/api.md."
    raw = source.written.get(loc)
    value = shown(detail["input"]) if isinstance(detail["input"], str) else raw or ""
    message, cure = _say(kind, context, detail, model, loc, meaning, raw)
    return source.problem(loc, message, cure, value="" if kind in _NO_VALUE else value)


_NO_VALUE = frozenset({"missing", "extra_forbidden"})


def _say(
    kind: str,
    context: Mapping[str, Any],
    detail: Any,
    model: type[BaseModel],
    loc: Loc,
    meaning: str,
    raw: str | None,
) -> tuple[str, str]:
    match kind:
        case "extra_forbidden":
            return "unknown field", _cure_unknown(str(loc[-1]), _node(model, loc[:-1]))
        case "missing":
            return "is missing", f"Add it: {meaning[:1].lower()}{meaning[1:]}"
        case "string_type":
            text = f'"{raw}"' if raw is not None else "in quotes"
            return "must be text", f"Write it in quotes, as {text}."
        case "string_pattern_mismatch":
            return _mismatch(context["pattern"], detail["input"], loc)
        case "string_too_long":
            at_most = context["max_length"]
            return (
                f"has {len(detail['input'])} characters, and at most {at_most} fit",
                _cure_long(loc),
            )
        case "string_too_short":
            return "is too short", f"Write it out: {meaning[:1].lower()}{meaning[1:]}"
        case "enum" | "literal_error":
            return _wrong_word(context["expected"], detail["input"])
        case "value_error":
            said = str(context["error"])
            message, _, cure = said.partition("; ")
            return message, cure[:1].upper() + cure[1:] + "." if cure else "Mend the value."
        case "too_long":
            return f"has more than {context['max_length']} entries", "Shorten the list."
        case "too_short":
            return "has no entry", f"Add at least one: {meaning}"
        case "int_type" | "int_parsing" | "int_from_float":
            return "must be a whole number", "Write digits alone, without quotes."
        case "bool_type" | "bool_parsing":
            return "must be true or false", "Write true or false, without quotes."
        case "greater_than_equal":
            return f"must be at least {context['ge']}", meaning
        case "less_than_equal":
            return f"must be at most {context['le']}", meaning
        case "tuple_type" | "list_type":
            return "must be a list", "Begin each entry on a line of its own with a dash."
        case "model_type" | "dict_type" | "model_attributes_type":
            fields = ", ".join(_node(model, loc).get("properties", {}))
            return "must hold fields", f"Write them below it: {fields}." if fields else meaning
    return str(detail["msg"]), meaning


def _mismatch(pattern: str, value: object, loc: Loc) -> tuple[str, str]:
    cure = next((text for start, text in _CURES if pattern.startswith(start)), "")
    text = str(value)
    if pattern.startswith("^[0-9]{1,9}") and text.startswith("-"):
        return "an amount cannot be negative", cure
    if pattern.startswith("^[0-9]{1,9}") and re.fullmatch(r"\d+\.\d{3,}", text):
        return "an amount has at most two decimals", cure
    if pattern.startswith("^([0-9]{1,6}h)") and text.startswith("-"):
        return "a length of time cannot be negative", cure
    if pattern.startswith("^[^/") and text.startswith("/"):
        return "a path must stay inside the pack", cure
    return "is not written as it must be", cure or f"It must match {pattern}."


def _cure_unknown(name: str, parent: Mapping[str, Any]) -> str:
    known = parent.get("properties", {})
    meant = nearest(name, known)
    if meant:
        return f"Did you mean {meant}?"
    return f"Remove it. Known here: {', '.join(known)}." if known else "Remove it."


def _cure_long(loc: Loc) -> str:
    if loc and loc[-1] == "id":
        return "Shorten it: three ids joined make a run id, which must fit a Kubernetes label."
    return "Shorten it."


def _wrong_word(expected: str, value: object) -> tuple[str, str]:
    words = re.findall(r"'([^']*)'", expected)
    meant = nearest(str(value), words)
    hint = f"Did you mean {meant}? " if meant else ""
    return "is no known word", f"{hint}Write one of: {', '.join(words)}."
