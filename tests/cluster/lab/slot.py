"""A slot: the number from which a cluster's names, addresses and folder follow.

Several checkouts may run a cluster on one machine at the same time. Each takes a free slot, and
everything that could collide is a function of it: network namespaces, cgroups, the folder, and
one /16 network for machines, pods and Services together.
"""

from __future__ import annotations

import fcntl
import ipaddress
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tests.cluster.lab.shell import ClusterError, run, write

ROOT = Path(os.environ.get("CLUSTER_ROOT", "/var/cache/agent-bench-clusters"))
SOURCE = Path(__file__).resolve().parents[3]
CHECKOUT = Path(os.environ.get("CLUSTER_CHECKOUT", SOURCE))
SLOTS = range(32)
FIRST_NETWORK = 200


@dataclass(frozen=True)
class Node:
    """One machine of the cluster: a network namespace with a containerd and a kubelet in it."""

    slot: Slot
    number: int
    name: str
    node_class: str
    labels: tuple[tuple[str, str], ...] = ()
    taint: tuple[str, str, str] | None = None

    @property
    def netns(self) -> str:
        """The name of its network namespace."""
        return f"{self.slot.prefix}-{self.name}"

    @property
    def ip(self) -> str:
        """Its address."""
        return f"{self.slot.net}.0.{10 + self.number}"

    @property
    def pod_cidr(self) -> str:
        """The addresses of its pods."""
        return f"{self.slot.net}.{128 + self.number}.0/24"

    @property
    def folder(self) -> Path:
        """All its files: images, volumes, keys, sockets."""
        return self.slot.folder / self.name

    @property
    def socket(self) -> Path:
        """The socket of its containerd."""
        return self.folder / "containerd.sock"


@dataclass(frozen=True)
class Slot:
    """The names and addresses of one cluster."""

    number: int

    @property
    def prefix(self) -> str:
        """The first part of every name that the machine sees."""
        return f"agentbench{self.number}"

    @property
    def net(self) -> str:
        """The first two bytes of every address."""
        return f"10.{FIRST_NETWORK + self.number}"

    @property
    def folder(self) -> Path:
        """All files of the cluster."""
        return ROOT / str(self.number)

    @property
    def logs(self) -> Path:
        """One log per daemon."""
        return self.folder / "log"

    @property
    def pki(self) -> Path:
        """Keys and certificates."""
        return self.folder / "pki"

    @property
    def cidr(self) -> str:
        """The network that holds machines, pods and Services."""
        return f"{self.net}.0.0/16"

    @property
    def machine_cidr(self) -> str:
        """The addresses of nodes, control plane and stores."""
        return f"{self.net}.0.0/24"

    @property
    def pod_cidr(self) -> str:
        """The addresses of all pods."""
        return f"{self.net}.128.0/20"

    @property
    def service_cidr(self) -> str:
        """The addresses of Services."""
        return f"{self.net}.96.0/20"

    @property
    def api_service_ip(self) -> str:
        """The address of the Service `kubernetes`."""
        return f"{self.net}.96.1"

    @property
    def dns_ip(self) -> str:
        """The address of the cluster's DNS."""
        return f"{self.net}.96.10"

    @property
    def control_ip(self) -> str:
        """The address of the API server (port 6443)."""
        return f"{self.net}.0.1"

    @property
    def store_ip(self) -> str:
        """The address of the S3 stores (versitygw: port 9000, SeaweedFS: port 8333)."""
        return f"{self.net}.0.20"

    @property
    def registry_ip(self) -> str:
        """The address of the image registry that can be made to fail (port 5000)."""
        return f"{self.net}.0.21"

    @property
    def s3_proxy_ip(self) -> str:
        """The address of the S3 proxy that injects faults (port 9000)."""
        return f"{self.net}.0.22"

    @property
    def api_proxy_ip(self) -> str:
        """The address of the proxy before the API server (port 6443)."""
        return f"{self.net}.0.23"

    @property
    def simulator_ip(self) -> str:
        """The address of the program that plays the simulated nodes."""
        return f"{self.net}.0.24"

    @property
    def host_ip(self) -> str:
        """The machine's own leg in the cluster's network; no one in the cluster can reach it."""
        return f"{self.net}.255.2"

    @property
    def gate_ip(self) -> str:
        """The other end of the machine's leg, in the control plane's namespace."""
        return f"{self.net}.255.1"

    @property
    def control_netns(self) -> str:
        """The namespace of the control plane; its bridge joins all others."""
        return f"{self.prefix}-control"

    @property
    def store_netns(self) -> str:
        """The namespace of stores, registry and proxies."""
        return f"{self.prefix}-store"

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """The three nodes: two of class `pinned`, unlike in labels and taints, and another."""
        zone, disk = "topology.kubernetes.io/zone", "agentbench.dev/disk"
        taint = ("agentbench.dev/dedicated", "runs", "NoSchedule")
        return (
            Node(self, 1, "node-a", "pinned", ((zone, "a"), (disk, "ssd"))),
            Node(self, 2, "node-b", "pinned", ((zone, "b"),), taint),
            Node(self, 3, "node-c", "other", ((zone, "b"), (disk, "hdd"))),
        )

    def node(self, name: str) -> Node:
        """Return the node of that name.

        Raises:
            ClusterError: there is none.
        """
        for node in self.nodes:
            if node.name == name:
                return node
        known = ", ".join(node.name for node in self.nodes)
        raise ClusterError(f"there is no node {name!r}; the nodes are {known}")

    @property
    def owner(self) -> Path | None:
        """The checkout that holds the slot, or None while it is being claimed."""
        try:
            return Path(json.loads((self.folder / "owner.json").read_text())["checkout"])
        except (FileNotFoundError, ValueError, KeyError):
            return None


def taken() -> list[Slot]:
    """The slots in use on this machine, by anyone."""
    if not ROOT.is_dir():
        return []
    return [Slot(int(entry.name)) for entry in sorted(ROOT.iterdir()) if entry.name.isdigit()]


def mine(checkout: Path = CHECKOUT) -> Slot | None:
    """The slot that this checkout holds, if it holds one."""
    return next((slot for slot in taken() if slot.owner == checkout), None)


def claim(checkout: Path = CHECKOUT) -> Slot:
    """Take a free slot for this checkout, or return the one it holds.

    Raises:
        ClusterError: all slots are taken.
    """
    ROOT.mkdir(parents=True, exist_ok=True)
    with locked(ROOT):
        return mine(checkout) or _claim(checkout)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Be the only process that holds this folder; the kernel lets go of it if we die."""
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _claim(checkout: Path) -> Slot:
    routes = _routes()
    for number in SLOTS:
        slot = Slot(number)
        if any(ipaddress.ip_network(slot.cidr).overlaps(route) for route in routes):
            continue
        if slot.folder.exists() and slot.owner is not None:
            continue
        write(slot.folder / "owner.json", {"checkout": str(checkout)})
        return slot
    holders = "\n".join(f"  {slot.folder}: {slot.owner}" for slot in taken())
    raise ClusterError(
        f"no free network among 10.{FIRST_NETWORK}.0.0/16 to "
        f"10.{FIRST_NETWORK + SLOTS[-1]}.0.0/16. Slots in use:\n{holders}\n"
        "Run `make cluster-down` in a checkout that needs its cluster no longer."
    )


def _routes() -> list[ipaddress.IPv4Network]:
    """The networks that the machine itself reaches, its default route aside."""
    found = []
    for route in json.loads(run("ip", "-json", "-4", "route") or "[]"):
        if route["dst"] != "default":
            found.append(ipaddress.IPv4Network(route["dst"], strict=False))
    return found
