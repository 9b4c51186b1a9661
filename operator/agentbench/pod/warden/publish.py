"""Turns a private file into an artifact: redacted, scanned again, or withheld."""

import hashlib
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

import zstandard

from agentbench.core.summary import StoredFile
from agentbench.pod.warden.redact import BLOCK, Redactor

LEVEL = 6  # of zstd


@dataclass(frozen=True, slots=True)
class Published:
    """An artifact, and how often each secret was taken out of it."""

    file: StoredFile
    redacted: Counter[str] = field(default_factory=Counter)


def redact_file(source: Path, target: Path, redactor: Redactor) -> Counter[str]:
    """Write the redacted content of `source` to `target`; how often each secret was taken out.

    A name that ends in `.zst` stands for a compressed file, on either side.
    """
    stream = redactor.stream()
    with _reading(source) as incoming, _writing(target) as outgoing:
        while block := incoming.read(BLOCK):
            outgoing.write(stream.feed(block))
        outgoing.write(stream.finish())
    return stream.counts


def scan_file(path: Path, redactor: Redactor) -> tuple[str, ...]:
    """The second scan of a redacted file: the names of the secrets that it still holds."""
    with _reading(path) as content:
        return redactor.scan(content)


def publish(
    source: Path, target: Path, redactor: Redactor, *, truncated: bool = False
) -> Published:
    """Redact `source` into `target` and scan that again; on a finding `target` is not kept."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".redact-") as folder:
        draft = Path(folder) / target.name
        counts = redact_file(source, draft, redactor)
        if left := scan_file(draft, redactor):
            return Published(withheld(target.name, left, truncated=truncated), counts)
        stored = stored_file(draft, truncated=truncated)
        draft.replace(target)
    return Published(stored, counts)


def withheld(name: str, left: tuple[str, ...], *, truncated: bool = False) -> StoredFile:
    """What the record says of an artifact that is not given out."""
    return StoredFile(
        name=name,
        sha256=hashlib.sha256(b"").hexdigest(),
        size=0,
        truncated=truncated,
        withheld=f"the second scan still found: {', '.join(left)}",
    )


def stored_file(path: Path, *, truncated: bool = False) -> StoredFile:
    """Name, size and sha256 of a file."""
    with path.open("rb") as content:
        digest = hashlib.file_digest(content, "sha256").hexdigest()
    return StoredFile(name=path.name, sha256=digest, size=path.stat().st_size, truncated=truncated)


@contextmanager
def _reading(path: Path) -> Iterator[BinaryIO]:
    with path.open("rb") as raw:
        if path.suffix != ".zst":
            yield raw
            return
        with zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True) as plain:
            yield cast(BinaryIO, plain)


@contextmanager
def _writing(path: Path) -> Iterator[BinaryIO]:
    with path.open("wb") as raw:
        os.fchmod(raw.fileno(), 0o644)
        if path.suffix != ".zst":
            yield raw
            return
        with zstandard.ZstdCompressor(level=LEVEL).stream_writer(raw, closefd=False) as packed:
            yield cast(BinaryIO, packed)
