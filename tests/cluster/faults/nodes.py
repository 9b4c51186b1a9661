"""What can happen to a node: power cut, hang, unplugged network, and the return from each."""

from __future__ import annotations

from tests.cluster.lab import cgroups, kube, network, node
from tests.cluster.lab.shell import wait
from tests.cluster.lab.slot import Node


def kill(one: Node) -> None:
    """Cut a node's power: its daemons and all its containers die at the same instant."""
    node.stop(one)


def give_back(one: Node) -> None:
    """Switch a node on again after `kill`, with the disk it had."""
    node.restart(one, kube.linked_programs(one.slot))


def freeze(one: Node) -> None:
    """Hang a node: nothing on it moves, its network cable stays in."""
    cgroups.freeze(one.slot, one.name)


def thaw(one: Node) -> None:
    """Let a hung node go on where it stood."""
    cgroups.thaw(one.slot, one.name)


def cut(one: Node) -> None:
    """Unplug a node's network: what runs on it runs on, unseen."""
    network.cut(one)


def heal(one: Node) -> None:
    """Plug a node's network in again."""
    network.heal(one)


def powered(one: Node) -> bool:
    """Whether anything runs on the node."""
    return bool(cgroups.processes(one.slot, one.name))


def condition(one: Node) -> str:
    """The status of the node's Ready condition: `True`, `False` or `Unknown`."""
    path = 'jsonpath={.status.conditions[?(@.type=="Ready")].status}'
    return kube.kubectl(one.slot, "get", "node", one.name, "-o", path).strip()


def wait_ready(one: Node, status: str = "True", seconds: float = 60) -> None:
    """Wait until the control plane sees the node so, its taints included.

    Raises:
        ClusterError: it did not within `seconds`.
    """

    def seen() -> bool:
        taints = kube.kubectl(one.slot, "get", "node", one.name, "-o", "jsonpath={.spec.taints}")
        tainted = "node.kubernetes.io/un" in taints or "node.kubernetes.io/not-ready" in taints
        return condition(one) == status and tainted == (status != "True")

    wait(f"{one.name} to be Ready={status}", seen, seconds)
