"""Network namespaces, the bridge that joins them, and the one-way door to the machine."""

from __future__ import annotations

from pathlib import Path

from tests.cluster.lab.shell import run
from tests.cluster.lab.slot import Node, Slot

BRIDGE = "machines"
GATE = "gate"


def within(netns: str) -> list[str]:
    """The words that run a command in a network namespace.

    `ip netns exec` would mount a fresh /sys, which hides the cgroups.
    """
    return ["nsenter", f"--net=/run/netns/{netns}"]


def join(slot: Slot) -> None:
    """Make all namespaces of a cluster: a bridge, a leg for each, routes to pods and Services.

    No namespace has a route to the outside. The machine itself reaches every address of the
    cluster, so tests need no namespace of their own; what starts in the cluster cannot reach it.
    """
    control = slot.control_netns
    _namespace(control)
    _ip(control, "link", "add", BRIDGE, "type", "bridge", "forward_delay", "0")
    _ip(control, "address", "add", f"{slot.control_ip}/24", "dev", BRIDGE)
    _ip(control, "link", "set", BRIDGE, "up")
    store = [slot.store_ip, slot.registry_ip, slot.s3_proxy_ip, slot.api_proxy_ip]
    store.append(slot.simulator_ip)
    _leg(slot, slot.store_netns, "store", store)
    for node in slot.nodes:
        _leg(slot, node.netns, node.name, [node.ip])
    for netns in (control, slot.store_netns, *(node.netns for node in slot.nodes)):
        for node in slot.nodes:
            if netns != node.netns:
                _ip(netns, "route", "add", node.pod_cidr, "via", node.ip)
    for node in slot.nodes:
        # The kubelet and kube-proxy look for a default route. This one ends at the control plane.
        _ip(node.netns, "route", "add", "default", "via", slot.control_ip)
    # Any node turns a Service's address into a pod's; this one is not killed by most tests.
    _ip(control, "route", "add", slot.service_cidr, "via", slot.nodes[-1].ip)
    _door(slot)


def _namespace(netns: str) -> None:
    run("ip", "netns", "add", netns)
    _ip(netns, "link", "set", "lo", "up")
    run(*within(netns), "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")


def _ip(netns: str, *words: str) -> None:
    run("ip", "-n", netns, *words)


def _leg(slot: Slot, netns: str, name: str, addresses: list[str]) -> None:
    """A namespace and its cable to the bridge; the bridge's end bears the machine's name."""
    _namespace(netns)
    ends = ("type", "veth", "peer", "name", "eth0", "netns", netns)
    _ip(slot.control_netns, "link", "add", name, *ends)
    _ip(slot.control_netns, "link", "set", name, "master", BRIDGE, "up")
    for address in addresses:
        _ip(netns, "address", "add", f"{address}/24", "dev", "eth0")
    _ip(netns, "link", "set", "eth0", "up")
    _ip(netns, "route", "add", f"{slot.net}.255.0/30", "via", slot.control_ip)


def _door(slot: Slot) -> None:
    """The machine's own leg: it may open connections into the cluster, never the other way."""
    control = slot.control_netns
    ends = ("type", "veth", "peer", "name", GATE, "netns", control)
    run("ip", "link", "add", slot.prefix, *ends)
    _ip(control, "address", "add", f"{slot.gate_ip}/30", "dev", GATE)
    _ip(control, "link", "set", GATE, "up")
    run("ip", "address", "add", f"{slot.host_ip}/30", "dev", slot.prefix)
    run("ip", "link", "set", slot.prefix, "up")
    run("ip", "route", "add", slot.cidr, "via", slot.gate_ip, "src", slot.host_ip)
    rules = f"""
table inet door {{
  chain forward {{
    type filter hook forward priority 0; policy accept;
    oifname "{GATE}" ct state new drop
  }}
  chain output {{
    type filter hook output priority 0; policy accept;
    oifname "{GATE}" ct state new drop
  }}
}}
"""
    run(*within(control), "nft", "-f", "-", text=rules)


def cut(node: Node) -> None:
    """Pull a node's network cable; what runs on it runs on."""
    _ip(node.slot.control_netns, "link", "set", node.name, "down")


def heal(node: Node) -> None:
    """Plug a node's network cable in again."""
    _ip(node.slot.control_netns, "link", "set", node.name, "up")


def part(slot: Slot) -> None:
    """Remove all namespaces of a cluster and the machine's leg, as far as they exist."""
    run("ip", "link", "delete", slot.prefix, check=False)
    names = [slot.control_netns, slot.store_netns, *(node.netns for node in slot.nodes)]
    for netns in names:
        if (Path("/run/netns") / netns).exists():
            run("ip", "netns", "delete", netns, check=False)
