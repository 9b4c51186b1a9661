"""A store that is away for minutes is waited for, once for all files, and within what is left."""

import urllib.error
import urllib.request
from email.message import Message
from io import BytesIO
from typing import Any

import pytest

from agentbench.pod.told import Upload
from agentbench.pod.transfer import PATIENCE, PAUSE, TRIES, Put, Transfer, TransferError

THERE = Upload(url="http://store.test/key", headers={"If-None-Match": "*"})


class Outage:
    """A store that answers with an error until so many seconds have passed."""

    def __init__(self, seconds: float, code: int | None = 503) -> None:
        self.now, self.until, self.code, self.asked = 0.0, seconds, code, 0

    def open(self, request: Any, timeout: float) -> BytesIO:
        self.asked += 1
        if self.now >= self.until:
            return BytesIO(b"")
        if self.code is None:
            raise urllib.error.URLError("refused")
        raise urllib.error.HTTPError("u", self.code, "no", Message(), None)

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def transfer(outage: Outage, monkeypatch: pytest.MonkeyPatch) -> Transfer:
    monkeypatch.setattr(urllib.request, "build_opener", lambda *_: outage)
    return Transfer(sleep=outage.sleep, clock=lambda: outage.now)


@pytest.mark.parametrize("code", [503, 429, None])
def test_an_outage_of_four_minutes_loses_nothing(
    monkeypatch: pytest.MonkeyPatch, code: int | None
) -> None:
    outage = Outage(240, code)
    assert transfer(outage, monkeypatch).upload(THERE, b"row") is Put.CREATED
    assert outage.now <= 240 + PAUSE
    assert outage.asked < 40, "with growing pauses"


def test_patience_is_one_for_all_files(monkeypatch: pytest.MonkeyPatch) -> None:
    outage = Outage(1e9)
    one = transfer(outage, monkeypatch)
    for _ in range(7):
        with pytest.raises(TransferError):
            one.upload(THERE, b"file")
    assert outage.now <= PATIENCE + PAUSE + 7 * TRIES


def test_a_program_that_must_end_soon_says_how_long_it_can_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outage = Outage(1e9)
    one = transfer(outage, monkeypatch)
    one.allow(30)
    with pytest.raises(TransferError):
        one.upload(THERE, b"file")
    assert outage.now <= 30 + PAUSE
    assert outage.asked > TRIES


def test_a_refusal_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    outage = Outage(1e9, 403)
    with pytest.raises(TransferError, match="403"):
        transfer(outage, monkeypatch).upload(THERE, b"file")
    assert outage.asked == 1


def test_what_is_there_already_is_present(monkeypatch: pytest.MonkeyPatch) -> None:
    assert transfer(Outage(1e9, 412), monkeypatch).upload(THERE, b"file") is Put.PRESENT
