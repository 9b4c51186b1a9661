"""Leavings of recorded attempts go when their time is over, each once."""

from datetime import UTC, datetime, timedelta

from agentbench.app.cleanup import PATIENCE, Leavings

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def after(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def test_they_stay_for_the_lifetime_and_then_go_the_oldest_first() -> None:
    leavings = Leavings()
    leavings.add(("late", 1), after(20), failed=False)
    leavings.add(("early", 1), after(10), failed=True)
    assert list(leavings.due(after(60), 60, 0)) == []
    assert list(leavings.due(after(80), 60, 0)) == [("early", 1), ("late", 1)]
    assert list(leavings.due(after(90), 60, 0)) == []


def test_the_newest_failures_are_kept_for_a_look_until_there_are_newer_ones() -> None:
    leavings = Leavings()
    for number in range(3):
        leavings.add((f"failed-{number}", 1), after(number), failed=True)
    leavings.add(("passed", 1), after(5), failed=False)
    assert list(leavings.due(after(100), 10, 2)) == [("failed-0", 1), ("passed", 1)]
    leavings.add(("failed-3", 1), after(101), failed=True)
    assert list(leavings.due(after(120), 10, 2)) == [("failed-1", 1)]
    assert list(leavings.due(after(120), 10, 0)) == [("failed-2", 1), ("failed-3", 1)]


def test_a_shorter_lifetime_counts_at_once() -> None:
    leavings = Leavings()
    leavings.add(("r", 1), NOON, failed=False)
    assert list(leavings.due(after(30), 3600, 0)) == []
    assert list(leavings.due(after(31), 5, 0)) == [("r", 1)]


def test_what_is_going_is_not_deleted_twice_but_once_more_if_it_stays() -> None:
    leavings = Leavings()
    leavings.add(("r", 1), NOON, failed=False)
    assert list(leavings.due(after(1), 0, 0)) == [("r", 1)]
    leavings.add(("r", 1), NOON, failed=False)  # its pods are still seen
    assert list(leavings.due(after(2), 0, 0)) == []
    later = after(1) + PATIENCE
    assert list(leavings.due(later, 0, 0)) == []
    leavings.add(("r", 1), NOON, failed=False)
    assert list(leavings.due(later, 0, 0)) == [("r", 1)]


def test_of_failures_in_the_same_second_the_last_one_is_the_newest() -> None:
    leavings = Leavings()
    for name in ("z", "a", "m"):
        leavings.add((name, 1), NOON, failed=True)
    assert list(leavings.due(after(100), 10, 1)) == [("z", 1), ("a", 1)]
