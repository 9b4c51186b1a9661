"""The port to wherever rows, artifacts and bundles are kept.

A key is a relative path with forward slashes. What is created once never changes; the few things
that do change (a pointer to the newest result) change by compare-and-swap.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Protocol

MAX_KEY = 900
_SEGMENT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._@=+-]*")


class StoreError(RuntimeError):
    """The store could not do what was asked; the message says what to do about it."""


class InvalidKey(StoreError):
    """The key is no relative path of plain names."""


class NotFound(StoreError):
    """Nothing is stored under the key."""


class Conflict(StoreError):
    """Other content is stored under the key, and what is stored never changes."""


class Changed(StoreError):
    """A compare-and-swap lost: the content is no longer what the caller had read."""


class StoreFull(StoreError):
    """No space is left; nothing was stored."""


class Unreachable(StoreError):
    """The store does not answer, or not yet; the same call may succeed later."""


class Put(StrEnum):
    """What a create-only put did."""

    CREATED = "created"
    SAME = "same"  # the very same content was there already


@dataclass(frozen=True, slots=True)
class Entry:
    """Stored content, and the mark by which a compare-and-swap knows it again."""

    content: bytes
    etag: str


class Store(Protocol):
    """Create-only put, get, list and compare-and-swap. Every method may raise StoreError."""

    def create_only(self, key: str, content: bytes) -> Put:
        """Store content under a new key, durably before this returns.

        Raises:
            Conflict: other content is there; it is left as it is.
            StoreFull: no space is left; nothing was stored.
        """

    def put_file(self, key: str, path: Path) -> Put:
        """Do the same with the content of a file, without holding it in memory."""

    def get(self, key: str) -> bytes:
        """The content under a key; NotFound if there is none."""

    def read(self, key: str) -> Entry | None:
        """The content under a key with its etag, or None."""

    def open(self, key: str) -> BinaryIO:
        """A stream of the content under a key; NotFound if there is none."""

    def list(self, prefix: str) -> Iterator[str]:
        """The keys that start with a prefix, in the order of their bytes, read as they are asked.

        A key created meanwhile may or may not be among them.
        """

    def compare_and_swap(self, key: str, content: bytes, expected: str | None) -> str:
        """Replace the content that has the etag `expected`; None means that none is there.

        Returns the new etag.

        Raises:
            Changed: something else is there; it is left as it is.
        """


def etag_of(content: bytes) -> str:
    """The etag of some content: its sha256 in hex."""
    return sha256(content).hexdigest()


def check_key(key: str) -> str:
    """Return the key, if every store can hold it.

    Raises:
        InvalidKey: it is empty, absolute, too long, or has a segment that is hidden or no name.
    """
    segments = key.split("/")
    bad = next((part for part in segments if not _SEGMENT.fullmatch(part)), None)
    if bad is not None or len(key) > MAX_KEY:
        raise InvalidKey(
            f"store key {key[:100]!r}: every part between slashes must begin with a letter, digit "
            f"or underscore, hold no space, and the whole have at most {MAX_KEY} characters"
        )
    return key
