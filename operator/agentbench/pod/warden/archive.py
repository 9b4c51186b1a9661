"""Redacts an archive of files (`.tar.zst`), member by member.

Members are rewritten only where a secret was found: an archive without any is published byte for
byte. Compressed members (gzip, zlib as in git's objects) are looked into one level deep; a secret
in there cannot be taken out, so the archive is withheld.
"""

import io
import shutil
import tarfile
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import zstandard

from agentbench.pod.warden.publish import LEVEL, Published, stored_file, withheld
from agentbench.pod.warden.redact import BLOCK, Redactor

COMPRESSED = (b"\x1f\x8b", b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
INNER = 64 * 1024 * 1024  # bytes of a compressed member that are looked into
IN_MEMORY = 1 << 20


def publish_archive(source: Path, target: Path, redactor: Redactor) -> Published:
    """Redact the archive `source` into `target` and scan that again, or withhold it."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".redact-") as folder:
        draft = Path(folder) / target.name
        counts = _redact(source, draft, redactor)
        if not counts:
            shutil.copyfile(source, draft)
        if left := scan_archive(draft, redactor):
            return Published(withheld(target.name, left), counts)
        stored = stored_file(draft)
        draft.replace(target)
    return Published(stored, counts)


def scan_archive(path: Path, redactor: Redactor) -> tuple[str, ...]:
    """The names of the secrets that an archive's names, members and compressed members hold."""
    left: set[str] = set()
    with _open(path) as archive:
        for member in archive:
            names = f"{member.name}\n{member.linkname}".encode("utf-8", "surrogateescape")
            left.update(redactor.scan(io.BytesIO(names)))
            content = archive.extractfile(member) if member.isfile() else None
            if content is None:
                continue
            head = content.read(2)
            with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY) as copy:
                copy.write(head)
                while block := content.read(BLOCK):
                    copy.write(block)
                copy.seek(0)
                left.update(redactor.scan(copy))
                if head in COMPRESSED:
                    copy.seek(0)
                    left.update(_inside(copy, redactor))
    return tuple(sorted(left))


def _redact(source: Path, target: Path, redactor: Redactor) -> Counter[str]:
    counts: Counter[str] = Counter()
    with (
        _open(source) as archive,
        target.open("wb") as raw,
        zstandard.ZstdCompressor(level=LEVEL).stream_writer(raw, closefd=False) as packed,
        tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as out,
    ):
        for member in archive:
            content = archive.extractfile(member) if member.isfile() else None
            for field in ("name", "linkname"):
                _redact_name(member, field, redactor, counts)
            if content is None:
                out.addfile(member)
                continue
            with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY) as copy:
                stream = redactor.stream()
                while block := content.read(BLOCK):
                    copy.write(stream.feed(block))
                copy.write(stream.finish())
                counts.update(stream.counts)
                member.size = copy.tell()
                copy.seek(0)
                out.addfile(member, copy)
    return counts


def _redact_name(
    member: tarfile.TarInfo, field: str, redactor: Redactor, counts: Counter[str]
) -> None:
    name = getattr(member, field).encode("utf-8", "surrogateescape")
    found = redactor.find(name)
    if found:
        counts.update(one.name for one in found)
        setattr(member, field, redactor.redact(name).decode("utf-8", "surrogateescape"))
        header = "path" if field == "name" else "linkpath"
        kept = {name: value for name, value in member.pax_headers.items() if name != header}
        member.pax_headers = kept


def _inside(content: IO[bytes], redactor: Redactor) -> Iterator[str]:
    """What stands in a compressed member; nothing if it is not compressed after all."""
    plain = zlib.decompressobj(wbits=47)
    read = 0
    tail = b""
    while read < INNER and (block := content.read(1 << 16)):
        try:
            text = tail + plain.decompress(block, BLOCK)
        except zlib.error:
            return
        read += len(text)
        yield from (one.name for one in redactor.find(text))
        tail = text[-redactor.hold :]


@contextmanager
def _open(path: Path) -> Iterator[tarfile.TarFile]:
    with (
        path.open("rb") as raw,
        zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True) as plain,
        tarfile.open(fileobj=plain, mode="r|") as archive,
    ):
        yield archive
