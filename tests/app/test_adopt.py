"""Rows that no status names: ours are taken up after a restart, others are named and left alone."""

from pathlib import Path

import pytest
from tests.fakes.held_campaign import a_held_campaign, a_ledger

from agentbench.api.run import AttemptStatus
from agentbench.app.adopt import adopt_rows
from agentbench.app.ledger import RunFacts
from agentbench.app.rows import Found, row_of
from agentbench.core.failure import Evidence, Fault
from agentbench.core.keys import row_key
from agentbench.core.reasons import Reason
from agentbench.core.record import encode_row
from agentbench.core.seen import NOT_RUN
from agentbench.kube.view import instant
from agentbench.store.folder import FolderStore
from agentbench_analysis.rows.model import Row

CAMPAIGN = a_held_campaign()
(RUN,) = CAMPAIGN.runs
NOW = instant("2026-11-30T12:00:00Z")
PENDING = AttemptStatus(number=1, phase="Pending")


def row(run_uid: str, attempt: int = 1, fault: Reason = Reason.QUOTA_DENIED) -> bytes:
    evidence = Evidence(place=(Fault(reason=fault, detail="?"),), repeats=1, security=NOT_RUN)
    found = Found(pods=(), node=None, summary=None, now=NOW)
    return encode_row(row_of(CAMPAIGN, RUN, run_uid, attempt, found, evidence))


def admitted(uid: str = "run-uid") -> RunFacts:
    return RunFacts(run=RUN.id, name="r", uid=uid, attempts=(PENDING,))


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path)


def test_a_row_stored_just_before_a_kill_is_the_row_though_no_pod_tells_of_it(
    store: FolderStore,
) -> None:
    key = row_key("tiny", RUN.id, 1)
    store.create_only(key, row("run-uid"))
    ledger = a_ledger(CAMPAIGN, admitted())
    counted: list[Row] = []
    assert adopt_rows(ledger, CAMPAIGN, store, counted.append) == [RUN.id]
    assert [each.run for each in counted] == [RUN.id]
    (attempt,) = ledger.runs[RUN.id].attempts
    assert (attempt.row_key, attempt.reason) == (key, "QuotaDenied")
    assert ledger.live() == []
    assert adopt_rows(ledger, CAMPAIGN, store, counted.append) == [], "once"
    assert (len(counted), ledger.rows) == (1, 1)


def test_the_row_of_a_run_whose_object_is_gone_counts_and_its_second_attempt_is_still_due(
    store: FolderStore,
) -> None:
    store.create_only(row_key("tiny", RUN.id, 1), row("gone"))
    ledger = a_ledger(CAMPAIGN)
    assert adopt_rows(ledger, CAMPAIGN, store, lambda _: None) == []
    assert [each.number for each in ledger.orphans[RUN.id]] == [1]
    assert not ledger.done(RUN.id)
    decision = ledger.standing.decide(CAMPAIGN.limits, [], suspend=False, cancel=False)
    assert [start.attempt for start in decision.start] == [2]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"not": "a row"}', "schema"),
        (row("another-run-object"), "another run object"),
    ],
)
def test_what_is_not_ours_is_named_and_not_counted(
    store: FolderStore, content: bytes, said: str
) -> None:
    store.create_only(row_key("tiny", RUN.id, 1), content)
    ledger = a_ledger(CAMPAIGN, admitted())
    assert adopt_rows(ledger, CAMPAIGN, store, lambda _: None) == []
    assert said in ledger.foreign[RUN.id]
    assert len(ledger.live()) == 1


def test_a_row_of_another_protocol_is_not_ours(store: FolderStore) -> None:
    store.create_only(row_key("tiny", RUN.id, 1), row("run-uid"))
    other = a_held_campaign(repeats=2)
    ledger = a_ledger(other)
    adopt_rows(ledger, other, store, lambda _: None)
    assert f"not of {other.digest}" in ledger.foreign[RUN.id]
    assert ledger.orphans == {}
