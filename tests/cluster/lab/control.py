"""The control plane: etcd, API server, controller manager and scheduler."""

from __future__ import annotations

from tests.cluster.lab import audit, cgroups, kube
from tests.cluster.lab.kube import Programs
from tests.cluster.lab.network import within
from tests.cluster.lab.node import manifest
from tests.cluster.lab.shell import wait
from tests.cluster.lab.slot import Slot

_ETCD = "http://127.0.0.1:2379"
# The usual limits (20 and 50 requests a second) would make every scale test a test of them.
_UNHURRIED = ("--kube-api-qps=1000", "--kube-api-burst=2000")


def start(slot: Slot, programs: Programs) -> None:
    """Start the control plane and make the Node objects; returns when it takes requests."""
    start_etcd(slot, programs)
    start_api_server(slot, programs)
    wait(
        "the API server",
        lambda: kube.kubectl(slot, "get", "--raw", "/readyz", check=False) == "ok",
        hint=f"see {slot.logs}/kube-apiserver.log",
    )
    kube.apply(slot, *(manifest(node) for node in slot.nodes))
    start_controllers(slot, programs)


def start_etcd(slot: Slot, programs: Programs) -> None:
    """Start etcd; it keeps its data in the cluster's folder and does not wait for the disk."""
    cgroups.start(
        slot, "control", "etcd", within(slot.control_netns),
        programs["etcd"], "--data-dir", slot.folder / "etcd", "--unsafe-no-fsync",
        "--log-level", "warn", "--listen-client-urls", _ETCD, "--advertise-client-urls", _ETCD,
        "--quota-backend-bytes", 4 << 30,
    )  # fmt: skip


def start_api_server(slot: Slot, programs: Programs) -> None:
    """Start the API server with the admission and authorization that clusters have."""
    pki = slot.pki
    _component(
        slot,
        programs,
        "kube-apiserver",
        f"--etcd-servers={_ETCD}",
        "--bind-address=0.0.0.0",
        f"--advertise-address={slot.control_ip}",
        f"--service-cluster-ip-range={slot.service_cidr}",
        f"--client-ca-file={pki}/ca.crt",
        f"--tls-cert-file={pki}/apiserver.crt",
        f"--tls-private-key-file={pki}/apiserver.key",
        # Without these there is no `kubectl logs` and no `exec`.
        f"--kubelet-certificate-authority={pki}/ca.crt",
        f"--kubelet-client-certificate={pki}/apiserver-to-kubelet.crt",
        f"--kubelet-client-key={pki}/apiserver-to-kubelet.key",
        "--kubelet-preferred-address-types=InternalIP",
        f"--requestheader-client-ca-file={pki}/ca.crt",
        "--requestheader-allowed-names=aggregator",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        f"--proxy-client-cert-file={pki}/aggregator.crt",
        f"--proxy-client-key-file={pki}/aggregator.key",
        f"--service-account-key-file={pki}/service-account.crt",
        f"--service-account-signing-key-file={pki}/service-account.key",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        "--allow-privileged",
        # The control plane has no kube-proxy: webhooks are called at the addresses of pods.
        "--enable-aggregator-routing",
        # How long a pod outlives its node unless it says so itself (300 s by default).
        "--default-not-ready-toleration-seconds=10",
        "--default-unreachable-toleration-seconds=10",
        *audit.flags(slot),
    )


def start_controllers(slot: Slot, programs: Programs) -> None:
    """Start the controller manager and the scheduler."""
    pki = slot.pki
    _component(
        slot,
        programs,
        "kube-controller-manager",
        *_identity(slot, "controller-manager"),
        f"--service-account-private-key-file={pki}/service-account.key",
        f"--root-ca-file={pki}/ca.crt",
        "--use-service-account-credentials",
        "--leader-elect=false",
        f"--flex-volume-plugin-dir={slot.folder}/volume-plugins",
        # How soon a silent node is NotReady (50 s and 5 s by default).
        "--node-monitor-grace-period=12s",
        "--node-monitor-period=2s",
        *_UNHURRIED,
    )
    _component(
        slot,
        programs,
        "kube-scheduler",
        *_identity(slot, "scheduler"),
        "--leader-elect=false",
        *_UNHURRIED,
    )


def _identity(slot: Slot, name: str) -> list[str]:
    uses = ("", "authentication-", "authorization-")
    return [f"--{use}kubeconfig={slot.folder}/{name}.kubeconfig" for use in uses]


def _component(slot: Slot, programs: Programs, name: str, *flags: str) -> None:
    cgroups.start(
        slot, "control", name, within(slot.control_netns), programs["hyperkube"], name, *flags
    )
