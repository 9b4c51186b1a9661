"""The promises that rows rest on, kept by each S3 store: create-only, compare-and-swap, durable."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from botocore.exceptions import BotoCoreError, ClientError
from tests.cluster.lab.handle import Cluster
from tests.cluster.lab.s3 import s3_client
from tests.cluster.lab.shell import wait
from tests.cluster.lab.stores import Store

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

WRITERS = 12


@pytest.fixture
def name(s3: S3Client, request: pytest.FixtureRequest) -> str:
    """A fresh bucket of the store."""
    bucket = f"b{abs(hash(request.node.nodeid)):x}"
    s3.create_bucket(Bucket=bucket)
    return bucket


def status(work: Callable[[], object]) -> int:
    """The HTTP status of a request that may be refused."""
    try:
        work()
    except ClientError as error:
        return int(error.response["ResponseMetadata"]["HTTPStatusCode"])
    return 200


def test_a_second_create_only_put_is_refused(s3: S3Client, name: str) -> None:
    s3.put_object(Bucket=name, Key="row", Body=b"first", IfNoneMatch="*")
    again = status(lambda: s3.put_object(Bucket=name, Key="row", Body=b"second", IfNoneMatch="*"))
    assert again == 412
    assert s3.get_object(Bucket=name, Key="row")["Body"].read() == b"first"


def test_of_many_concurrent_create_only_puts_one_wins(s3: S3Client, name: str) -> None:
    def put(writer: int) -> int:
        body = str(writer).encode()
        return status(lambda: s3.put_object(Bucket=name, Key=key, Body=body, IfNoneMatch="*"))

    with ThreadPoolExecutor(WRITERS) as pool:
        for key in ("a", "b", "c", "d", "e"):
            answers = list(pool.map(put, range(WRITERS)))
            assert answers.count(200) == 1
            winner = str(answers.index(200)).encode()
            assert s3.get_object(Bucket=name, Key=key)["Body"].read() == winner


def test_of_many_concurrent_swaps_one_wins(s3: S3Client, name: str) -> None:
    tag = s3.put_object(Bucket=name, Key="index", Body=b"0")["ETag"]

    def swap(writer: int) -> int:
        body = f"by {writer}".encode()
        return status(lambda: s3.put_object(Bucket=name, Key="index", Body=body, IfMatch=tag))

    with ThreadPoolExecutor(WRITERS) as pool:
        answers = list(pool.map(swap, range(WRITERS)))
    assert answers.count(200) == 1


def test_a_stale_or_groundless_swap_is_refused(s3: S3Client, name: str) -> None:
    stale = s3.put_object(Bucket=name, Key="index", Body=b"1")["ETag"]
    s3.put_object(Bucket=name, Key="index", Body=b"2")
    assert status(lambda: s3.put_object(Bucket=name, Key="index", Body=b"3", IfMatch=stale)) == 412
    assert status(lambda: s3.put_object(Bucket=name, Key="none", Body=b"3", IfMatch=stale)) == 404


def test_what_was_acknowledged_survives_a_kill(
    real_cluster: Cluster, each_store: Store, name: str
) -> None:
    client = s3_client(each_store.endpoint)
    for number in range(40):
        client.put_object(Bucket=name, Key=str(number), Body=str(number).encode(), IfNoneMatch="*")
    each_store.kill()
    with pytest.raises((BotoCoreError, ClientError)):
        client.list_objects_v2(Bucket=name)
    each_store.start(real_cluster.programs)

    def whole() -> bool:
        try:
            return client.list_objects_v2(Bucket=name)["KeyCount"] == 40
        except (BotoCoreError, ClientError):
            return False

    wait("the store to have what it had", whole, 90)
    for number in range(40):
        assert (
            client.get_object(Bucket=name, Key=str(number))["Body"].read() == str(number).encode()
        )
