"""The final state of a workspace as one archive, and that archive as a workspace again."""

import os
import stat
import tarfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

import zstandard

from agentbench.pod.trees import remove_tree

MAX_FILES = 500_000
MAX_DEPTH = 120
NAMED = 50  # special files that are named, each; the others are counted
MODIFIED = 315_619_200  # 1980-01-02: the same in every archive, and old enough for every tool
ZSTD_LEVEL = 3

_SPECIAL = {
    stat.S_IFIFO: "pipe",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "device",
    stat.S_IFBLK: "device",
}


class UnsafeArchive(RuntimeError):
    """An archive names a place outside of the folder that it is unpacked into."""


class SnapshotTooLarge(RuntimeError):
    """The workspace passes a bound of the snapshot; the message names which."""


@dataclass(slots=True)
class Captured:
    """What an archive holds. Size in bytes, before compression."""

    files: int = 0
    size: int = 0
    left_out: list[str] = field(default_factory=list)
    more_left_out: int = 0

    def notes(self) -> tuple[str, ...]:
        """What was left out, in words for the row."""
        more = f" and {self.more_left_out} more" if self.more_left_out else ""
        if not self.left_out:
            return ()
        return (f"not in the final state: {', '.join(self.left_out)}{more}",)


def capture(workspace: Path, target: Path, limit: int) -> Captured:
    """Archive a workspace in which nothing lives any more; `limit` in bytes.

    Symbolic links stay links and are never followed; special files are left out and named. Files
    that nobody may read are read: they belong to the agent, who could have.

    Raises:
        SnapshotTooLarge: it has more bytes, files or levels than are allowed; nothing is left.
    """
    captured = Captured()
    compressor = zstandard.ZstdCompressor(level=ZSTD_LEVEL, write_checksum=True)
    try:
        with (
            target.open("wb") as stream,
            compressor.stream_writer(stream, closefd=False) as packed,
            tarfile.open(
                fileobj=cast("BinaryIO", packed),
                mode="w|",
                format=tarfile.PAX_FORMAT,
                encoding="utf-8",
                errors="surrogateescape",
            ) as tar,
        ):
            for entry in _walk(workspace, "", 1):
                _add(tar, entry, captured, limit)
        with target.open("rb") as written:
            os.fsync(written.fileno())
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    return captured


def restore(archive: Path, workspace: Path, owner: tuple[int, int] | None) -> None:
    """Unpack an archive into an empty folder, owned by the sandbox's user."""
    with (
        archive.open("rb") as stream,
        zstandard.ZstdDecompressor().stream_reader(stream) as packed,
    ):
        restore_tar(cast("BinaryIO", packed), workspace, owner)


def restore_tar(stream: BinaryIO, workspace: Path, owner: tuple[int, int] | None) -> None:
    """Unpack a tar into a folder; nothing is written outside of it.

    Raises:
        UnsafeArchive: a member's name leads out of the folder.
    """
    root = workspace.resolve()
    folders: list[tuple[Path, int]] = []
    with tarfile.open(fileobj=stream, mode="r|", errors="surrogateescape") as tar:
        for member in tar:
            target = _inside(root, member.name)
            if member.isdir():
                # Its own mode comes last: it may forbid us to fill it.
                target.mkdir(mode=0o700, exist_ok=True)
                folders.append((target, member.mode))
            elif member.issym():
                target.symlink_to(member.linkname)
            elif member.isfile():
                _write(tar, member, target)
            else:
                raise UnsafeArchive(f"{member.name!r} is no file, folder or link")
            if owner is not None:
                os.chown(target, *owner, follow_symlinks=False)
    for folder, mode in reversed(folders):
        folder.chmod(mode)


def _inside(root: Path, name: str) -> Path:
    """Where a member goes; its folders are made, and none of them may be a link out."""
    target = root / name
    if name.startswith("/") or ".." in target.parts or target == root:
        raise UnsafeArchive(f"{name!r} leads out of the folder")
    target.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    if not target.parent.resolve().is_relative_to(root):
        raise UnsafeArchive(f"{name!r} leads out of the folder by a link")
    return target


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    path: Path
    status: os.stat_result


def _walk(folder: Path, prefix: str, depth: int) -> Iterator[_Entry]:
    if depth > MAX_DEPTH:
        raise SnapshotTooLarge(f"{prefix[:200]}: folders are nested more than {MAX_DEPTH} deep")
    _open_up(folder, stat.S_IRWXU)
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: os.fsencode(entry.name))
    for entry in entries:
        name = prefix + entry.name
        status = entry.stat(follow_symlinks=False)
        yield _Entry(name, Path(entry.path), status)
        if stat.S_ISDIR(status.st_mode):
            yield from _walk(Path(entry.path), f"{name}/", depth + 1)


def _add(tar: tarfile.TarFile, entry: _Entry, captured: Captured, limit: int) -> None:
    mode = entry.status.st_mode
    special = _SPECIAL.get(stat.S_IFMT(mode))
    if special is not None:
        if len(captured.left_out) < NAMED:
            captured.left_out.append(f"{special} {ascii(entry.name)[1:-1][:200]}")
        else:
            captured.more_left_out += 1
        return
    captured.files += 1
    if captured.files > MAX_FILES:
        raise SnapshotTooLarge(f"the workspace has more than {MAX_FILES} files")
    info = tarfile.TarInfo(entry.name)
    info.mode, info.mtime = stat.S_IMODE(mode) & 0o777, MODIFIED
    if stat.S_ISLNK(mode):
        info.type, info.linkname = tarfile.SYMTYPE, str(entry.path.readlink())
        tar.addfile(info)
    elif stat.S_ISDIR(mode):
        info.type = tarfile.DIRTYPE
        tar.addfile(info)
    else:
        info.size = entry.status.st_size
        captured.size += info.size
        if captured.size > limit:
            raise SnapshotTooLarge(
                f"the workspace has more than {limit >> 20} MiB, the bound of a final state"
            )
        _open_up(entry.path, stat.S_IRUSR)
        descriptor = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as content:
            tar.addfile(info, content)


def _open_up(path: Path, needed: int) -> None:
    """Give ourselves the right to read what the agent closed; root has it anyway."""
    if os.geteuid() != 0:
        with suppress(OSError):
            mode = stat.S_IMODE(path.stat(follow_symlinks=False).st_mode)
            if mode & needed != needed:
                path.chmod(mode | needed)


def _write(tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    content = tar.extractfile(member)
    assert content is not None
    with target.open("xb") as stream:
        while chunk := content.read(1 << 20):
            stream.write(chunk)
    target.chmod(member.mode)


def copy_into(source: Path, workspace: Path, owner: tuple[int, int] | None) -> None:
    """Lay the files of an unpacked layer over a workspace, owned by the sandbox's user.

    What is in the way of a file is replaced.
    """
    for folder, names, files in os.walk(source):
        relative = Path(folder).relative_to(source)
        for name in [*names, *files]:
            origin, target = Path(folder, name), workspace / relative / name
            if origin.is_dir() and not origin.is_symlink():
                if target.is_symlink() or not target.is_dir():
                    target.unlink(missing_ok=True)
                    target.mkdir(mode=0o755)
            else:
                remove_tree(target) if target.is_dir() else target.unlink(missing_ok=True)
                if origin.is_symlink():
                    target.symlink_to(origin.readlink())
                else:
                    target.write_bytes(origin.read_bytes())
                    target.chmod(stat.S_IMODE(origin.stat().st_mode))
            if owner is not None:
                os.chown(target, *owner, follow_symlinks=False)
