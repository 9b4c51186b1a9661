"""A node's containerd: its configuration, its runtimes, its network plugin, its images."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.cluster.lab import cgroups, images, mounts
from tests.cluster.lab.oci import Archive
from tests.cluster.lab.shell import run, wait, write
from tests.cluster.lab.slot import Node

# What the nodes call the two runtimes; a RuntimeClass of each name leads to it.
RUNC, GVISOR = "runc", "runsc"
REGISTRY_HOST = "registry.agentbench.test"


def start(node: Node, programs: Mapping[str, Path], archives: list[Archive]) -> None:
    """Start a node's containerd and give it the images, unless it has them already."""
    mounts.make(node)
    config = write(node.folder / "containerd.toml", _configuration(node, programs))
    write(node.folder / "cni/10-pods.conflist", _network(node))
    _registry(node)
    cgroups.start(
        node.slot,
        node.name,
        f"{node.name}-containerd",
        mounts.inside(node),
        programs["containerd"],
        "--config",
        config,
        # containerd finds its shims on PATH, under the names that the runtimes' types imply.
        path=[node.slot.folder / "bin"],
    )
    ctr = (programs["ctr"], "--address", node.socket, "--namespace", "k8s.io", "images", "list")
    wait(
        f"containerd of {node.name}",
        lambda: node.socket.exists() and "REF" in run(*ctr, check=False),
        hint=f"see {node.slot.logs}/{node.name}-containerd.log",
    )
    if not run(*ctr, "--quiet").strip():
        images.load(node, programs["ctr"], archives)


def _configuration(node: Node, programs: Mapping[str, Path]) -> str:
    runtime = """plugins."io.containerd.cri.v1.runtime\""""
    gvisor = ""
    if "runsc" in programs:
        options = write(
            node.folder / "runsc.toml",
            f'binary_name = "{programs["runsc"]}"\nroot = "{node.folder}/runsc"\n'
            '[runsc_config]\nplatform = "systrap"\n',
        )
        gvisor = f"""
[{runtime}.containerd.runtimes.{GVISOR}]
runtime_type = "io.containerd.runsc.v1"
[{runtime}.containerd.runtimes.{GVISOR}.options]
TypeUrl = "io.containerd.runsc.v1.options"
ConfigPath = "{options}"
"""
    return f"""version = 3
root = "{node.folder}/containerd"
state = "{node.folder}/run"
[grpc]
address = "{node.socket}"
[plugins."io.containerd.internal.v1.opt"]
path = "{node.folder}/opt"
[plugins."io.containerd.cri.v1.images"]
snapshotter = "overlayfs"
[plugins."io.containerd.cri.v1.images".pinned_images]
sandbox = "{images.name_of("pause")}"
[plugins."io.containerd.cri.v1.images".registry]
config_path = "{node.folder}/registries"
[{runtime}]
disable_apparmor = true
# Root in a sandbox may not be allowed to lower out-of-memory scores.
restrict_oom_score_adj = true
netns_mounts_under_state_dir = true
[{runtime}.cni]
bin_dirs = ["/usr/lib/cni"]
conf_dir = "{node.folder}/cni"
[{runtime}.containerd]
default_runtime_name = "{RUNC}"
[{runtime}.containerd.runtimes.{RUNC}]
runtime_type = "io.containerd.runc.v2"
[{runtime}.containerd.runtimes.{RUNC}.options]
Root = "{node.folder}/runc"
{gvisor}"""


def _network(node: Node) -> dict[str, object]:
    addresses = {
        "type": "host-local",
        "dataDir": str(node.folder / "ipam"),
        "ranges": [[{"subnet": node.pod_cidr}]],
        "routes": [{"dst": "0.0.0.0/0"}],
    }
    bridge = {
        "type": "bridge",
        "bridge": "cni0",
        "isGateway": True,
        "ipMasq": False,
        "hairpinMode": True,
        "ipam": addresses,
    }
    ports = {"type": "portmap", "capabilities": {"portMappings": True}}
    return {"cniVersion": "1.0.0", "name": "pods", "plugins": [bridge, ports]}


def _registry(node: Node) -> None:
    """Lead pulls of the test registry's name to the address where its fixture answers."""
    address = f"http://{node.slot.registry_ip}:5000"
    write(
        node.folder / "registries" / REGISTRY_HOST / "hosts.toml",
        f'server = "{address}"\n[host."{address}"]\ncapabilities = ["pull", "resolve"]\n',
    )
