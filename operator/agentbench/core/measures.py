"""The numbers of a row that are added up over runs: efficiency and reliability, by catalog name."""

from agentbench.api.run import Measures
from agentbench_analysis.catalog.descriptors import CATALOG, Group
from agentbench_analysis.catalog.values import value_of
from agentbench_analysis.rows.model import Row
from agentbench_analysis.rows.read import number_of
from agentbench_analysis.rows.words import Availability

GRAIN = 2**20
"""Values are whole multiples of 1/GRAIN: then every order of adding them gives the same sum.

A sum that is built again in another order must not come out a hair smaller: Prometheus takes a
counter that falls for one that began again at zero, and would count all of it twice.
"""

ADDED = tuple(
    each.name
    for each in CATALOG
    if each.group in (Group.EFFICIENCY, Group.RELIABILITY)
    and each.availability is not Availability.UNAVAILABLE
    and each.name != "tokens"
)
"""Metrics of the catalog that are added up. All tokens are the sum of their kinds."""

PENDING = "pending_seconds"
"""From the making of the pod to the start of the agent, set-up inside; a cluster's row alone."""


def measures(row: Row) -> Measures:
    """What a row reports; a metric without a value is left out, and is never zero."""
    found = {name: number_of(value_of(name, row)) for name in ADDED}
    found[PENDING] = number_of(row.metrics.get(PENDING))
    return Measures(
        values={name: _grained(value) for name, value in found.items() if value is not None},
        caps_hit=row.caps_hit,
    )


def _grained(value: float) -> float:
    return round(value * GRAIN) / GRAIN
