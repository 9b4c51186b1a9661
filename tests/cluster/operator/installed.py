"""The chart, installed once for all tests, and its operator in the cluster."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.lab.api import Object
from tests.cluster.lab.handle import Cluster

CHART = Path(__file__).parents[3] / "charts/agent-bench"
SYSTEM = os.environ.get("CLUSTER_SYSTEM", "agent-bench-system")
KEPT = os.environ.get("CLUSTER_CHART", "own") == "kept"
"""Whether the release that is there is used as it is, and left: for work on several branches."""
IMAGES_KEPT = os.environ.get("CLUSTER_IMAGES", "own") == "kept"
"""Whether its images are used too, so that none is built for each change of the sources."""


@dataclass(frozen=True)
class Chart:
    """The installed chart: definitions, gateway, policies, rights. Its operator does not run."""

    cluster: Cluster
    images: dict[str, str]

    def install(self) -> None:
        """Install or upgrade it with the images of this checkout."""
        words: list[str] = []
        for key, name in (("image", "operator"), ("podImage", "pod"), ("gateway.image", "gateway")):
            repository, _, digest = self.images[name].partition("@")
            words += ["--set", f"{key}.repository={repository}", "--set", f"{key}.digest={digest}"]
        self.cluster.helm(
            "upgrade", "--install", "agent-bench", CHART, "--namespace", SYSTEM,
            "--create-namespace", "--set", "gateway.allowedPorts={80,443,9000}", *words,
        )  # fmt: skip
        self.scale(0)
        self._rollout("agent-bench-gateway")

    def scale(self, replicas: int) -> None:
        """Run the operator in the cluster (1), or do not (0)."""
        self.cluster.kubectl(
            "-n", SYSTEM, "scale", "deployment/agent-bench", f"--replicas={replicas}"
        )
        if replicas:
            self._rollout("agent-bench")
        else:
            self.cluster.kubectl(
                "-n", SYSTEM, "wait", "--for=delete", "--timeout=90s", "pod",
                "-l", "app.kubernetes.io/component=operator",
            )  # fmt: skip

    def remove(self) -> None:
        """Uninstall it, with its definitions and every campaign."""
        campaigns = self.cluster.kubectl("get", "benchmarkcampaigns", "-A", "-o", "name")
        if campaigns.strip():
            self.scale(1)  # deleting a campaign is the operator's work
            self.cluster.kubectl(
                "delete", "benchmarkcampaigns", "-A", "--all", "--timeout=120s", check=False
            )
        self.cluster.helm("uninstall", "agent-bench", "--namespace", SYSTEM, "--wait")
        self.cluster.kubectl(
            "delete", "crd", "benchmarkcampaigns.agentbench.dev",
            "benchmarkruns.agentbench.dev", "--timeout=60s", check=False,
        )  # fmt: skip

    def _rollout(self, name: str) -> None:
        self.cluster.kubectl(
            "-n", SYSTEM, "rollout", "status", f"deployment/{name}", "--timeout=180s"
        )


def images_of_release(cluster: Cluster) -> dict[str, str]:
    """The images of the release that is there, by name."""
    deployments = f"/apis/apps/v1/namespaces/{SYSTEM}/deployments"
    operator = _container(cluster, f"{deployments}/agent-bench")
    told = {each["name"]: each.get("value", "") for each in operator["env"]}
    gateway = _container(cluster, f"{deployments}/agent-bench-gateway")
    return {
        "operator": operator["image"],
        "pod": told["AGENTBENCH_IMAGE"],
        "gateway": gateway["image"],
    }


def _container(cluster: Cluster, path: str) -> Object:
    found: Object = cluster.api.get(path)["spec"]["template"]["spec"]["containers"][0]
    return found
