"""Every query of the dashboards, alerts and documents gives an answer in a real Prometheus."""

from __future__ import annotations

import pytest
from scripts.dashboards import BOARDS
from scripts.metric_tables import catalog_queries
from tests.cluster.lab.prometheus import Prometheus
from tests.monitoring.prometheus import SELECTOR, filled
from tests.monitoring.rules import alerts

from agentbench_analysis.catalog.descriptors import CATALOG, Group
from agentbench_analysis.rows.words import Availability


@pytest.mark.parametrize(
    ("place", "query"),
    [
        pytest.param(place, query, id=f"{name}: {place} {number}")
        for name, board in BOARDS.items()
        for number, (place, query) in enumerate(board.queries())
    ],
)
def test_a_query_of_a_dashboard_has_an_answer(scraped: Prometheus, place: str, query: str) -> None:
    assert "$" not in filled(query), "a variable that the test does not know"
    assert scraped.query(filled(query)), place


@pytest.mark.parametrize("alert", alerts(), ids=lambda alert: alert["alert"])
def test_all_that_an_alert_looks_at_exists(scraped: Prometheus, alert: dict[str, str]) -> None:
    scraped.query(alert["expr"])
    selectors = SELECTOR.findall(alert["expr"])
    assert selectors
    for selector in selectors:
        # Attempts lost to infrastructure, say, need not have happened; the series must be there.
        assert scraped.query(selector), selector


def test_prometheus_has_loaded_every_alert_and_evaluates_it_without_error(
    scraped: Prometheus,
) -> None:
    loaded = scraped.rules()
    assert {rule["name"] for rule in loaded} == {alert["alert"] for alert in alerts()}
    assert {rule["name"]: rule["lastError"] for rule in loaded if rule.get("lastError")} == {}


@pytest.mark.parametrize(("name", "query"), sorted(catalog_queries().items()))
def test_a_metric_of_the_catalog_can_be_asked_for(
    scraped: Prometheus, name: str, query: str
) -> None:
    answers = scraped.query(query)
    assert {(each["metric"]["stack"], each["metric"]["agent"]) for each in answers} >= {
        ("QS-S1", "QS-A1"),
        ("QS-S2", "QS-A2"),
    }, name


def test_efficiency_and_reliability_of_the_catalog_are_all_there() -> None:
    wanted = {
        each.name
        for each in CATALOG
        if each.group in (Group.EFFICIENCY, Group.RELIABILITY)
        and each.availability is not Availability.UNAVAILABLE
    }
    assert set(catalog_queries()) == wanted


def test_a_mean_is_over_the_attempts_that_reported(scraped: Prometheus) -> None:
    (cost,) = scraped.query('agentbench_attempt_cost_dollars_count{stack="QS-S1",agent="QS-A1"}')
    assert cost["value"][1] == "4"
    (timeouts,) = scraped.query(
        f"({catalog_queries()['timeout']}) and on (stack, agent) "
        'agentbench_infra_reruns_total{stack="QS-S1",agent="QS-A1"}'
    )
    assert float(timeouts["value"][1]) == 0.25
