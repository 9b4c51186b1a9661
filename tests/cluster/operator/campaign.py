"""A campaign on the cluster, as a test looks at it and changes it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tests.cluster.lab.api import Object
from tests.cluster.lab.handle import Cluster
from tests.cluster.lab.shell import wait

from agentbench.store.s3 import S3Store

CAMPAIGNS = "/apis/agentbench.dev/v1alpha1/namespaces/{}/benchmarkcampaigns"
RUNS = "/apis/agentbench.dev/v1alpha1/namespaces/{}/benchmarkruns"


@dataclass(frozen=True)
class Campaign:
    """A campaign on the cluster, with its store."""

    cluster: Cluster
    namespace: str
    name: str
    store: S3Store

    def get(self) -> Object:
        """The object as it is now."""
        path = f"{CAMPAIGNS.format(self.namespace)}/{self.name}"
        found: Object = self.cluster.api.get(path)
        return found

    @property
    def phase(self) -> str:
        """Its status's phase."""
        return str(self.get().get("status", {}).get("phase", ""))

    def wait(self, *phases: str, seconds: float = 240) -> Object:
        """Wait for a phase."""
        wait(f"campaign {self.name} {phases}", lambda: self.phase in phases, seconds)
        return self.get()

    def condition(self, kind: str) -> Object:
        """One condition of its status."""
        conditions = self.get().get("status", {}).get("conditions", [])
        found: Object = next((each for each in conditions if each["type"] == kind), {})
        return found

    def patch(self, spec: dict[str, Any]) -> None:
        """Merge into its spec."""
        self.cluster.kubectl(
            "-n", self.namespace, "patch", "benchmarkcampaign", self.name, "--type=merge",
            "-p", json.dumps({"spec": spec}),
        )  # fmt: skip

    def rows(self) -> dict[str, Any]:
        """Its rows, by `RUN/ATTEMPT`."""
        prefix = f"{self.name}/rows/"
        return {
            key.removeprefix(prefix).removesuffix(".json"): json.loads(self.store.get(key))
            for key in self.store.list(prefix)
        }

    def runs(self) -> list[Object]:
        """Its run objects."""
        found: list[Object] = self.cluster.api.get(RUNS.format(self.namespace))["items"]
        return found
