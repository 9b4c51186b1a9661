"""A folder as a store: it keeps its promise through kill -9 and with several processes at once.

New content is written to a file without a name, synced, and then given its name by a link, which
fails if the name is taken. So a reader sees the whole content or none, and nothing has to be
cleaned up after a crash.
"""

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

from agentbench.store.port import (
    Changed,
    Conflict,
    Entry,
    NotFound,
    Put,
    StoreError,
    StoreFull,
    check_key,
    etag_of,
)

PRIVATE = ".agent-bench"
"""The part of the folder that is no content: locks, unfinished files, the engine's own state."""

_CHUNK = 1 << 20
_ABANDONED = 86_400.0  # seconds: no put takes a day
_NO_TMPFILE = {errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL}
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class FolderStore:
    """A store in a folder of this machine. The folder is made if it is not there.

    Its file system must know hard links and locks: any local one does.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
        self._root = str(self.root)  # a path made of text is made ten times faster
        with _spoken(self.root):
            self._make_folder(self.root)
            (self.root / PRIVATE).mkdir(mode=0o700, exist_ok=True)
            self._tidy()

    def create_only(self, key: str, content: bytes) -> Put:
        """Store content under a new key; see `Store`."""
        target = self._path(key)
        with _spoken(target):
            with self._unnamed(target.parent) as (descriptor, source):
                _write(descriptor, content)
                os.fsync(descriptor)
                put = _link(descriptor, source, target)
            if put is Put.SAME and not _same_bytes(target, content):
                raise _conflict(key)
            _sync_folder(target.parent)
        return put

    def put_file(self, key: str, path: Path) -> Put:
        """Store a file's content under a new key; see `Store`."""
        target = self._path(key)
        with _spoken(target), path.open("rb") as content:
            if target.exists():
                put = Put.SAME
            else:
                with self._unnamed(target.parent) as (descriptor, source):
                    while chunk := content.read(_CHUNK):
                        _write(descriptor, chunk)
                    os.fsync(descriptor)
                    put = _link(descriptor, source, target)
            if put is Put.SAME and not _same_file(target, path):
                raise _conflict(key)
            _sync_folder(target.parent)
        return put

    def get(self, key: str) -> bytes:
        """The content under a key; NotFound if there is none."""
        path = f"{self._root}/{check_key(key)}"
        try:
            with open(path, "rb", buffering=0) as stream:  # noqa: PTH123 - text is faster
                return stream.read()
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            raise self._missing(key) from None
        except OSError as error:
            raise _refusal(path, error) from error

    def read(self, key: str) -> Entry | None:
        """The content under a key with its etag, or None."""
        try:
            content = self.get(key)
        except NotFound:
            return None
        return Entry(content, etag_of(content))

    def open(self, key: str) -> BinaryIO:
        """A stream of the content under a key; NotFound if there is none."""
        path = self._path(key)
        with _spoken(path):
            try:
                return path.open("rb")
            except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
                raise self._missing(key) from None

    def list(self, prefix: str) -> Iterator[str]:
        """The keys that start with a prefix, in the order of their bytes."""
        folder, _, _ = prefix.rpartition("/")
        if folder:
            check_key(folder)
        return self._walk(folder, prefix)

    def compare_and_swap(self, key: str, content: bytes, expected: str | None) -> str:
        """Replace content that has a known etag; see `Store`."""
        target = self._path(key)
        with _spoken(target), self._swapping():
            entry = self.read(key)
            found = entry.etag if entry else None
            if found != expected:
                raise Changed(f"{key!r} was changed meanwhile: read it again and try once more")
            fresh = self.root / PRIVATE / f"swap-{token_hex(8)}"
            self._make_folder(target.parent)
            try:
                with fresh.open("xb") as stream:
                    stream.write(content)
                    stream.flush()
                    os.fsync(stream.fileno())
                fresh.replace(target)
            finally:
                fresh.unlink(missing_ok=True)
            _sync_folder(target.parent)
        return etag_of(content)

    def _missing(self, key: str) -> NotFound:
        return NotFound(f"nothing is stored under {key!r} in {self.root}")

    def _path(self, key: str) -> Path:
        return self.root / check_key(key)

    def _walk(self, folder: str, prefix: str) -> Iterator[str]:
        base = f"{self._root}/{folder}" if folder else self._root
        try:
            with os.scandir(base) as entries:
                # A folder sorts as its keys do, with the slash: the order of an object store.
                names = sorted(
                    entry.name + ("/" if entry.is_dir(follow_symlinks=False) else "")
                    for entry in entries
                    if not entry.name.startswith(".")
                )
        except (FileNotFoundError, NotADirectoryError):
            return
        for name in names:
            key = f"{folder}/{name}" if folder else name
            if key.endswith("/"):
                if key.startswith(prefix) or prefix.startswith(key):
                    yield from self._walk(key[:-1], prefix)
            elif key.startswith(prefix):
                yield key

    @contextmanager
    def _unnamed(self, folder: Path) -> Iterator[tuple[int, str]]:
        """An open file without a name in the folder, and the path to link it from."""
        self._make_folder(folder)
        named: Path | None = None
        try:
            descriptor = os.open(folder, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o644)
            source = f"/proc/self/fd/{descriptor}"
        except OSError as error:
            if error.errno not in _NO_TMPFILE:
                raise
            named = self.root / PRIVATE / f"put-{token_hex(8)}"
            flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC
            descriptor = os.open(named, flags, 0o644)
            source = str(named)
        try:
            yield descriptor, source
        finally:
            os.close(descriptor)
            if named is not None:
                named.unlink(missing_ok=True)

    @contextmanager
    def _swapping(self) -> Iterator[None]:
        """One compare-and-swap at a time; the kernel lets go when a process dies."""
        flags = os.O_CREAT | os.O_RDWR | os.O_CLOEXEC
        lock = os.open(self.root / PRIVATE / "swap.lock", flags, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def _tidy(self) -> None:
        """Remove what a killed process left unfinished; whoever holds the lock owns every swap."""
        with self._swapping():
            for left in (self.root / PRIVATE).glob("swap-*"):
                left.unlink(missing_ok=True)
        for left in (self.root / PRIVATE).glob("put-*"):
            with suppress(FileNotFoundError):
                if time.time() - left.stat().st_mtime > _ABANDONED:
                    left.unlink()

    def _make_folder(self, folder: Path) -> None:
        if folder.is_dir():
            return
        self._make_folder(folder.parent)
        with suppress(FileExistsError):
            folder.mkdir(mode=0o755)
            _sync_folder(folder.parent)


@contextmanager
def _spoken(path: Path) -> Iterator[None]:
    """Turn what the operating system refuses into an error with its cure."""
    try:
        yield
    except OSError as error:
        raise _refusal(path, error) from error


def _refusal(path: Path | str, error: OSError) -> StoreError:
    if error.errno in _FULL:
        return StoreFull(
            f"no space is left to store {path}: nothing was stored; free some space on that "
            "disk and run the same command again"
        )
    return StoreError(f"the store cannot use {path}: {error.strerror}")


def _conflict(key: str) -> Conflict:
    return Conflict(
        f"{key!r} holds other content already, and what is stored never changes: "
        "use another store, or find out who wrote it"
    )


def _write(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def _link(descriptor: int, source: str, target: Path) -> Put:
    try:
        # Python follows the link in /proc only where a folder's descriptor is given, too; an
        # absolute source ignores it.
        os.link(source, target, src_dir_fd=descriptor, follow_symlinks=True)
    except FileExistsError:
        return Put.SAME
    return Put.CREATED


def _same_bytes(path: Path, content: bytes) -> bool:
    return path.stat().st_size == len(content) and path.read_bytes() == content


def _same_file(one: Path, other: Path) -> bool:
    if one.stat().st_size != other.stat().st_size:
        return False
    with one.open("rb") as left, other.open("rb") as right:
        while chunk := left.read(_CHUNK):
            if chunk != right.read(_CHUNK):
                return False
    return True


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
