"""An S3 bucket as a store: create-only by `If-None-Match`, compare-and-swap by `If-Match`.

Every request is tried again after an error or a time-out. A put that had happened although its
answer was lost is then refused as a second one, found to hold the same content, and is success.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from agentbench.store.fitness import require_conditions
from agentbench.store.port import (
    Changed,
    Conflict,
    Entry,
    NotFound,
    Put,
    check_key,
)
from agentbench.store.s3_errors import missing, refused, spoken

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_CHUNK = 1 << 20
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".md": "text/markdown; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""What a browser is told of a stored file, so that it shows a published site."""


class S3Store:
    """The keys below a prefix of one bucket."""

    def __init__(self, client: "S3Client", bucket: str, prefix: str = "") -> None:
        self._client = client
        self._bucket = bucket
        self._prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""

    def create_only(self, key: str, content: bytes) -> Put:
        """Store content under a new key; see `Store`."""
        name = self._name(key)
        with self._spoken(key):
            if self._created(name, content):
                return Put.CREATED
        if self.get(key) != content:
            raise _conflict(key)
        return Put.SAME

    def put_file(self, key: str, path: Path, sent: Callable[[int], None] | None = None) -> Put:
        """Store a file's content under a new key, in one request of at most 5 GiB.

        `sent` is told how many bytes have been read so far: by some clients twice, for they read
        a file once for its signature and once to send it.
        """
        name = self._name(key)
        with self._spoken(key), path.open("rb") as content:
            told = content if sent is None else cast("BinaryIO", _Told(content, sent))
            if self._created(name, told):
                return Put.CREATED
        with path.open("rb") as mine, self.open(key) as theirs:
            if _digest(mine) != _digest(theirs):
                raise _conflict(key)
        return Put.SAME

    def get(self, key: str) -> bytes:
        """The content under a key; NotFound if there is none."""
        entry = self.read(key)
        if entry is None:
            raise self._missing(key)
        return entry.content

    def read(self, key: str) -> Entry | None:
        """The content under a key with its etag, or None."""
        name = self._name(key)
        with self._spoken(key):
            try:
                answer = self._client.get_object(Bucket=self._bucket, Key=name)
                return Entry(answer["Body"].read(), answer["ETag"])
            except ClientError as error:
                if missing(error):
                    return None
                raise

    def open(self, key: str) -> BinaryIO:
        """A stream of the content under a key; NotFound if there is none."""
        name = self._name(key)
        with self._spoken(key):
            try:
                answer = self._client.get_object(Bucket=self._bucket, Key=name)
            except ClientError as error:
                if missing(error):
                    raise self._missing(key) from None
                raise
        return cast("BinaryIO", answer["Body"])

    def list(self, prefix: str) -> Iterator[str]:
        """The keys that start with a prefix, in the order of their bytes, a page at a time."""
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self._bucket, Prefix=self._prefix + prefix
        )
        with self._spoken(prefix):
            for page in pages:
                for entry in page.get("Contents", ()):
                    yield entry["Key"].removeprefix(self._prefix)

    def folders(self, prefix: str = "") -> Iterator[str]:
        """The names of the folders right below a prefix, without what is in them."""
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self._bucket, Prefix=self._prefix + prefix, Delimiter="/"
        )
        with self._spoken(prefix):
            for page in pages:
                for entry in page.get("CommonPrefixes", ()):
                    yield entry["Prefix"].removeprefix(self._prefix + prefix).rstrip("/")

    def compare_and_swap(self, key: str, content: bytes, expected: str | None) -> str:
        """Replace content that has a known etag; see `Store`.

        An S3 etag is a hash of the content: a swap for the same content cannot be told from
        none, so what is swapped should hold a number that counts up.
        """
        name = self._name(key)
        with self._spoken(key):
            try:
                if expected is None:
                    answer = self._client.put_object(
                        Bucket=self._bucket,
                        Key=name,
                        Body=content,
                        ContentType=_type(name),
                        IfNoneMatch="*",
                    )
                else:
                    answer = self._client.put_object(
                        Bucket=self._bucket,
                        Key=name,
                        Body=content,
                        ContentType=_type(name),
                        IfMatch=expected,
                    )
            except ClientError as error:
                if refused(error) or missing(error):
                    raise Changed(
                        f"{key!r} was changed meanwhile: read it again and try once more"
                    ) from None
                raise
        return answer["ETag"]

    def presigned_get(self, key: str, seconds: int) -> str:
        """An address from which whoever holds it may read one key, for a number of seconds."""
        return self._client.generate_presigned_url(
            "get_object",
            Params={"Bucket": self._bucket, "Key": self._name(key)},
            ExpiresIn=seconds,
        )

    def presigned_create(self, key: str, seconds: int) -> tuple[str, Mapping[str, str]]:
        """An address to which whoever holds it may put one new key, and the headers to send.

        The condition is part of the signature: a put without it, or of a second content, fails.
        """
        url = self._client.generate_presigned_url(
            "put_object",
            Params={"Bucket": self._bucket, "Key": self._name(key), "IfNoneMatch": "*"},
            ExpiresIn=seconds,
        )
        return url, {"If-None-Match": "*"}

    def require_conditions(self, key: str) -> None:
        """Prove that the bucket keeps conditions; StoreError if not. See `require_conditions`."""
        require_conditions(self, key, f"bucket {self._bucket!r}")

    def _created(self, name: str, content: bytes | BinaryIO) -> bool:
        try:
            self._client.put_object(
                Bucket=self._bucket,
                Key=name,
                Body=content,
                ContentType=_type(name),
                IfNoneMatch="*",
            )
        except ClientError as error:
            if refused(error):
                return False
            raise
        return True

    def _spoken(self, key: str) -> AbstractContextManager[None]:
        return spoken(f"bucket {self._bucket!r}, key {key!r}")

    def _name(self, key: str) -> str:
        return self._prefix + check_key(key)

    def _missing(self, key: str) -> NotFound:
        return NotFound(f"nothing is stored under {key!r} in bucket {self._bucket!r}")


class _Told:
    """A file that says how far it was read."""

    def __init__(self, file: BinaryIO, sent: Callable[[int], None]) -> None:
        self._file = file
        self._sent = sent

    def read(self, size: int = -1) -> bytes:
        content = self._file.read(size)
        self._sent(self._file.tell())
        return content

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()


def connect(
    *,
    bucket: str,
    prefix: str = "",
    endpoint: str | None = None,
    region: str | None = None,
    access_key: str | None = None,
    secret_key: str | None = None,
) -> S3Store:
    """Open a bucket; without keys the usual AWS sources of credentials are asked."""
    client = boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name=region or "us-east-1",
        aws_access_key_id=access_key,
        aws_secret_access_key=secret_key,
        config=Config(
            signature_version="s3v4",
            # On AWS the region is in the host's name: it is the one host that a pod may reach.
            s3={"addressing_style": "path"}
            if endpoint
            else {"addressing_style": "virtual", "us_east_1_regional_endpoint": "regional"},
            connect_timeout=5,
            read_timeout=30,
            retries={"mode": "standard", "total_max_attempts": 5},
        ),
    )
    return S3Store(client, bucket, prefix)


def _type(name: str) -> str:
    dot = name.rfind(".")
    return _TYPES.get(name[dot:], "application/octet-stream")


def _conflict(key: str) -> Conflict:
    return Conflict(f"{key!r} holds other content already, and what is stored never changes")


def _digest(stream: BinaryIO) -> bytes:
    digest = sha256()
    while chunk := stream.read(_CHUNK):
        digest.update(chunk)
    return digest.digest()
