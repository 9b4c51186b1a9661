"""Whether the definitions (CRDs) on the cluster know every field that this operator knows.

An API server drops fields that its definition lacks: with definitions older than the operator a
campaign would run without what its protocol says.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from agentbench.api.schema import campaign_crd, run_crd
from agentbench.kube.cluster import Cluster
from agentbench.kube.errors import ClusterError, Retry


class Definitions:
    """Asks until they are new enough, and then never again."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._fit = False

    async def problem(self) -> str:
        """What is missing, with the cure; empty if nothing is.

        Raises:
            Retry: the API server does not answer.
        """
        if self._fit:
            return ""
        lacking = []
        for wanted in (campaign_crd(), run_crd()):
            name = wanted["metadata"]["name"]
            try:
                found = await self._cluster.get("CustomResourceDefinition", "", name)
            except Retry:
                raise
            except ClusterError:
                continue  # we may not read it: then we cannot tell
            lacking += [
                f"{wanted['spec']['names']['kind']}: {path}" for path in lacks(found, wanted)
            ]
        self._fit = not lacking
        if self._fit:
            return ""
        some = ", ".join(lacking[:5]) + (f" and {len(lacking) - 5} more" if lacking[5:] else "")
        return (
            f"the definitions on this cluster are older than the operator and lack {some}: the API "
            "server would drop them. Apply the chart's crds/ (kubectl apply --server-side -f), or "
            "upgrade the release with crds.install=true"
        )


def lacks(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """Fields of a wanted definition that a found one does not know, outermost only."""
    version = wanted["spec"]["versions"][0]["name"]
    there = [each for each in found["spec"]["versions"] if each["name"] == version]
    if not there:
        return [f"version {version}"]
    return list(_missing(_schema(there[0]), _schema(wanted["spec"]["versions"][0]), ""))


def _schema(version: Mapping[str, Any]) -> Mapping[str, Any]:
    schema: Mapping[str, Any] = version["schema"]["openAPIV3Schema"]
    return schema


def _missing(found: Mapping[str, Any], wanted: Mapping[str, Any], path: str) -> Iterator[str]:
    if found.get("x-kubernetes-preserve-unknown-fields"):
        return
    for name, schema in wanted.get("properties", {}).items():
        there = found.get("properties", {}).get(name)
        if there is None:
            yield f"{path}.{name}"
        else:
            yield from _missing(there, schema, f"{path}.{name}")
    for kind in ("items", "additionalProperties"):
        inner = wanted.get(kind)
        if isinstance(inner, Mapping):
            there = found.get(kind)
            yield from _missing(there if isinstance(there, Mapping) else {}, inner, f"{path}[]")
