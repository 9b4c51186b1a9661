"""The chart renders the tested rules and the generated dashboards, where they are asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from scripts.dashboards import files
from tests.cluster.lab import prometheus
from tests.cluster.lab.handle import Cluster
from tests.cluster.lab.shell import CommandError
from tests.monitoring.rules import CHART, rules

_IMAGES = ("image", "podImage", "gateway.image")
_SET = [word for image in _IMAGES for word in ("--set", f"{image}.repository=r,{image}.tag=t")]


def rendered(cluster: Cluster, template: str, *words: str) -> list[dict[str, Any]]:
    """The objects of one template."""
    text = cluster.helm("template", "x", CHART, *_SET, *words, "--show-only", template)
    return [each for each in yaml.safe_load_all(text) if each]


def test_the_rules_of_the_chart_are_the_tested_ones(real_cluster: Cluster, tmp_path: Path) -> None:
    (found,) = rendered(
        real_cluster, "templates/prometheusrule.yaml",
        "--set", "metrics.prometheusRule.enabled=true",
        "--set", "metrics.prometheusRule.labels.release=p",
    )  # fmt: skip
    assert found["spec"] == yaml.safe_load(rules())
    assert found["metadata"]["labels"]["release"] == "p"
    path = tmp_path / "rules.yaml"
    path.write_text(yaml.safe_dump(found["spec"]))
    assert "SUCCESS" in prometheus.promtool(real_cluster.slot, "check", "rules", path)


def test_a_threshold_of_the_installation_takes_the_place_of_the_usual_one(
    real_cluster: Cluster,
) -> None:
    (found,) = rendered(
        real_cluster, "templates/prometheusrule.yaml",
        "--set", "metrics.prometheusRule.enabled=true",
        "--set", "metrics.prometheusRule.thresholds.tickSeconds=77",
        "--set", "metrics.prometheusRule.runbooks=https://docs.example/alerts",
    )  # fmt: skip
    alerts = {rule["alert"]: rule for each in found["spec"]["groups"] for rule in each["rules"]}
    rule = alerts["AgentBenchNotReconciled"]
    assert "_timestamp_seconds > 77 unless" in rule["expr"]
    where = "https://docs.example/alerts#agentbenchnotreconciled"
    assert rule["annotations"]["runbook_url"] == where


def test_the_dashboards_are_config_maps_that_grafanas_sidecar_finds(real_cluster: Cluster) -> None:
    found = rendered(
        real_cluster, "templates/dashboards.yaml",
        "--set", "metrics.dashboards.enabled=true",
        "--set", "metrics.dashboards.annotations.grafana_folder=agent-bench",
    )  # fmt: skip
    assert {name: text for each in found for name, text in each["data"].items()} == {
        f"agent-bench-{name}": text for name, text in files().items()
    }
    for each in found:
        assert each["metadata"]["labels"]["grafana_dashboard"] == "1"
        where = "/api/v1/namespaces/default/configmaps?dryRun=All&fieldValidation=Strict"
        real_cluster.api.create(where, each)


def test_neither_is_there_unless_it_is_asked_for(real_cluster: Cluster) -> None:
    for template in ("templates/prometheusrule.yaml", "templates/dashboards.yaml"):
        with pytest.raises(CommandError, match="could not find template"):
            rendered(real_cluster, template)
