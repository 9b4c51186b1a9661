"""What a probe's pods saw, judged."""

from collections.abc import Iterator

from agentbench.cli.cluster.doctor.probing import API_SERVER, OTHER_POD, Seen
from agentbench.cli.findings import Finding, Health

POLICY, GATEWAY, STORE, PULL = "NetworkPolicy", "Gateway", "Store from a pod", "Images"
_PLUGIN = (
    "Install a network plug-in that enforces NetworkPolicy for egress (Calico, Cilium, "
    "kube-router, ...): without one an agent reaches everything."
)


def judge(seen: Seen, *, gateway: str, store: bool) -> Iterator[Finding]:
    """Everything that a probe says.

    Args:
        seen: what its pods saw.
        gateway: the gateway's address, empty if it is not known.
        store: whether the store was asked for through the gateway.
    """
    for trouble in seen.troubles:
        yield Finding(Health.FAIL, "Probe pods", trouble, _cure(trouble))
    if seen.opened is not None and seen.shut is not None:
        yield _policy(seen)
    if seen.shut is not None:
        yield _gateway(seen, gateway)
        if store:
            yield _store(seen)
    if seen.images:
        yield from _images(seen)


def _policy(seen: Seen) -> Finding:
    opened = (seen.opened or {}).get("open", {})
    shut = (seen.shut or {}).get("shut", {})
    unproven = [name for name in (OTHER_POD, API_SERVER) if not opened.get(name)]
    if unproven:
        return Finding(
            Health.WARN, POLICY,
            f"not proven: a pod without our policy does not reach {' and '.join(unproven)} either",
            "See what else forbids it: kubectl get networkpolicies; a probe in a namespace "
            "without policies proves more.",
        )  # fmt: skip
    leaks = [name for name in (OTHER_POD, API_SERVER) if shut.get(name) is None]
    if leaks:
        return Finding(
            Health.FAIL, POLICY,
            f"is not enforced: a pod that is shut in still reaches {' and '.join(leaks)}", _PLUGIN,
        )  # fmt: skip
    slowest = max(float(shut[name]) for name in (OTHER_POD, API_SERVER))
    return Finding(
        Health.OK, POLICY,
        f"is enforced: a pod that is shut in lost {OTHER_POD} and the {API_SERVER} "
        f"{slowest:.1f} s after its start; a control reached both",
    )  # fmt: skip


def _gateway(seen: Seen, gateway: str) -> Finding:
    if not gateway:
        return Finding(Health.WARN, GATEWAY, "not looked at: its Service cannot be read")
    shut = seen.shut or {}
    if not shut.get("open", {}).get("gateway"):
        return Finding(
            Health.FAIL, GATEWAY, f"a run's pod does not reach {gateway}",
            "See whether it runs, and whether another policy forbids it: kubectl get "
            "pods,networkpolicies -A -l app.kubernetes.io/component=gateway.",
        )  # fmt: skip
    status = shut.get("stranger", {}).get("status")
    if status != 407:
        return Finding(
            Health.FAIL, GATEWAY, f"{gateway} answers {status} to a stranger, and not 407",
            "Something else listens there: look at the gateway's Service.",
        )  # fmt: skip
    return Finding(Health.OK, GATEWAY, f"a run's pod reaches {gateway}, which asks who it is")


def _store(seen: Seen) -> Finding:
    answer = (seen.shut or {}).get("store", {})
    status, error = answer.get("status"), answer.get("error", "")
    if answer.get("denied"):
        return Finding(
            Health.FAIL, STORE, f"the gateway refuses the way to it ({status} {error})",
            "Add the store's port to gateway.allowedPorts of the chart; see the gateway's log "
            "for a name that it cannot resolve.",
        )  # fmt: skip
    if not status:
        return Finding(
            Health.FAIL, STORE, f"no answer through the gateway: {error or 'it closed the line'}",
            "See the gateway's log.",
        )  # fmt: skip
    return Finding(Health.OK, STORE, f"answers a run's pod through the gateway ({status})")


def _images(seen: Seen) -> Iterator[Finding]:
    bad = {image: why for image, why in seen.images.items() if why}
    for image, why in bad.items():
        yield Finding(
            Health.FAIL, PULL, f"{image}: {why}",
            "Check its name and digest, and imagePullSecrets of the chart.",
        )  # fmt: skip
    if not bad:
        where = f" on {seen.node}" if seen.node else ""
        yield Finding(Health.OK, PULL, f"{len(seen.images)} of the campaign can be had{where}")


def _cure(trouble: str) -> str:
    if "ImagePull" in trouble:
        return "The image is the chart's podImage: check its name, and imagePullSecrets."
    if "Unschedulable" in trouble:
        return "Mend the node class, or free some room on its nodes."
    return "kubectl describe shows more; agent-bench doctor --cluster may be run again."
