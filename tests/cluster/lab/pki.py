"""Keys, certificates and kubeconfigs of one cluster, made afresh at every start."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tests.cluster.lab.shell import run, write
from tests.cluster.lab.slot import Slot

_DAYS = 30
_EMPTY = "[req]\ndistinguished_name = subject\n[subject]\n"


def make(slot: Slot) -> None:
    """Make everything that proves someone's identity in the cluster."""
    certificate(slot, "ca", "/CN=agentbench-test-ca", authority=True)
    # The API server refuses a bare PKCS#8 key as its public key; a certificate it takes.
    certificate(slot, "service-account", "/CN=service-account")
    certificate(
        slot,
        "apiserver",
        "/CN=kube-apiserver",
        names=[
            "kubernetes",
            "kubernetes.default",
            "kubernetes.default.svc",
            "kubernetes.default.svc.cluster.local",
            "localhost",
            "127.0.0.1",
            slot.control_ip,
            slot.api_proxy_ip,
            slot.api_service_ip,
        ],
    )
    certificate(slot, "aggregator", "/CN=aggregator")
    certificate(slot, "apiserver-to-kubelet", "/O=system:masters/CN=apiserver-to-kubelet")
    kubeconfig(slot, "admin", "/O=system:masters/CN=admin")
    kubeconfig(slot, "controller-manager", "/CN=system:kube-controller-manager")
    kubeconfig(slot, "scheduler", "/CN=system:kube-scheduler")
    kubeconfig(slot, "kube-proxy", "/CN=system:kube-proxy")
    kubeconfig(slot, "kube-router", "/CN=agentbench:kube-router")
    for node in slot.nodes:
        subject = f"/O=system:nodes/CN=system:node:{node.name}"
        certificate(slot, f"{node.name}-serving", subject, names=[node.name, node.ip])
        kubeconfig(slot, node.name, subject)
    through = slot.folder / "admin.kubeconfig"
    write(
        slot.folder / "admin-through-proxy.kubeconfig",
        through.read_text().replace(slot.control_ip, slot.api_proxy_ip),
    )


def certificate(
    slot: Slot, name: str, subject: str, names: Iterable[str] = (), *, authority: bool = False
) -> None:
    """Make NAME.key and NAME.crt, signed by the cluster's authority, or by itself if it is that."""
    config = write(slot.pki / "openssl.cnf", _EMPTY)
    extensions = [f"basicConstraints=critical,CA:{'TRUE' if authority else 'FALSE'}"]
    if not authority:
        extensions.append("extendedKeyUsage=serverAuth,clientAuth")
    alternatives = [f"{'IP' if name[0].isdigit() else 'DNS'}:{name}" for name in names]
    if alternatives:
        extensions.append("subjectAltName=" + ",".join(alternatives))
    signer: tuple[object, ...] = ()
    if not authority:
        signer = ("-CA", slot.pki / "ca.crt", "-CAkey", slot.pki / "ca.key")
    added = [part for extension in extensions for part in ("-addext", extension)]
    run(
        "openssl", "req", "-x509", "-config", config, "-days", _DAYS, "-subj", subject,
        "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
        "-keyout", slot.pki / f"{name}.key", "-out", slot.pki / f"{name}.crt", *signer, *added,
    )  # fmt: skip


def kubeconfig(slot: Slot, name: str, subject: str) -> Path:
    """Make a kubeconfig whose user is a fresh client certificate."""
    certificate(slot, name, subject)
    cluster = {
        "server": f"https://{slot.control_ip}:6443",
        "certificate-authority": str(slot.pki / "ca.crt"),
    }
    user = {
        "client-certificate": str(slot.pki / f"{name}.crt"),
        "client-key": str(slot.pki / f"{name}.key"),
    }
    context = slot.prefix
    return write(
        slot.folder / f"{name}.kubeconfig",
        {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": context,
            "clusters": [{"name": context, "cluster": cluster}],
            "users": [{"name": name, "user": user}],
            "contexts": [{"name": context, "context": {"cluster": context, "user": name}}],
        },
    )
