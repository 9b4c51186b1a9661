"""The operator as a process of the test: killed and started again in a second.

It has the rights of the chart's service account and sees one namespace, so several tests may each
have their own at the same time. What is proven of it holds for the pod: the program is the same.
"""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import yaml
from tests.cluster.lab.api import Object
from tests.cluster.lab.shell import ClusterError, die_with_parent, wait
from tests.cluster.operator.installed import SYSTEM, Chart
from tests.fakes.ports import free_port


class OperatorProcess:
    """One operator of one namespace."""

    def __init__(self, chart: Chart, namespace: str, folder: Path) -> None:
        self.chart = chart
        self.namespace = namespace
        self.folder = folder
        self.env: dict[str, str] = {}
        self.metrics_port, self._health_port = free_port(), free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def pid(self) -> int:
        """Its process id.

        Raises:
            ClusterError: it does not run.
        """
        if self._process is None or self._process.poll() is not None:
            raise ClusterError(f"the operator does not run; its log:\n{self.log()[-4000:]}")
        return self._process.pid

    @property
    def metrics_url(self) -> str:
        """Where its metrics are."""
        return f"http://127.0.0.1:{self.metrics_port}/metrics"

    def start(self, env: Mapping[str, str] | None = None, kubeconfig: Path | None = None) -> None:
        """Start it and wait until it is healthy; `kubeconfig` may lead through a faulty proxy."""
        self.env |= env or {}
        self._log = (self.folder / "operator.log").open("ab")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "agentbench.app"],
            env={**os.environ, **self._environment(kubeconfig), **self.env},
            stdout=self._log, stderr=self._log, preexec_fn=die_with_parent,
        )  # fmt: skip
        wait("the operator to be healthy", self._healthy, 60)

    def kill(self) -> None:
        """End it as a power cut would."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Ask it to end, and wait."""
        self._end(signal.SIGTERM)

    def metrics(self) -> str:
        """What /metrics says."""
        with urllib.request.urlopen(self.metrics_url, timeout=10) as answer:
            return str(answer.read().decode())

    def log(self) -> str:
        """All that it has logged, over all its lives."""
        path = self.folder / "operator.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def _end(self, number: int) -> None:
        process, self._process = self._process, None
        if process is not None and process.poll() is None:
            process.send_signal(number)
            process.wait(60)
        if self._log is not None:
            self._log.close()
            self._log = None

    def _healthy(self) -> bool:
        _ = self.pid
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._health_port}/healthz", timeout=5):
                return True
        except (urllib.error.URLError, OSError):
            return False

    def _environment(self, kubeconfig: Path | None) -> dict[str, str]:
        """What the chart sets in the pod, taken from the installed Deployment."""
        cluster = self.chart.cluster
        found = cluster.api.get(f"/apis/apps/v1/namespaces/{SYSTEM}/deployments/agent-bench")
        container = found["spec"]["template"]["spec"]["containers"][0]
        env = {
            each["name"]: each["value"]
            for each in container["env"]
            if each["name"].startswith("AGENTBENCH_") and each.get("value")
        }
        key: Object = cluster.api.get(f"/api/v1/namespaces/{SYSTEM}/secrets/agent-bench-gateway")
        path = self.folder / "gateway.key"
        path.write_bytes(base64.b64decode(key["data"]["key"]))
        return env | {
            "AGENTBENCH_IMAGE": self.chart.images["pod"],
            "AGENTBENCH_NAMESPACE": SYSTEM,
            "AGENTBENCH_FORBIDDEN": f"{cluster.slot.api_service_ip}:443",
            "AGENTBENCH_GATEWAY_KEY_FILE": str(path),
            "AGENTBENCH_WATCH_NAMESPACES": self.namespace,
            "AGENTBENCH_METRICS_PORT": str(self.metrics_port),
            "AGENTBENCH_HEALTH_PORT": str(self._health_port),
            "KUBECONFIG": str(self._kubeconfig(kubeconfig or cluster.kubeconfig)),
        }

    def _kubeconfig(self, base: Path) -> Path:
        """The same way to the API server, with the token of the operator's service account."""
        document = yaml.safe_load(base.read_text())
        token = self.chart.cluster.kubectl(
            "-n", SYSTEM, "create", "token", "agent-bench", "--duration=3h"
        ).strip()
        for user in document["users"]:
            user["user"] = {"token": token}
        path = self.folder / "kubeconfig"
        path.write_text(json.dumps(document))
        path.chmod(0o600)
        return path
