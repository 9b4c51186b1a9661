"""What is built from Go modules, and which of it a cluster needs.

`go/NAME/go.mod` pins each tool; a module per tool, because their dependencies contradict each
other. The environment chooses: CLUSTER_KUBERNETES (1.34 or 1.36), CLUSTER_GVISOR (on or off)
and CLUSTER_SEAWEEDFS (on or off).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.lab.shell import ClusterError

GO = Path(__file__).resolve().parents[1] / "go"
KUBERNETES = {"1.34": "go.mod", "1.36": "v1.36.mod"}
DEFAULT_KUBERNETES = "1.34"


@dataclass(frozen=True)
class Tool:
    """One program: the folder of its module, the package in it, and the module file to use."""

    name: str
    module: str
    package: str = "."
    modfile: str = "go.mod"

    @property
    def folder(self) -> Path:
        """Where its module file lies."""
        return GO / self.module


_CONTAINERD = "github.com/containerd/containerd/v2/cmd/"
BASE = (
    Tool("pause", "pause"),
    Tool("etcd", "etcd", "go.etcd.io/etcd/server/v3"),
    Tool("containerd", "containerd", _CONTAINERD + "containerd"),
    Tool("containerd-shim-runc-v2", "containerd", _CONTAINERD + "containerd-shim-runc-v2"),
    Tool("ctr", "containerd", _CONTAINERD + "ctr"),
    Tool("coredns", "coredns"),
    Tool("kube-router", "kube-router", "github.com/cloudnativelabs/kube-router/v2/cmd/kube-router"),
    Tool("versitygw", "versitygw", "github.com/versity/versitygw/cmd/versitygw"),
    Tool("helm", "helm", "helm.sh/helm/v4/cmd/helm"),
)
GVISOR = (
    Tool("runsc", "gvisor", "gvisor.dev/gvisor/runsc"),
    Tool("containerd-shim-runsc-v1", "gvisor", "gvisor.dev/gvisor/shim"),
)
SEAWEEDFS = (Tool("weed", "seaweedfs", "github.com/seaweedfs/seaweedfs/weed"),)


def kubernetes_version() -> str:
    """The minor version of Kubernetes to run.

    Raises:
        ClusterError: CLUSTER_KUBERNETES names one that is not pinned here.
    """
    wanted = os.environ.get("CLUSTER_KUBERNETES", DEFAULT_KUBERNETES)
    if wanted not in KUBERNETES:
        raise ClusterError(
            f"CLUSTER_KUBERNETES={wanted} is not among the pinned versions: "
            f"{', '.join(KUBERNETES)}. Choose one, or pin another under {GO / 'kubernetes'}."
        )
    return wanted


def switch(name: str, default: bool) -> bool:
    """Read an on/off variable.

    Raises:
        ClusterError: its value is neither.
    """
    value = os.environ.get(name, "on" if default else "off")
    if value not in ("on", "off"):
        raise ClusterError(f"{name}={value} means nothing here: set it to on or off")
    return value == "on"


def gvisor_wanted() -> bool:
    """Whether the nodes get a gVisor runtime."""
    return switch("CLUSTER_GVISOR", default=True)


def seaweedfs_wanted() -> bool:
    """Whether the second S3 store is built and started."""
    return switch("CLUSTER_SEAWEEDFS", default=False)


def wanted() -> tuple[Tool, ...]:
    """All programs of the cluster that the environment asks for, slowest build first."""
    return (
        Tool("hyperkube", "kubernetes", modfile=KUBERNETES[kubernetes_version()]),
        *BASE,
        *(GVISOR if gvisor_wanted() else ()),
        *(SEAWEEDFS if seaweedfs_wanted() else ()),
    )
