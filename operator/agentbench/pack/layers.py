"""Layers: parts of a pack as tar archives that have the same bytes on every machine.

Names are sorted; times, owners and all of the mode but "executable" are fixed; folders have no
entries of their own, so an empty one (which git does not keep either) moves no digest. A layer is
named by the sha256 of its uncompressed tar, so that no release of a compressor can rename it.
"""

import hashlib
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Protocol

import zstandard

from agentbench.core.bundle import Layer, LayerFile
from agentbench.core.keys import layer_key
from agentbench.pack.atomic import replacing
from agentbench.pack.files import Member

MODIFIED = 315_619_200  # 1980-01-02: zip archives, and so some build tools, know no earlier year
ZSTD_LEVEL = 10
_CHUNK = 1024 * 1024


class _Sink(Protocol):
    def write(self, content: bytes, /) -> object: ...


class _Hashing:
    """Counts and hashes what passes through to a sink."""

    def __init__(self, sink: _Sink | None = None):
        self.sink = sink
        self.size = 0
        self.sha = hashlib.sha256()

    def write(self, content: bytes) -> int:
        self.sha.update(content)
        self.size += len(content)
        if self.sink is not None:
            self.sink.write(content)
        return len(content)

    @property
    def name(self) -> str:
        return f"sha256:{self.sha.hexdigest()}"


class _Reader:
    """Hashes a file while tarfile reads it: one pass, and the bytes that were packed."""

    def __init__(self, file: IO[bytes]):
        self.file = file
        self.sha = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        content = self.file.read(size)
        self.sha.update(content)
        return content


@dataclass(frozen=True, slots=True)
class Content:
    """A member of a layer under the name that it has there."""

    name: str
    member: Member


def hash_layer(name: str, contents: Iterable[Content]) -> Layer:
    """What a layer would be, without writing it."""
    tar = _Hashing()
    files = _write_tar(tar, contents)
    return Layer(name=name, sha256=tar.name, size=tar.size, files=files)


def write_layer(name: str, contents: Iterable[Content], folder: Path) -> Layer:
    """Write a layer below a folder, under its key; what is there already stays."""
    (folder / "layers").mkdir(parents=True, exist_ok=True)
    with replacing(folder / "layers" / f".{name.replace('/', '-')}") as draft:
        with _compressor().stream_writer(draft.file, closefd=False) as packed:
            tar = _Hashing(packed)
            files = _write_tar(tar, contents)
        draft.target = folder / layer_key(tar.name)
    return Layer(name=name, sha256=tar.name, size=tar.size, files=files)


@cache
def _compressor() -> zstandard.ZstdCompressor:
    """One for all layers: its tables take longer to make than a small layer to compress."""
    return zstandard.ZstdCompressor(level=ZSTD_LEVEL, write_checksum=True)


def hash_stored(path: Path) -> str:
    """The sha256 of the tar inside a stored layer.

    Raises:
        ValueError: the file is no whole zstd stream.
    """
    with path.open("rb") as file:
        return hash_packed(file)


def hash_packed(stream: IO[bytes]) -> str:
    """The sha256 of the tar inside a stream of a stored layer; ValueError as `hash_stored`."""
    sha = hashlib.sha256()
    try:
        for chunk in zstandard.ZstdDecompressor().read_to_iter(stream, read_size=_CHUNK):
            sha.update(chunk)
    except zstandard.ZstdError as error:
        raise ValueError(f"no whole zstd stream: {error}") from error
    return f"sha256:{sha.hexdigest()}"


def _write_tar(sink: _Hashing, contents: Iterable[Content]) -> tuple[LayerFile, ...]:
    files = []
    with tarfile.open(
        fileobj=sink,  # type: ignore[call-overload]
        mode="w|",
        format=tarfile.GNU_FORMAT,
        encoding="utf-8",
        errors="strict",
    ) as tar:
        for content in sorted(contents, key=lambda each: each.name):
            files.append(_add(tar, content))
    return tuple(files)


def _add(tar: tarfile.TarFile, content: Content) -> LayerFile:
    member, info = content.member, tarfile.TarInfo(content.name)
    info.mtime = MODIFIED
    info.mode = 0o755 if member.executable else 0o644
    if member.link is not None:
        info.type, info.linkname, info.mode = tarfile.SYMTYPE, member.link, 0o777
        tar.addfile(info)
        return LayerFile(path=content.name, mode=info.mode, size=0, link=member.link)
    info.size = member.path.stat().st_size
    with member.path.open("rb") as file:
        reader = _Reader(file)
        tar.addfile(info, reader)
    return LayerFile(
        path=content.name,
        mode=info.mode,
        size=info.size,
        sha256=f"sha256:{reader.sha.hexdigest()}",
    )
