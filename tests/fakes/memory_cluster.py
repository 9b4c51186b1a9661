"""Objects of an API server in memory: created once, replaced, and counted."""

import copy
from collections import Counter
from typing import Any

from agentbench.kube.errors import Missing, Taken

Raw = dict[str, Any]


class MemoryCluster:
    """What `agentbench.kube.cluster.Cluster` does to objects, without a server."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str], Raw] = {}
        self.requests: Counter[str] = Counter()

    async def create(self, manifest: Raw) -> Raw:
        self.requests["create"] += 1
        key = (manifest["kind"], manifest["metadata"]["name"])
        if key in self.objects:
            raise Taken(f"{key} is there")
        made = copy.deepcopy(manifest)
        made["metadata"]["uid"] = f"uid-{len(self.objects)}"
        self.objects[key] = made
        return copy.deepcopy(made)

    async def get(self, kind: str, namespace: str, name: str) -> Raw:
        self.requests["get"] += 1
        if (kind, name) not in self.objects:
            raise Missing(f"{kind} {name} is not there")
        return copy.deepcopy(self.objects[kind, name])

    async def replace(self, manifest: Raw) -> Raw:
        self.requests["replace"] += 1
        key = (manifest["kind"], manifest["metadata"]["name"])
        if key not in self.objects:
            raise Missing(f"{key} is not there")
        self.objects[key] = copy.deepcopy(manifest)
        return manifest

    def kind(self, kind: str) -> list[Raw]:
        """All objects of a kind."""
        return [found for (its, _), found in self.objects.items() if its == kind]
