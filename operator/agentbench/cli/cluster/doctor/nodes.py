"""The node class: whether there are nodes of it that take a run."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agentbench.api.place import NodeClass, Toleration
from agentbench.cli.cluster.connection import Connection, Raw
from agentbench.cli.findings import Finding, Health
from agentbench.kube.errors import Denied

WHAT = "Node class"


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the class: what keeps runs off it, empty if nothing does."""

    name: str
    labels: Mapping[str, str]
    against: tuple[str, ...]


def nodes(connection: Connection, wanted: NodeClass) -> Finding:
    """Whether there are nodes for a class of machine."""
    try:
        page = connection.list("nodes")
    except Denied as error:
        return Finding(Health.WARN, WHAT, f"not looked at: {error}")
    return judge([node(raw, wanted.tolerations) for raw in page.items], wanted)


def judge(known: Sequence[Node], wanted: NodeClass) -> Finding:
    """What the nodes there are mean for a class."""
    selector = ", ".join(f"{key}={value}" for key, value in wanted.selector.items())
    mine = [each for each in known if _matches(each, wanted.selector)]
    good = [each.name for each in mine if not each.against]
    bad = "; ".join(f"{each.name}: {', '.join(each.against)}" for each in mine if each.against)
    if not mine:
        return Finding(
            Health.FAIL, WHAT, f"no node has {selector}",
            "Label nodes (kubectl label node NAME KEY=VALUE), or name another class in "
            "spec.nodeClass before the freeze.",
        )  # fmt: skip
    if not good:
        return Finding(
            Health.FAIL, WHAT, f"no node of {selector or 'the cluster'} takes runs: {bad}",
            "Mend the nodes, or tolerate their taints in spec.nodeClass.tolerations.",
        )  # fmt: skip
    rest = f" (not {bad})" if bad else ""
    if not selector:
        return Finding(
            Health.WARN, WHAT, f"none is named: runs may land on any of {', '.join(good)}{rest}",
            "Pin one class of machine in spec.nodeClass.selector, so that runs compare.",
        )  # fmt: skip
    return Finding(Health.OK, WHAT, f"{selector}: {', '.join(good)}{rest}")


def node(raw: Raw, tolerations: Sequence[Toleration]) -> Node:
    """Read a node."""
    spec, status = raw["spec"], raw.get("status") or {}
    ready = any(
        each["type"] == "Ready" and each["status"] == "True"
        for each in status.get("conditions") or ()
    )
    against = [
        *([] if ready else ["not ready"]),
        *(["cordoned"] if spec.get("unschedulable") else []),
        *_taints(spec.get("taints") or (), tolerations),
    ]
    return Node(raw["metadata"]["name"], raw["metadata"].get("labels") or {}, tuple(against))


def _taints(taints: Iterable[Raw], tolerations: Sequence[Toleration]) -> list[str]:
    """The taints that nothing tolerates; those of a node that is not ready say that again."""
    return [
        f"taint {taint['key']}={taint.get('value', '')}:{taint['effect']}"
        for taint in taints
        if taint["effect"] != "PreferNoSchedule"
        and not taint["key"].startswith("node.kubernetes.io/")
        and not any(_tolerates(each, taint) for each in tolerations)
    ]


def _tolerates(toleration: Toleration, taint: Raw) -> bool:
    same = toleration.operator == "Exists" or toleration.value == taint.get("value", "")
    return toleration.key == taint["key"] and same and toleration.effect in ("", taint["effect"])


def _matches(each: Node, selector: Mapping[str, str]) -> bool:
    return all(each.labels.get(key) == value for key, value in selector.items())
