"""The alert rules as the chart gives them with its usual values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

CHART = Path(__file__).parents[2] / "charts/agent-bench"


def thresholds() -> dict[str, Any]:
    """The usual thresholds of the chart."""
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    found: dict[str, Any] = values["metrics"]["prometheusRule"]["thresholds"]
    return found


def rules() -> str:
    """The rules with every placeholder filled in."""
    text = (CHART / "files/alerts.yaml").read_text().replace("${runbooks}", "docs/alerts.md")
    for name, value in thresholds().items():
        text = text.replace(f"${{{name}}}", str(value))
    return text


def alerts() -> list[dict[str, Any]]:
    """Every alert."""
    return [rule for group in yaml.safe_load(rules())["groups"] for rule in group["rules"]]
