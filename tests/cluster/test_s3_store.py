"""The S3 store keeps its promises on real object stores, and refuses one that does not."""

import hashlib
import os
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.cluster.lab import stores
from tests.cluster.lab.s3 import s3_client

from agentbench.store.port import Changed, Conflict, NotFound, Put, StoreError
from agentbench.store.s3 import S3Store, connect


@pytest.fixture
def each_bucket(each_store: stores.Store, request: pytest.FixtureRequest) -> str:
    """A fresh bucket in each store in turn."""
    name = "t" + hashlib.sha256(f"{os.getpid()}{request.node.name}".encode()).hexdigest()[:20]
    s3_client(each_store.endpoint).create_bucket(Bucket=name)
    return name


@pytest.fixture
def store(each_store: stores.Store, each_bucket: str) -> S3Store:
    return connect(
        bucket=each_bucket,
        prefix="some/prefix",
        endpoint=each_store.endpoint,
        access_key=stores.ACCESS_KEY,
        secret_key=stores.SECRET_KEY,
    )


def test_what_was_put_is_read_back_below_the_prefix(store: S3Store) -> None:
    assert store.create_only("c/rows/r/1.json", b"{}") is Put.CREATED
    assert store.get("c/rows/r/1.json") == b"{}"
    assert list(store.list("c/rows/")) == ["c/rows/r/1.json"]


def test_the_same_again_is_success_and_other_content_is_refused(store: S3Store) -> None:
    store.create_only("k", b"one")
    assert store.create_only("k", b"one") is Put.SAME
    with pytest.raises(Conflict, match="'k'"):
        store.create_only("k", b"two")
    assert store.get("k") == b"one"


def test_a_file_is_stored_once(store: S3Store, tmp_path: Path) -> None:
    path = tmp_path / "big"
    path.write_bytes(b"x" * (3 << 20))
    assert store.put_file("f", path) is Put.CREATED
    assert store.put_file("f", path) is Put.SAME
    path.write_bytes(b"y" * (3 << 20))
    with pytest.raises(Conflict):
        store.put_file("f", path)


def test_of_twenty_writers_at_once_exactly_one_creates(store: S3Store) -> None:
    def put(number: int) -> bool:
        try:
            return store.create_only("race", f"writer {number}".encode()) is Put.CREATED
        except Conflict:
            return False

    with ThreadPoolExecutor(20) as pool:
        assert sum(pool.map(put, range(20))) == 1


def test_a_counter_raised_by_eight_writers_loses_no_step(store: S3Store) -> None:
    store.create_only("counter", b"0")

    def raise_it(_: int) -> None:
        while True:
            entry = store.read("counter")
            assert entry is not None
            try:
                store.compare_and_swap("counter", b"%d" % (int(entry.content) + 1), entry.etag)
            except Changed:
                continue
            return

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(raise_it, range(40)))
    assert store.get("counter") == b"40"


def test_a_swap_of_what_is_not_there_is_refused(store: S3Store) -> None:
    with pytest.raises(Changed):
        store.compare_and_swap("absent", b"x", '"00000000000000000000000000000000"')
    store.compare_and_swap("fresh", b"x", None)
    with pytest.raises(Changed):
        store.compare_and_swap("fresh", b"y", None)


def test_a_missing_key_is_said(store: S3Store) -> None:
    assert store.read("nothing") is None
    with pytest.raises(NotFound, match="nothing"):
        store.get("nothing")


def test_a_presigned_create_makes_one_object_and_no_second(store: S3Store) -> None:
    url, headers = store.presigned_create("signed", 60)

    def put(content: bytes, more: dict[str, str]) -> int:
        request = urllib.request.Request(url, data=content, method="PUT", headers=more)
        try:
            with urllib.request.urlopen(request) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code

    assert put(b"one", {}) == 403  # the condition is part of the signature
    assert put(b"one", dict(headers)) == 200
    assert put(b"two", dict(headers)) == 412
    with urllib.request.urlopen(store.presigned_get("signed", 60)) as answer:
        assert answer.read() == b"one"


def test_a_store_that_keeps_conditions_is_taken_again_and_again(store: S3Store) -> None:
    store.require_conditions("probe")
    store.require_conditions("probe")


def test_wrong_keys_are_an_error_with_the_bucket_in_it(
    each_store: stores.Store, each_bucket: str
) -> None:
    wrong = connect(
        bucket=each_bucket, endpoint=each_store.endpoint, access_key="a", secret_key="b" * 20
    )
    with pytest.raises(StoreError, match=each_bucket):
        wrong.create_only("k", b"x")
