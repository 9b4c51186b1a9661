"""An agent's settings against what its adapter knows."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from agentbench.agents.registry import ADAPTERS
from agentbench.agents.settings import Settings
from agentbench.api.factors import Agent
from agentbench.pack.load import Pack
from agentbench.pack.problems import Loc, Problem, nearest, shown

MANUAL = "docs/agents.md says what it may be."


def setting_problems(pack: Pack, n: int, agent: Agent) -> Iterator[Problem]:
    """Every setting of the pack's n-th agent that its adapter would refuse in a run."""
    adapter = ADAPTERS.get(agent.adapter)
    if adapter is None:
        return
    try:
        adapter.settings.model_validate(dict(agent.settings))
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            loc: Loc = ("spec", "agents", n, "settings", *detail["loc"])
            message, cure = _say(detail, adapter.settings, agent)
            value = shown(detail["input"]) if detail["type"] not in _NO_VALUE else ""
            yield pack.source.problem(loc, message, cure, value=value)


_NO_VALUE = ("missing", "extra_forbidden")


def _say(detail: Mapping[str, Any], model: type[Settings], agent: Agent) -> tuple[str, str]:
    context: Mapping[str, Any] = detail.get("ctx", {})
    known = {field.alias or name: field for name, field in model.model_fields.items()}
    name = str(detail["loc"][0])
    match detail["type"]:
        case "extra_forbidden":
            meant = nearest(name, known)
            listed = f"Known: {', '.join(sorted(known))}." if known else "It has none."
            hint = f"Did you mean {meant}? " if meant else ""
            return f"adapter {agent.adapter} has no such setting", hint + listed
        case "missing":
            return "is missing", f"Add it: {known[name].description or MANUAL}."
        case "literal_error":
            words = re.findall(r"'([^']*)'", context["expected"])
            return "is no known word", f"Write one of: {', '.join(words)}."
        case "int_parsing":
            return "must be a whole number", 'Write its digits in quotes, as in "4".'
        case "bool_parsing":
            return "must be true or false", 'Write "true" or "false", in quotes.'
        case "greater_than_equal":
            return f"must be at least {context['ge']}", "Raise it."
        case "less_than_equal":
            return f"must be at most {context['le']}", "Lower it."
        case "too_short":
            return "is empty", f"Write {known[name].description or 'at least one'}."
        case "string_type":
            return "must be text", "Write it in quotes."
        case "value_error":
            message, _, cure = str(context["error"]).partition("; ")
            return message, f"{cure[:1].upper()}{cure[1:]}." if cure else MANUAL
    return str(detail["msg"]), MANUAL
