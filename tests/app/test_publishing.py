"""A publication is whole before anything points at it, and nothing is published twice."""

import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.fakes.published import NAME, StoredCampaign

from agentbench.core.keys import latest_key
from agentbench.core.publication import Latest, PublicationError, decode_latest
from agentbench.core.registered import RegisteredError
from agentbench.store.folder import FolderStore
from agentbench.store.port import Entry, Put, Store
from agentbench_analysis.errors import AnalysisError, NoRowsError


@pytest.fixture
def campaign(tmp_path: Path) -> StoredCampaign:
    made = StoredCampaign.make(FolderStore(tmp_path / "store"), tmp_path / "pack")
    made.register()
    return made


def latest(store: Store) -> Latest | None:
    entry = store.read(latest_key(NAME))
    return decode_latest(entry.content, latest_key(NAME)) if entry else None


class Killed(BaseException):
    """The publisher's process is gone; nothing of it catches this."""


class Watched(FolderStore):
    """A store that tells of every write before it is done."""

    def __init__(self, root: Path, before: Callable[[str], None]) -> None:
        super().__init__(root)
        self.before = before

    def create_only(self, key: str, content: bytes) -> Put:
        self.before(key)
        return super().create_only(key, content)

    def compare_and_swap(self, key: str, content: bytes, expected: str | None) -> str:
        self.before(key)
        return super().compare_and_swap(key, content, expected)


def test_everything_is_there_when_the_pointer_is(campaign: StoredCampaign) -> None:
    campaign.rows()
    done = campaign.publisher().publish()
    assert done.new
    assert done.latest == latest(campaign.store)
    assert done.latest.number == 1
    files = campaign.files(1)
    assert {"results.json", "verdict.json", "index.html", "tables/claims.csv"} <= files
    assert any("T1-S2-A1-r3" in name for name in files), "a page per run"
    verdict = json.loads(campaign.store.get(f"{NAME}/published/1/verdict.json"))
    assert done.latest.scored == verdict["scoredRuns"] == 6
    assert done.latest.planned == 6
    assert set(done.latest.hypotheses) == {"AB-H1", "AB-H2", "AB-H3", "AB-H4"}
    assert done.latest.hypotheses["AB-H4"] == "holds"
    assert done.latest.headline == verdict["headline"]


def test_nothing_new_publishes_nothing(campaign: StoredCampaign) -> None:
    campaign.rows()
    campaign.publisher().publish()
    before = campaign.store.read(latest_key(NAME))
    again = campaign.publisher().publish()
    assert not again.new
    assert campaign.store.read(latest_key(NAME)) == before
    assert campaign.files(2) == set()


@pytest.mark.parametrize("what", ["row", "adjudication", "amendment"])
def test_what_is_added_is_published_under_the_next_number(
    campaign: StoredCampaign, what: str
) -> None:
    run = campaign.row("S1", 1, passed=False)
    campaign.row("S2", 1)
    campaign.publisher().publish()
    if what == "row":
        campaign.row("S1", 2)
    elif what == "adjudication":
        campaign.adjudicate(run)
    else:
        campaign.amend()
        campaign.register()
    done = campaign.publisher().publish()
    assert done.new
    assert done.latest.number == 2
    assert latest(campaign.store) == done.latest
    results = json.loads(campaign.store.get(f"{NAME}/published/2/results.json"))
    judged = [each["judgement"] for each in results["attempts"] if each["judgement"]]
    assert len(judged) == (what == "adjudication")
    assert len(results["spec"]["amendments"]) == (what == "amendment")
    assert done.latest.covers(3 if what == "row" else 2, len(judged), what == "amendment")


def test_another_version_that_finds_the_same_numbers_takes_no_new_one(
    campaign: StoredCampaign,
) -> None:
    campaign.rows()
    first = campaign.publisher().publish()
    done = campaign.publisher(version="2").publish()
    assert not done.new
    assert done.latest.number == 1
    assert done.latest.inputs != first.latest.inputs
    assert campaign.files(2) == set()


def writes_of(campaign: StoredCampaign, root: Path) -> int:
    """How many writes a publication takes."""
    seen: list[str] = []
    campaign.publisher(Watched(root, seen.append)).publish()
    return len(seen)


