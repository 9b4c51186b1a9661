"""The neighbours of an operator: Prometheus, Helm, and images built without a registry."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cluster.lab.handle import Cluster
from tests.cluster.lab.prometheus import prometheus, promtool
from tests.cluster.lab.shell import CommandError, wait

_RULES = """
groups:
- name: smoke
  rules:
  - alert: TooMany
    expr: smoke_runs > 2
"""
_RULES_TEST = """
rule_files: [rules.yaml]
evaluation_interval: 1m
tests:
- interval: 1m
  input_series: [{series: smoke_runs, values: "1 3"}]
  alert_rule_test:
  - {eval_time: 0m, alertname: TooMany, exp_alerts: []}
  - {eval_time: 1m, alertname: TooMany, exp_alerts: [{}]}
"""
_SERVE = """
import http.server
class Metrics(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(b"smoke_runs 3\\n")
http.server.HTTPServer(("", 8000), Metrics).serve_forever()
"""


def test_prometheus_scrapes_a_pod_and_raises_an_alert(
    real_cluster: Cluster, namespace: str, tmp_path: Path
) -> None:
    real_cluster.run(namespace, "metrics", ["python3", "-c", _SERVE])
    pod = real_cluster.wait_phase(namespace, "metrics", "Running")
    rules = tmp_path / "rules.yaml"
    rules.write_text(_RULES)
    target = f"{pod['status']['podIP']}:8000"
    with prometheus(real_cluster.slot, [target], [rules]) as one:
        wait("a sample", lambda: bool(one.query("smoke_runs")), 30)
        (sample,) = one.query("smoke_runs")
        assert sample["metric"]["instance"] == target
        assert sample["value"][1] == "3"
        wait(
            "the alert", lambda: [a["labels"]["alertname"] for a in one.alerts()] == ["TooMany"], 30
        )


def test_promtool_proves_rules_right_and_wrong(real_cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text(_RULES)
    proof = tmp_path / "proof.yaml"
    proof.write_text(_RULES_TEST)
    assert "SUCCESS" in promtool(real_cluster.slot, "test", "rules", proof)
    (tmp_path / "rules.yaml").write_text(_RULES.replace("> 2", "> 3"))
    with pytest.raises(CommandError, match="FAILED"):
        promtool(real_cluster.slot, "test", "rules", proof)


def test_helm_installs_upgrades_and_removes_a_chart(
    real_cluster: Cluster, namespace: str, tmp_path: Path
) -> None:
    chart = tmp_path / "smoke"
    (chart / "templates").mkdir(parents=True)
    (chart / "Chart.yaml").write_text("{apiVersion: v2, name: smoke, version: 0.1.0}\n")
    (chart / "values.yaml").write_text("word: first\n")
    template = (
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: smoke}, data: {word: %s, version: %s}}"
    )
    filled = template % ("{{ .Values.word }}", '"{{ .Capabilities.KubeVersion.Version }}"')
    (chart / "templates/word.yaml").write_text(filled)
    path = f"/api/v1/namespaces/{namespace}/configmaps/smoke"
    real_cluster.helm("install", "smoke", chart, "-n", namespace, "--wait")
    version = real_cluster.api.get("/version")["gitVersion"]
    assert real_cluster.api.get(path)["data"] == {"word": "first", "version": version}
    real_cluster.helm("upgrade", "smoke", chart, "-n", namespace, "--set", "word=second")
    assert real_cluster.api.get(path)["data"]["word"] == "second"
    real_cluster.helm("uninstall", "smoke", "-n", namespace, "--wait")
    listed = real_cluster.api.get(path.rpartition("/")[0])["items"]
    assert "smoke" not in {item["metadata"]["name"] for item in listed}
