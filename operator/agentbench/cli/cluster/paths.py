"""Where kinds of objects are in the API."""

from collections.abc import Mapping

from agentbench.kube.names import GROUP

CAMPAIGNS, RUNS = "benchmarkcampaigns", "benchmarkruns"
OURS = f"/apis/{GROUP}/v1alpha1"

_BASES: Mapping[str, str] = {
    CAMPAIGNS: OURS,
    RUNS: OURS,
    "pods": "/api/v1",
    "secrets": "/api/v1",
    "nodes": "/api/v1",
    "services": "/api/v1",
    "namespaces": "/api/v1",
    "deployments": "/apis/apps/v1",
    "networkpolicies": "/apis/networking.k8s.io/v1",
    "customresourcedefinitions": "/apis/apiextensions.k8s.io/v1",
    "validatingadmissionpolicies": "/apis/admissionregistration.k8s.io/v1",
    "validatingadmissionpolicybindings": "/apis/admissionregistration.k8s.io/v1",
}


def path(plural: str, namespace: str = "", name: str = "") -> str:
    """The path of a collection, or of one object; without a namespace, of all of them."""
    inside = f"/namespaces/{namespace}" if namespace else ""
    whole = f"{_BASES[plural]}{inside}/{plural}"
    return f"{whole}/{name}" if name else whole


def group_of(plural: str) -> str:
    """The API group of a kind; empty for the core's."""
    base = _BASES[plural]
    return "" if base == "/api/v1" else base.split("/")[2]
