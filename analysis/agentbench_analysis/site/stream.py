"""Stored files, read up to a bound."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

OpenArtifact = Callable[[str], Iterable[bytes] | None]
"""Opens the artifact stored under a key: its bytes in chunks, or None where there is none."""


@dataclass(frozen=True, slots=True)
class Bounded:
    """The first bytes of a stored file as text, and whether more followed.

    Bytes that are not UTF-8 become U+FFFD, counted in `replaced`.
    """

    text: str
    cut: bool
    replaced: int


def read(chunks: Iterable[bytes], limit: int) -> Bounded:
    """Read at most `limit` bytes; what follows is never pulled from the source."""
    kept = bytearray()
    cut = False
    for chunk in chunks:
        room = limit - len(kept)
        kept += chunk[:room]
        if len(chunk) > room:
            cut = True
            break
    text = kept.decode("utf-8", "replace")
    return Bounded(text, cut, text.count("\ufffd"))
