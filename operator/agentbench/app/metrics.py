"""Prometheus metrics of the operator; no label takes more values as runs are added.

What is known of campaigns is kept as plain numbers and shown when it is asked for, under one
lock: a scrape sees a campaign's counts whole, also while they are built again after a restart.
A tick costs one assignment.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
    SummaryMetricFamily,
)
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from agentbench import __version__
from agentbench.app import metric_list as all_
from agentbench.app.campaign import Campaign
from agentbench.app.metric_list import Kind, Spec
from agentbench.app.standing import Sample, Standing, said, store_lost
from agentbench.app.totals import Totals, of_row
from agentbench.store.port import StoreError, Unreachable
from agentbench_analysis.rows.model import Row

Key = tuple[str, str]
"""Namespace and name of a campaign."""


class Metrics:
    """Everything that the operator counts."""

    def __init__(self, registry: CollectorRegistry) -> None:
        disable_created_metrics()  # they double the series of counters and say nothing more
        self.registry = registry
        self.build = _gauge(all_.BUILD, registry)
        self.build.labels(__version__).set(1)
        self.ticks = _histogram(all_.RECONCILE, registry)
        self.errors = _counter(all_.ERRORS, registry)
        self.events = _gauge(all_.EVENT, registry)
        self._row_write = _histogram(all_.ROW_WRITE, registry)
        self._row_errors = _counter(all_.ROW_ERRORS, registry)
        self._requests = _counter(all_.REQUESTS, registry)
        self._request_seconds = _histogram(all_.REQUEST_SECONDS, registry)
        for reason in ("retry", "unexpected"):
            self.errors.labels(reason)
        for reason in ("unreachable", "refused"):
            self._row_errors.labels(reason)
        self._campaigns = Campaigns()
        registry.register(self._campaigns)

    def request(self, verb: str, code: str, seconds: float) -> None:
        """Count a request to the API server."""
        self._requests.labels(verb, code).inc()
        self._request_seconds.labels(verb).observe(seconds)

    def event(self, resource: str) -> None:
        """Note that a watch has told something."""
        self.events.labels(resource).set(time.time())

    @contextmanager
    def row_write(self) -> Iterator[None]:
        """Time the storing of a row; what fails is counted apart."""
        began = time.monotonic()
        try:
            yield
        except StoreError as error:
            reason = "unreachable" if isinstance(error, Unreachable) else "refused"
            self._row_errors.labels(reason).inc()
            raise
        self._row_write.observe(time.monotonic() - began)

    def recorded(self, campaign: Campaign, row: Row) -> None:
        """Count a recorded attempt."""
        self._campaigns.add(_key(campaign), row)

    def adopt(self, campaign: Campaign, totals: Totals) -> None:
        """Show what a campaign's recorded attempts add up to, as it was read after a start."""
        self._campaigns.adopt(_key(campaign), totals)

    def counted(self, campaign: Campaign, samples: Sequence[Sample]) -> None:
        """Show what a tick has decided."""
        self._campaigns.standing(_key(campaign)).counted = samples

    def store_lost(self, namespace: str, name: str) -> None:
        """Show that a campaign's store does not answer."""
        standing = self._campaigns.standing((namespace, name))
        standing.counted = store_lost(standing.counted)

    def said(self, namespace: str, name: str, status: Mapping[str, Any], now: float) -> None:
        """Show the status that a tick has ended with."""
        self._campaigns.standing((namespace, name)).said = said(status, now)

    def forget(self, namespace: str, name: str) -> None:
        """Drop the series of a campaign that is gone."""
        self._campaigns.forget((namespace, name))


class Campaigns(Collector):
    """The series of all campaigns, made when they are asked for."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._standings: dict[Key, Standing] = {}
        self._totals: dict[Key, Totals] = {}

    def standing(self, key: Key) -> Standing:
        """What is shown of where a campaign stands."""
        with self._lock:
            return self._standings.setdefault(key, Standing())

    def adopt(self, key: Key, totals: Totals) -> None:
        """Take over the totals of a campaign."""
        with self._lock:
            self._totals[key] = totals

    def add(self, key: Key, row: Row) -> None:
        """Add a row to the totals of its campaign."""
        ended = of_row(row)
        with self._lock:
            if key in self._totals:
                self._totals[key].add(ended)

    def forget(self, key: Key) -> None:
        """Drop a campaign."""
        with self._lock:
            self._standings.pop(key, None)
            self._totals.pop(key, None)

    def describe(self) -> Iterator[Metric]:
        """The names, so that no other metric takes one of them."""
        return iter(_families().values())

    def collect(self) -> Iterator[Metric]:
        """Every series of every campaign."""
        families = _families()
        with self._lock:
            for key, standing in self._standings.items():
                for spec, labels, value in standing.samples():
                    families[spec.name].add_metric((*key, *labels), value)
            for key, totals in self._totals.items():
                _show(families, key, totals)
        return iter(families.values())


def totals_of(campaign: Campaign) -> Totals:
    """Empty totals of a campaign, with series for its stacks and agents."""
    spec = campaign.spec
    return Totals((stack.id, agent.id) for stack in spec.stacks for agent in spec.agents)


def _show(families: Mapping[str, Any], key: Key, totals: Totals) -> None:
    for name, counts in totals.counts.items():
        for labels, number in counts.items():
            families[name].add_metric((*key, *labels), number)
    for name, sums in totals.sums.items():
        for labels, (count, sum_) in sums.items():
            families[name].add_metric((*key, *labels), count_value=count, sum_value=sum_)
    bounds = [*(floatToGoString(bound) for bound in all_.LONG), "+Inf"]
    for stage, spread in totals.stages.items():
        so_far, buckets = 0, []
        for bound, number in zip(bounds, spread.below, strict=True):
            so_far += number
            buckets.append((bound, so_far))
        families[all_.STAGE_SECONDS.name].add_metric((*key, stage), buckets, sum_value=spread.sum)


_FAMILIES: Mapping[Kind, Any] = {
    Kind.COUNTER: CounterMetricFamily,
    Kind.GAUGE: GaugeMetricFamily,
    Kind.SUMMARY: SummaryMetricFamily,
    Kind.HISTOGRAM: HistogramMetricFamily,
}


def _families() -> dict[str, Any]:
    specs = (*all_.OF_CAMPAIGNS, *all_.OF_ATTEMPTS)
    return {
        spec.name: _FAMILIES[spec.kind](spec.name, spec.says, labels=spec.labels) for spec in specs
    }


def _key(campaign: Campaign) -> Key:
    return campaign.namespace, campaign.name


def _gauge(spec: Spec, registry: CollectorRegistry) -> Gauge:
    return Gauge(spec.name, spec.says, spec.labels, registry=registry)


def _counter(spec: Spec, registry: CollectorRegistry) -> Counter:
    return Counter(spec.name, spec.says, spec.labels, registry=registry)


def _histogram(spec: Spec, registry: CollectorRegistry) -> Histogram:
    return Histogram(spec.name, spec.says, spec.labels, buckets=spec.buckets, registry=registry)
