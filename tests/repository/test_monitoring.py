"""Dashboards and tables of metrics are those that the code makes."""

import json
from pathlib import Path

import pytest
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard
from scripts.dashboards import FOLDER, files
from scripts.metric_tables import PAGE, page, sections

from agentbench.app.metric_list import EVERY

ROOT = Path(__file__).parents[2]


def test_the_charts_dashboards_are_the_generated_ones() -> None:
    shipped = {path.name: path.read_text() for path in FOLDER.glob("*.json")}
    assert shipped == files(), "python -m scripts.dashboards"


def test_the_page_of_metrics_is_the_generated_one() -> None:
    text = PAGE.read_text()
    assert page(text) == text, "python -m scripts.metric_tables"
    assert all(table in text for table in sections().values())
    assert all(f"| `{spec.name}` |" in text for spec in EVERY)


@pytest.mark.parametrize("name", sorted(files()))
def test_a_dashboard_can_be_imported_anywhere(name: str) -> None:
    board = json.loads(files()[name])
    panels = [panel for panel in board["panels"] if panel["type"] not in ("row", "text")]
    assert {panel["datasource"]["uid"] for panel in panels} == {"${datasource}"}
    assert {"stat", "timeseries", "bargauge"} >= {panel["type"] for panel in panels}
    assert all(panel["targets"] for panel in panels)
    places = [tuple(panel["gridPos"].values()) for panel in board["panels"]]
    assert len(set(places)) == len(places)
    assert all(panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24 for panel in board["panels"])


@pytest.mark.parametrize("name", sorted(files()))
def test_grafanas_own_types_read_a_dashboard_and_lose_nothing(name: str) -> None:
    register_default_plugins()
    read = Dashboard.from_json(json.loads(files()[name]))
    again = json.loads(json.dumps(read, cls=JSONEncoder))
    assert again == json.loads(files()[name])
