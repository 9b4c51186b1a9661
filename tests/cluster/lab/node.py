"""A node: containerd, kubelet, kube-proxy and kube-router in a network namespace of their own."""

from __future__ import annotations

import os
from pathlib import Path

from tests.cluster.lab import cgroups, images, kube, mounts, runtime
from tests.cluster.lab.kube import Programs
from tests.cluster.lab.oci import Archive
from tests.cluster.lab.shell import ClusterError, run, wait, write
from tests.cluster.lab.slot import Node

CPUS = 2
MEMORY_MIB = 6144
DISK_GIB = 8
PODS = 60
_EVICTION_MIB = 200
_EVICTION_DISK_GIB = 1
NODE_CLASS = "agentbench.dev/node-class"


def memory_kib() -> int:
    """The machine's memory in KiB."""
    return os.sysconf("SC_PAGE_SIZE") // 1024 * os.sysconf("SC_PHYS_PAGES")


def manifest(node: Node) -> dict[str, object]:
    """The Node object, made before its kubelet: so addresses of pods are known beforehand."""
    spec: dict[str, object] = {"podCIDR": node.pod_cidr, "podCIDRs": [node.pod_cidr]}
    if node.taint is not None:
        spec["taints"] = [dict(zip(("key", "value", "effect"), node.taint, strict=True))]
    labels = {NODE_CLASS: node.node_class, **dict(node.labels)}
    metadata = {"name": node.name, "labels": labels}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec}


def start(node: Node, programs: Programs, archives: list[Archive]) -> None:
    """Start a node, or start it again after a power cut."""
    runtime.start(node, programs, archives)
    start_kubelet(node, programs)
    start_network_policy(node, programs)


def stop(node: Node) -> None:
    """Cut a node's power: daemons, containers and mounts are gone at once."""
    cgroups.kill(node.slot, node.name)
    mounts.forget(node)


def restart(node: Node, programs: Programs) -> None:
    """Switch a node on again after `stop`: it has its disk, and nothing of its memory."""
    for folder in ("run", "runc", "runsc"):
        run("rm", "-rf", "--one-file-system", node.folder / folder)
    for path in (node.socket, node.socket.with_suffix(".sock.ttrpc")):
        path.unlink(missing_ok=True)
    start(node, programs, images.all_images(programs, node.slot.folder / "tmp"))


def start_kubelet(node: Node, programs: Programs) -> None:
    """Start a node's kubelet and kube-proxy; containerd must run."""
    slot = node.slot
    config = write(node.folder / "kubelet.json", _kubelet(node))
    cgroups.start(
        slot, node.name, f"{node.name}-kubelet", mounts.inside(node),
        programs["hyperkube"], "kubelet", f"--config={config}",
        f"--kubeconfig={slot.folder}/{node.name}.kubeconfig", f"--hostname-override={node.name}",
        f"--node-ip={node.ip}", f"--root-dir={node.folder}/kubelet",
        f"--cert-dir={node.folder}/kubelet-pki",
    )  # fmt: skip
    proxy = write(
        node.folder / "kube-proxy.json",
        {
            "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
            "kind": "KubeProxyConfiguration",
            "mode": "nftables",
            "clientConnection": {"kubeconfig": str(slot.folder / "kube-proxy.kubeconfig")},
            "clusterCIDR": slot.pod_cidr,
            "hostnameOverride": node.name,
            # The connection table's size is the machine's: a namespace may not set it.
            "conntrack": {"maxPerCore": 0, "min": 0},
        },
    )
    cgroups.start(
        slot, node.name, f"{node.name}-kube-proxy", mounts.inside(node),
        programs["hyperkube"], "kube-proxy", f"--config={proxy}",
    )  # fmt: skip


def start_network_policy(node: Node, programs: Programs) -> None:
    """Start kube-router as the node's firewall; it gives up on a node that has no address yet."""
    slot = node.slot
    wait(
        f"the address of {node.name}",
        lambda: node.ip in kube.kubectl(slot, "get", "node", node.name, "-o", "json", check=False),
        hint=f"see {slot.logs}/{node.name}-kubelet.log",
    )
    cgroups.start(
        slot, node.name, f"{node.name}-kube-router", mounts.inside(node),
        programs["kube-router"], "--run-firewall=true", "--run-router=false",
        "--run-service-proxy=false", "--run-loadbalancer=false", "--metrics-port=0",
        f"--kubeconfig={slot.folder}/kube-router.kubeconfig",
        f"--hostname-override={node.name}", f"--service-cluster-ip-range={slot.service_cidr}",
    )  # fmt: skip


def _kubelet(node: Node) -> dict[str, object]:
    slot = node.slot
    resolv: Path = write(slot.folder / "resolv.conf", "")
    cpus = len(os.sched_getaffinity(0))
    spare_kib = memory_kib() - (MEMORY_MIB + _EVICTION_MIB) * 1024
    if cpus < CPUS or spare_kib < 0:
        raise ClusterError(
            f"a node has {CPUS} CPUs and {MEMORY_MIB} MiB; this machine has {cpus} and "
            f"{memory_kib() // 1024} MiB. Use a larger one."
        )
    disk = os.statvfs(slot.folder)
    spare_gib = disk.f_blocks * disk.f_frsize // 2**30 - DISK_GIB - _EVICTION_DISK_GIB
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "containerRuntimeEndpoint": f"unix://{node.socket}",
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{slot.prefix}/{node.name}",
        "failCgroupV1": False,
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(slot.pki / "ca.crt")},
        },
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": str(slot.pki / f"{node.name}-serving.crt"),
        "tlsPrivateKeyFile": str(slot.pki / f"{node.name}-serving.key"),
        "clusterDNS": [slot.dns_ip],
        "clusterDomain": "cluster.local",
        "resolvConf": str(resolv),
        "failSwapOn": False,
        "maxPods": PODS,
        "podPidsLimit": 1024,
        # Each kubelet sees the whole machine: what is left of it is the same on every machine.
        "systemReserved": {
            "cpu": str(cpus - CPUS),
            "memory": f"{spare_kib}Ki",
            "ephemeral-storage": f"{max(spare_gib, 0)}Gi",
        },
        "evictionHard": {
            "memory.available": f"{_EVICTION_MIB}Mi",
            "nodefs.available": f"{_EVICTION_DISK_GIB}Gi",
            "imagefs.available": f"{_EVICTION_DISK_GIB}Gi",
        },
        # An image that was deleted could not be pulled again.
        "imageGCHighThresholdPercent": 100,
        "imageGCLowThresholdPercent": 99,
        # How soon a volume beyond its size is noticed (60 s by default).
        "volumeStatsAggPeriod": "5s",
        "nodeStatusUpdateFrequency": "4s",
        "nodeLeaseDurationSeconds": 8,
        "volumePluginDir": str(node.folder / "volume-plugins"),
        "podLogsDir": str(node.folder / "pod-logs"),
        "registryPullQPS": 0,
        "serializeImagePulls": False,
    }
