from pathlib import Path

import pytest

from agentbench.store.folder import FolderStore
from agentbench.store.port import Changed, Conflict, InvalidKey, NotFound, Put, StoreError


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "store")


def test_what_was_put_is_read_back(store: FolderStore) -> None:
    assert store.create_only("camp/rows/r1/1.json", b"{}") is Put.CREATED
    assert store.get("camp/rows/r1/1.json") == b"{}"


def test_a_second_put_of_the_same_content_is_success(store: FolderStore) -> None:
    store.create_only("a/b", b"same")
    assert store.create_only("a/b", b"same") is Put.SAME


@pytest.mark.parametrize("other", [b"", b"othr", b"other"])
def test_a_second_put_of_other_content_is_refused(store: FolderStore, other: bytes) -> None:
    store.create_only("a/b", b"same")
    with pytest.raises(Conflict, match="a/b"):
        store.create_only("a/b", other)
    assert store.get("a/b") == b"same"


def test_a_file_is_stored_once_and_other_content_is_refused(
    store: FolderStore, tmp_path: Path
) -> None:
    source = tmp_path / "big"
    source.write_bytes(b"x" * (3 << 20))
    assert store.put_file("a/big", source) is Put.CREATED
    assert store.put_file("a/big", source) is Put.SAME
    source.write_bytes(b"x" * (3 << 20) + b"y")
    with pytest.raises(Conflict):
        store.put_file("a/big", source)
    source.write_bytes(b"y" * (3 << 20))
    with pytest.raises(Conflict):
        store.put_file("a/big", source)
    with store.open("a/big") as stream:
        assert stream.read() == b"x" * (3 << 20)


def test_a_missing_key_is_told_apart_from_an_empty_one(store: FolderStore) -> None:
    store.create_only("empty", b"")
    assert store.get("empty") == b""
    assert store.read("missing") is None
    with pytest.raises(NotFound, match="missing"):
        store.get("missing")
    with pytest.raises(NotFound):
        store.get("empty/below")


def test_keys_are_listed_by_prefix_in_the_order_of_their_bytes(store: FolderStore) -> None:
    keys = ["c/rows/a-b/1.json", "c/rows/a/1.json", "c/rows/a/2.json", "c/rows/ab/1.json", "c/x"]
    for key in keys:
        store.create_only(key, b"")
    assert list(store.list("c/rows/")) == sorted(keys[:4])
    assert list(store.list("c/rows/a/")) == ["c/rows/a/1.json", "c/rows/a/2.json"]
    assert list(store.list("c/rows/a")) == sorted(keys[:4])
    assert list(store.list("")) == sorted(keys)
    assert list(store.list("nothing/")) == []


def test_keys_are_read_as_they_are_asked(store: FolderStore) -> None:
    store.create_only("a/1", b"")
    store.create_only("b/1", b"")
    keys = store.list("")
    assert next(keys) == "a/1"
    store.create_only("b/2", b"")
    assert list(keys) == ["b/1", "b/2"]


def test_a_swap_needs_what_was_read(store: FolderStore) -> None:
    first = store.compare_and_swap("latest.json", b"1", None)
    second = store.compare_and_swap("latest.json", b"2", first)
    with pytest.raises(Changed):
        store.compare_and_swap("latest.json", b"3", first)
    with pytest.raises(Changed):
        store.compare_and_swap("latest.json", b"3", None)
    entry = store.read("latest.json")
    assert entry is not None
    assert (entry.content, entry.etag) == (b"2", second)


@pytest.mark.parametrize(
    "key", ["", "/a", "a//b", "a/../b", "..", ".agent-bench/x", "a/", "a b", "a\n", "x" * 901]
)
def test_a_key_that_leaves_the_store_or_hides_in_it_is_refused(
    store: FolderStore, key: str
) -> None:
    with pytest.raises(InvalidKey):
        store.create_only(key, b"")


def test_a_file_in_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("no folder")
    with pytest.raises(StoreError, match="store"):
        FolderStore(tmp_path / "store")


def test_the_engines_own_state_is_no_content(store: FolderStore) -> None:
    store.compare_and_swap("a", b"1", None)
    assert list(store.list("")) == ["a"]
