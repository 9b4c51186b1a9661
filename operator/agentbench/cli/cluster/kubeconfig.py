"""Which cluster is meant: the kubeconfig, its context and its namespace, as kubectl finds them."""

import os
from dataclasses import dataclass
from pathlib import Path

import yaml
from kubernetes import client, config
from kubernetes.config import ConfigException

from agentbench.cli.cluster.errors import BadCluster
from agentbench.pack.problems import nearest

# A file that is no kubeconfig fails wherever the client first takes it for one.
_UNUSABLE = (ConfigException, OSError, ValueError, TypeError, AttributeError, yaml.YAMLError)
_INSIDE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


@dataclass(frozen=True, slots=True)
class Found:
    """A way to a cluster, and the namespace in which a command works."""

    configuration: client.Configuration
    context: str
    namespace: str


def find(kubeconfig: Path | None, context: str | None, namespace: str | None) -> Found:
    """Find the cluster.

    Raises:
        BadCluster: there is no kubeconfig, it cannot be read, or has no such context.
    """
    files = _files(kubeconfig)
    inside = "KUBERNETES_SERVICE_HOST" in os.environ and _INSIDE.exists()
    if not files and kubeconfig is None and context is None and inside:
        configuration = client.Configuration()
        config.load_incluster_config(client_configuration=configuration)
        return Found(configuration, "in-cluster", namespace or _INSIDE.read_text().strip())
    if not files:
        looked = kubeconfig or os.environ.get("KUBECONFIG") or "~/.kube/config"
        raise BadCluster(
            f"there is no kubeconfig at {looked}: name one with --kubeconfig or $KUBECONFIG"
        )
    where = os.pathsep.join(files)
    try:
        contexts, current = config.list_kube_config_contexts(where)
    except _UNUSABLE as error:
        raise BadCluster(f"kubeconfig {where} cannot be used: {error}") from error
    names = {str(each["name"]): each.get("context") or {} for each in contexts or ()}
    chosen = context or (str(current["name"]) if current else "")
    if chosen not in names:
        raise BadCluster(_no_context(where, chosen, list(names)))
    configuration = client.Configuration()
    try:
        config.load_kube_config(
            where, context=chosen, client_configuration=configuration, persist_config=False
        )
    except _UNUSABLE as error:
        raise BadCluster(f"kubeconfig {where}, context {chosen}: {error}") from error
    return Found(configuration, chosen, namespace or names[chosen].get("namespace") or "default")


def contexts_of(kubeconfig: Path | None) -> list[str]:
    """Names of the contexts that there are, for completion; none of a file that is unusable."""
    files = _files(kubeconfig)
    try:
        contexts, _ = config.list_kube_config_contexts(os.pathsep.join(files))
    except _UNUSABLE:
        return []  # a shell's line is no place for an error
    return [str(each["name"]) for each in contexts]


def _files(kubeconfig: Path | None) -> list[str]:
    if kubeconfig is not None:
        named = [str(kubeconfig)]
    else:
        named = os.environ.get("KUBECONFIG", "").split(os.pathsep)
        named = [each for each in named if each] or ["~/.kube/config"]
    return [str(path) for each in named if (path := Path(each).expanduser()).is_file()]


def _no_context(where: str, chosen: str, names: list[str]) -> str:
    if not chosen:
        return f"kubeconfig {where} has no current context: name one with --context"
    meant = nearest(chosen, names)
    hint = f"did you mean {meant}?" if meant else f"it has: {', '.join(names) or 'none'}"
    return f"kubeconfig {where} has no context {chosen!r}; {hint}"
