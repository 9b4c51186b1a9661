"""Waits are told by the API server's clock, whatever the operator's machine believes."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from agentbench.kube.clock import ServerClock

TRUE = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize("off", [timedelta(minutes=-5), timedelta(0), timedelta(minutes=5)])
def test_the_time_is_the_servers_within_two_seconds(off: timedelta) -> None:
    clock = ServerClock(lambda: TRUE + off)
    clock.heard(format_datetime(TRUE, usegmt=True))
    assert abs(clock.now() - TRUE) <= timedelta(seconds=2)


def test_a_second_more_or_less_does_not_make_the_time_jump() -> None:
    local = [TRUE]
    clock = ServerClock(lambda: local[0])
    for seconds in range(5):
        local[0] = TRUE + timedelta(seconds=seconds, milliseconds=900)
        clock.heard(format_datetime(TRUE + timedelta(seconds=seconds), usegmt=True))
        assert clock.now() == local[0]


def test_a_clock_that_is_set_while_we_run_is_noticed() -> None:
    local = [TRUE - timedelta(minutes=5)]
    clock = ServerClock(lambda: local[0])
    clock.heard(format_datetime(TRUE, usegmt=True))
    local[0] = TRUE + timedelta(seconds=10)
    clock.heard(format_datetime(TRUE + timedelta(seconds=10), usegmt=True))
    assert abs(clock.now() - local[0]) <= timedelta(seconds=2)


@pytest.mark.parametrize("said", [None, "", "yesterday"])
def test_a_date_that_is_none_is_passed_over(said: str | None) -> None:
    clock = ServerClock(lambda: TRUE)
    clock.heard(said)
    assert clock.now() == TRUE
