"""Layers: the same bytes on every machine, whatever the files' times, owners and modes."""

import io
import os
import tarfile
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from agentbench.core.bundle import Layer
from agentbench.core.keys import layer_key
from agentbench.pack.files import members
from agentbench.pack.layers import MODIFIED, Content, hash_layer, hash_stored, write_layer


def contents(folder: Path) -> list[Content]:
    return [Content(member.name, member) for member in members(folder)]


def layer(folder: Path) -> Layer:
    return hash_layer("seed/T01/S1", contents(folder))


def some_files(folder: Path) -> Path:
    (folder / "b/c").mkdir(parents=True)
    (folder / "a.txt").write_text("a")
    (folder / "b/run.sh").write_text("#!/bin/sh\n")
    (folder / "b/run.sh").chmod(0o755)
    (folder / "b/c/é.txt").write_text("x" * 5000)
    (folder / "b/link").symlink_to("c/é.txt")
    return folder


def test_the_digest_of_a_known_layer_never_changes(tmp_path: Path) -> None:
    assert layer(some_files(tmp_path)).sha256 == (
        "sha256:e9e4bb9131f302f2f3db56dfbd64e74bd3ad8c6160238a0fce39174299b7dc60"
    )


def test_times_owners_and_other_permissions_move_nothing(tmp_path: Path) -> None:
    first = layer(some_files(tmp_path / "one"))
    other = some_files(tmp_path / "two")
    for path in other.rglob("*"):
        if not path.is_symlink():
            os.utime(path, (1, 1))
            path.chmod(path.stat().st_mode & 0o700)
    (other / "empty").mkdir()
    (other / "__pycache__").mkdir()
    (other / "__pycache__/x.pyc").write_bytes(b"x")
    (other / ".git").mkdir()
    (other / ".git/HEAD").write_text("x")
    assert layer(other) == first


@pytest.mark.parametrize("change", ["content", "name", "mode", "link", "more"])
def test_whatever_can_move_a_result_moves_the_digest(tmp_path: Path, change: str) -> None:
    first = layer(some_files(tmp_path / "one"))
    other = some_files(tmp_path / "two")
    match change:
        case "content":
            (other / "a.txt").write_text("b")
        case "name":
            (other / "a.txt").rename(other / "A.txt")
        case "mode":
            (other / "a.txt").chmod(0o755)
        case "link":
            (other / "b/link").unlink()
            (other / "b/link").symlink_to("run.sh")
        case _:
            (other / "more").write_text("")
    assert layer(other).sha256 != first.sha256


def test_a_written_layer_unpacks_to_what_was_packed(tmp_path: Path) -> None:
    folder = some_files(tmp_path / "files")
    stored = write_layer("seed/T01/S1", contents(folder), tmp_path / "store")
    assert stored == layer(folder)
    path = tmp_path / "store" / layer_key(stored.sha256)
    assert hash_stored(path) == stored.sha256
    assert list((tmp_path / "store/layers").iterdir()) == [path]
    with path.open("rb") as packed:
        tar = zstandard.ZstdDecompressor().stream_reader(packed).read()
    with tarfile.open(fileobj=io.BytesIO(tar)) as opened:
        opened.extractall(tmp_path / "again", filter="data")
        assert {(m.mtime, m.uid, m.gid, m.uname) for m in opened} == {(MODIFIED, 0, 0, "")}
    assert layer(tmp_path / "again") == stored
    assert os.access(tmp_path / "again/b/run.sh", os.X_OK)


def test_the_names_in_a_layer_are_sorted_and_say_what_each_file_is(tmp_path: Path) -> None:
    files = layer(some_files(tmp_path)).files
    assert [file.path for file in files] == ["a.txt", "b/c/é.txt", "b/link", "b/run.sh"]
    assert [file.mode for file in files] == [0o644, 0o644, 0o777, 0o755]
    assert files[2].link == "c/é.txt"
    assert files[2].sha256 is None
    assert files[1].size == 5000


def test_a_damaged_layer_is_refused(tmp_path: Path) -> None:
    folder = some_files(tmp_path / "files")
    stored = write_layer("x", contents(folder), tmp_path / "store")
    path = tmp_path / "store" / layer_key(stored.sha256)
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match="no whole zstd stream"):
        hash_stored(path)


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path) -> None:
    folder = some_files(tmp_path / "files")
    listed = contents(folder)
    (folder / "a.txt").unlink()
    with pytest.raises(FileNotFoundError):
        write_layer("x", listed, tmp_path / "store")
    assert list((tmp_path / "store/layers").iterdir()) == []


@settings(max_examples=25, deadline=None)
@given(
    files=st.dictionaries(
        st.text("abcé-_. ", min_size=1, max_size=120).filter(lambda name: name.strip(". ")),
        st.binary(max_size=2000),
        min_size=1,
        max_size=8,
    )
)
def test_any_files_survive_the_way_through_a_layer(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]
) -> None:
    folder, store = tmp_path_factory.mktemp("files"), tmp_path_factory.mktemp("store")
    for name, content in files.items():
        (folder / name).write_bytes(content)
    stored = write_layer("x", contents(folder), store)
    assert hash_stored(store / layer_key(stored.sha256)) == stored.sha256 == layer(folder).sha256
