"""Reads one answer of a model API as its bytes pass: a stream of events or one JSON document."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol

from agentbench.core.calls import Api
from agentbench.core.sse import EventSplitter
from agentbench.core.usage import Reading
from agentbench.core.usage_anthropic import MessagesFold
from agentbench.core.usage_openai import ChatFold, ResponsesFold


class Fold(Protocol):
    """Counts one answer of one API."""

    def feed(self, event: Mapping[str, Any]) -> None:
        """Take one event of a stream."""

    def feed_whole(self, body: Mapping[str, Any]) -> None:
        """Take an answer that was not streamed."""

    def reading(self) -> Reading:
        """What has been read so far."""

    @property
    def ended(self) -> bool:
        """Whether the event came that closes an answer of this API."""


def fold_for(api: Api, *, one_hour_cache: bool = False) -> Fold:
    """The fold of an API."""
    match api:
        case Api.MESSAGES:
            return MessagesFold(one_hour_cache=one_hour_cache)
        case Api.RESPONSES:
            return ResponsesFold()
        case Api.CHAT:
            return ChatFold()


class AnswerReader:
    """Takes an answer's decoded bytes in any chunks; never raises on what they hold.

    `limit` bounds one event of a stream, or a whole JSON answer, in bytes.
    """

    def __init__(self, fold: Fold, *, streamed: bool, limit: int) -> None:
        self._fold = fold
        self._limit = limit
        self._splitter = EventSplitter(limit) if streamed else None
        self._body: list[bytes] = []
        self._size = 0
        self._garbled = 0
        self._done = False

    @property
    def streamed(self) -> bool:
        """Whether the answer is a stream of events."""
        return self._splitter is not None

    @property
    def ended(self) -> bool:
        """Whether the answer's own closing mark has come."""
        return self._done or self._fold.ended

    def feed(self, chunk: bytes) -> None:
        """Take a piece of the answer."""
        if self._splitter is not None:
            for data in self._splitter.feed(chunk):
                self._event(data)
            return
        self._size += len(chunk)
        if self._size <= self._limit:
            self._body.append(chunk)
        else:
            self._body = []

    def finish(self) -> Reading:
        """Take the end of the answer, and say what it held."""
        if self._splitter is not None:
            for data in self._splitter.finish():
                self._event(data)
        elif self._size <= self._limit:
            body = _json_object(b"".join(self._body))
            if body is None:
                self._garbled += 1
            else:
                self._fold.feed_whole(body)
        self._body = []
        return self.reading()

    def reading(self) -> Reading:
        """What has been read so far."""
        reading = self._fold.reading()
        if reading.complete or reading.reason is not None:
            return reading
        if self._size > self._limit or (self._splitter is not None and self._splitter.overflowed):
            return replace(reading, reason=f"the answer held more than {self._limit} bytes at once")
        if self._garbled:
            return replace(reading, reason="the answer held what is not JSON")
        return reading

    def _event(self, data: bytes) -> None:
        if data == b"[DONE]":
            self._done = True
            return
        event = _json_object(data)
        if event is None:
            self._garbled += 1
        else:
            self._fold.feed(event)


def _json_object(data: bytes) -> Mapping[str, Any] | None:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
