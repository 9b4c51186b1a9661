"""An error of a tick is counted by whose turn it makes it, and kopf looks again."""

from __future__ import annotations

import kopf
import pytest
from prometheus_client import CollectorRegistry

from agentbench.app.handlers import as_kopf_errors
from agentbench.app.metrics import Metrics
from agentbench.kube.errors import Denied, Retry
from agentbench.store.port import StoreError, Unreachable


def counted(metrics: Metrics, reason: str) -> float | None:
    name = "agentbench_reconcile_errors_total"
    return metrics.registry.get_sample_value(name, {"reason": reason})


@pytest.mark.parametrize(
    ("error", "raised", "reason"),
    [
        (Retry("the API server does not answer", after=7), kopf.TemporaryError, "retry"),
        (Denied("no verb"), kopf.TemporaryError, "Denied"),
        (KeyError("a fault of ours"), KeyError, "unexpected"),
    ],
)
def test_a_failed_tick_is_counted_once_under_its_reason(
    error: Exception, raised: type[Exception], reason: str
) -> None:
    metrics = Metrics(CollectorRegistry())
    with pytest.raises(raised), as_kopf_errors(metrics):
        raise error
    assert counted(metrics, reason) == 1
    assert sum(counted(metrics, other) or 0 for other in ("retry", "Denied", "unexpected")) == 1


def test_the_wait_that_an_error_asks_for_is_kept() -> None:
    with pytest.raises(kopf.TemporaryError) as caught, as_kopf_errors(Metrics(CollectorRegistry())):
        raise Retry("busy", after=7)
    assert caught.value.delay == 7


@pytest.mark.parametrize(
    ("error", "reason"),
    [(Unreachable("no answer"), "unreachable"), (StoreError("refused"), "refused")],
)
def test_a_row_that_cannot_be_stored_is_no_written_row(error: StoreError, reason: str) -> None:
    metrics = Metrics(CollectorRegistry())
    with pytest.raises(StoreError), metrics.row_write():
        raise error
    sample = metrics.registry.get_sample_value
    assert sample("agentbench_row_write_errors_total", {"reason": reason}) == 1
    assert sample("agentbench_row_write_seconds_count") == 0
    with metrics.row_write():
        pass
    assert sample("agentbench_row_write_seconds_count") == 1
