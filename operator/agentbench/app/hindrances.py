"""What hinders a campaign, and whose turn it is: read from what is held of it."""

from collections.abc import Iterable

from agentbench.api.place import NodeClass
from agentbench.app.held import Held
from agentbench.app.status import Hindrance, projection
from agentbench.core.decide import Decision
from agentbench.kube.view import NodeView
from agentbench.store.port import Unreachable
from agentbench_analysis.rows.words import Phase

SHOWN = 10
"""Troubles, and waits, that a condition names; the rest are counted."""


def nodes_of_class(node_class: NodeClass, nodes: Iterable[NodeView]) -> str:
    """Why no pod of a campaign can be scheduled at all; empty if a node of its class is there."""
    wanted = node_class.selector.items()
    if any(all(node.labels.get(name) == value for name, value in wanted) for node in nodes):
        return ""
    labels = ",".join(f"{name}={value}" for name, value in sorted(wanted)) or "any"
    return (
        f"no node has the labels of spec.nodeClass.selector ({labels}): label a node (kubectl "
        "label node NAME ...), or add one; runs wait, and none is given up meanwhile"
    )


def hindrance(held: Held, decision: Decision) -> Hindrance:
    """What a status says beside the decision."""
    spec, ledger = held.campaign.spec, held.ledger
    troubles, waits = _troubles(held), _waits(held, decision)
    batch = [run.id for run in held.campaign.runs if run.phase is Phase.CALIBRATION]
    return Hindrance(
        digest=held.campaign.digest,
        frozen=not spec.protocol.draft,
        troubles=troubles,
        waits=waits,
        calibration=(sum(ledger.done(run) for run in batch), len(batch)),
        budget=held.campaign.limits.budget,
        projected=projection(decision.tally),
    )


def _troubles(held: Held) -> list[tuple[str, str]]:
    """What needs a person: the whole campaign's first, then runs in their order of name."""
    found = []
    down = held.hands.line.down
    if down is not None and not isinstance(down, Unreachable):
        found.append(("StoreRefuses", f"{down}; rows wait, and no run starts until it is mended"))
    if held.no_node and held.ledger.live():
        found.append(("NodeClassMissing", held.no_node))
    each = sorted(held.troubles.items())
    found += [(trouble.reason, trouble.message) for _, trouble in each[:SHOWN]]
    if each[SHOWN:]:
        found.append(("NeedsAPerson", f"and {len(each) - SHOWN} more runs"))
    return found


def _waits(held: Held, decision: Decision) -> list[tuple[str, str]]:
    """What passes by itself."""
    found = []
    if isinstance(held.hands.line.down, Unreachable):
        said = f"{held.hands.line.down}; rows wait, and no run starts until it answers"
        found.append(("StoreUnreachable", said))
    messages = sorted(set(held.waits.values()))[:SHOWN]
    return found + [(str(decision.phase), message) for message in messages]
