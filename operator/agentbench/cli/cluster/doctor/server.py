"""The API server: its version, our definitions in it, the policy that guards adjudications."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from agentbench.api.schema import crd_files
from agentbench.cli.cluster.connection import Connection, Raw
from agentbench.cli.cluster.errors import BadCluster
from agentbench.cli.findings import Finding, Health
from agentbench.kube.errors import Denied
from agentbench.kube.names import GROUP

OLDEST = (1, 33)
_RENEW = "agent-bench crd | kubectl apply --server-side -f -"
_SHOWN = 3


def version(said: Mapping[str, Any]) -> Finding:
    """Whether the API server is new enough for native sidecars and our rules."""
    text = str(said.get("gitVersion", ""))
    numbers = re.match(r"v?(\d+)\.(\d+)", text)
    if numbers is None:
        return Finding(Health.WARN, "API server", f"says its version is {text!r}")
    if (int(numbers[1]), int(numbers[2])) < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        return Finding(
            Health.FAIL, "API server", f"{text} is older than {wanted}",
            f"Upgrade the cluster to {wanted} or newer.",
        )  # fmt: skip
    return Finding(Health.OK, "API server", text)


def definitions(connection: Connection) -> Iterator[Finding]:
    """Whether our definitions are there, and say what this version's do."""
    for text in crd_files().values():
        wanted = yaml.safe_load(text)
        name = wanted["metadata"]["name"]
        try:
            found = connection.find("customresourcedefinitions", name)
        except Denied:
            yield _known(connection, name)
            continue
        yield judge_definition(wanted, found)


def judge_definition(wanted: Raw, found: Raw | None) -> Finding:
    """Compare one definition with what the cluster has."""
    name = wanted["metadata"]["name"]
    if found is None:
        return Finding(Health.FAIL, name, "is not installed", f"Install it: {_RENEW}")
    served = {each["name"]: each for each in found["spec"]["versions"] if each.get("served")}
    ours = wanted["spec"]["versions"][0]
    theirs = served.get(ours["name"])
    if theirs is None:
        return Finding(
            Health.FAIL, name, f"serves {', '.join(served)}, not {ours['name']}", f"Renew: {_RENEW}"
        )
    mine, there = set(_facts(_schema(ours))), set(_facts(_schema(theirs)))
    lacking, more = _names(mine - there), _names(there - mine)
    if lacking:
        return Finding(
            Health.FAIL, name, f"is older than this version: it lacks {lacking}",
            f"Renew it: {_RENEW}",
        )  # fmt: skip
    if more:
        return Finding(
            Health.WARN, name, f"is newer than this version: it has {more}, too",
            "Upgrade agent-bench here.",
        )  # fmt: skip
    conditions = {each["type"]: each["status"] for each in found["status"].get("conditions") or ()}
    if conditions.get("Established") != "True":
        return Finding(Health.FAIL, name, "is not established", f"Renew it: {_RENEW}")
    return Finding(Health.OK, name, f"{ours['name']}, as this version's")


def admission_policy(connection: Connection) -> Finding:
    """Whether people may sign adjudications with their own name alone."""
    what = "Adjudication policy"
    try:
        policies = connection.list("validatingadmissionpolicies").items
        bindings = connection.list("validatingadmissionpolicybindings").items
    except (Denied, BadCluster) as error:
        return Finding(Health.WARN, what, f"not looked at: {error}")
    ours = [each["metadata"]["name"] for each in policies if _guards_runs(each)]
    bound = {each["spec"].get("policyName") for each in bindings}
    names = [name for name in ours if name in bound]
    if names:
        return Finding(Health.OK, what, ", ".join(names))
    return Finding(
        Health.WARN, what, "is not installed: anybody may sign an adjudication as anybody",
        "Install the chart with adjudicationPolicy.enabled=true.",
    )  # fmt: skip


def _guards_runs(policy: Raw) -> bool:
    rules = (policy["spec"].get("matchConstraints") or {}).get("resourceRules") or ()
    return any(
        GROUP in (rule.get("apiGroups") or ()) and "benchmarkruns" in (rule.get("resources") or ())
        for rule in rules
    )


def _known(connection: Connection, name: str) -> Finding:
    """What discovery tells a user who may not read definitions."""
    plural = name.split(".")[0]
    found = connection.request("GET", f"/apis/{GROUP}/v1alpha1")
    known = {each["name"] for each in found.get("resources") or ()}
    if plural in known:
        return Finding(Health.WARN, name, "is there; you may not read which version it is")
    return Finding(Health.FAIL, name, "is not installed", f"Install it: {_RENEW}")


def _schema(version: Raw) -> Raw:
    found: Raw = version["schema"]["openAPIV3Schema"]
    return found


def _facts(node: Raw, place: str = "") -> Iterator[str]:
    """Every place of a schema, and every rule that stands there."""
    for rule in node.get("x-kubernetes-validations") or ():
        yield f"{place or 'the root'}: {rule['rule']}"
    for name, child in (node.get("properties") or {}).items():
        where = f"{place}.{name}" if place else name
        yield where
        yield from _facts(child, where)
    for key in ("items", "additionalProperties"):
        child = node.get(key)
        if isinstance(child, dict):
            yield from _facts(child, f"{place}[]")


def _names(facts: set[str]) -> str:
    """The first few places of a difference; of a rule its place alone."""
    places = sorted(
        {fact.split(": ")[0] for fact in facts}, key=lambda text: (text.count("."), text)
    )
    more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
    return ", ".join(places[:_SHOWN]) + more