def test_killed_before_any_write_it_is_never_half_seen_and_never_lost(tmp_path: Path) -> None:
    total = writes_of(campaign_in(tmp_path / "counted"), tmp_path / "counted/store")
    assert total > 40
    for at in (*range(0, total, 7), total - 2, total - 1):
        folder = tmp_path / str(at)
        campaign = campaign_in(folder)
        count = iter(range(10_000))
        lock = threading.Lock()

        def die(_: str, at: int = at, count: object = count, lock: object = lock) -> None:
            with lock:  # type: ignore[attr-defined]
                if next(count) >= at:  # type: ignore[call-overload]
                    raise Killed

        with pytest.raises(Killed):
            campaign.publisher(Watched(folder / "store", die)).publish()
        assert latest(campaign.store) is None, f"killed before write {at}"
        done = campaign.publisher().publish()
        assert done.latest.number == 1, "the same again goes on under the same number"
        assert len(campaign.files(1)) == total - 1


def campaign_in(folder: Path) -> StoredCampaign:
    made = StoredCampaign.make(FolderStore(folder / "store"), folder / "pack")
    made.register()
    made.rows()
    return made


def test_what_a_killed_publisher_left_is_passed_over_when_there_is_more_to_read(
    campaign: StoredCampaign, tmp_path: Path
) -> None:
    campaign.row("S1", 1)
    campaign.row("S2", 1)

    def die(key: str) -> None:
        if key.endswith("index.html"):
            raise Killed

    with pytest.raises(Killed):
        campaign.publisher(Watched(tmp_path / "store", die)).publish()
    left = campaign.files(1)
    campaign.row("S1", 2)
    done = campaign.publisher().publish()
    assert done.latest.number == 2
    assert "index.html" in campaign.files(2)
    assert campaign.files(1) == left


def test_of_two_at_once_with_the_same_rows_both_are_content_with_one_number(
    campaign: StoredCampaign, tmp_path: Path
) -> None:
    campaign.rows()
    other: list[Latest] = []

    def meet(key: str) -> None:
        if key == latest_key(NAME) and not other:
            other.append(campaign.publisher().publish().latest)

    done = campaign.publisher(Watched(tmp_path / "store", meet)).publish()
    assert not done.new
    assert done.latest == other[0] == latest(campaign.store)
    assert campaign.files(2) == set()


def test_who_read_less_than_another_never_moves_the_pointer_back(
    campaign: StoredCampaign, tmp_path: Path
) -> None:
    campaign.row("S1", 1)
    campaign.row("S2", 1)
    other: list[Latest] = []

    def meet(key: str) -> None:
        if key == latest_key(NAME) and not other:
            campaign.row("S1", 2)
            other.append(campaign.publisher().publish().latest)

    done = campaign.publisher(Watched(tmp_path / "store", meet)).publish()
    assert other[0].rows == 3
    assert latest(campaign.store) == done.latest == other[0]


def test_a_lost_answer_to_the_swap_is_found_to_have_been_one(
    campaign: StoredCampaign, tmp_path: Path
) -> None:
    campaign.rows()

    class Lost(FolderStore):
        def compare_and_swap(self, key: str, content: bytes, expected: str | None) -> str:
            super().compare_and_swap(key, content, expected)
            return super().compare_and_swap(key, content, expected)  # the client's second try

    done = campaign.publisher(Lost(tmp_path / "store")).publish()
    assert done.latest.number == 1
    assert latest(campaign.store) == done.latest


def test_without_a_row_there_is_nothing_to_publish(campaign: StoredCampaign) -> None:
    with pytest.raises(NoRowsError):
        campaign.publisher().publish()
    assert latest(campaign.store) is None


def test_a_campaign_that_nobody_registered_is_named(tmp_path: Path) -> None:
    campaign = StoredCampaign(FolderStore(tmp_path), None)  # type: ignore[arg-type]
    with pytest.raises(RegisteredError, match="tiny/protocol/ is empty"):
        campaign.publisher().publish()


def test_a_row_that_cannot_be_used_changes_nothing(campaign: StoredCampaign) -> None:
    campaign.rows()
    before = campaign.publisher().publish().latest
    campaign.store.create_only(f"{NAME}/rows/T1-S1-A1-r9/1.json", b"{}")
    with pytest.raises(AnalysisError, match=r"T1-S1-A1-r9/1\.json"):
        campaign.publisher().publish()
    assert latest(campaign.store) == before
    assert campaign.files(2) == set()


def test_a_pointer_that_is_none_is_named_and_left_alone(campaign: StoredCampaign) -> None:
    campaign.rows()
    campaign.store.compare_and_swap(latest_key(NAME), b"[]", None)
    with pytest.raises(PublicationError, match=r"tiny/published/latest\.json"):
        campaign.publisher().publish()
    assert campaign.store.read(latest_key(NAME)) == Entry(
        b"[]",
        campaign.store.read(latest_key(NAME)).etag,  # type: ignore[union-attr]
    )
