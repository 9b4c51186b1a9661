"""Stores in object storage, as the command line is told of them."""

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from urllib.parse import urlsplit

from agentbench.store.open import open_store
from agentbench.store.port import Store, StoreError

AT_ONCE = 16
"""Objects that are read at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """A prefix of a bucket, and how to open it. Without keys the usual AWS sources are asked."""

    url: str
    endpoint: str | None = None
    region: str | None = None
    profile: str | None = None
    access_key: str | None = field(default=None, repr=False)
    secret_key: str | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return self.url

    @property
    def parent(self) -> tuple["Remote", str]:
        """The prefix around the last part of the address, and that part."""
        around, _, last = self.url.rstrip("/").rpartition("/")
        return self.at(around), last

    @property
    def bucket_only(self) -> bool:
        """Whether the address has no prefix."""
        return not urlsplit(self.url).path.strip("/")

    def at(self, url: str) -> "Remote":
        """Another address of the same service."""
        return Remote(
            url=url,
            endpoint=self.endpoint,
            region=self.region,
            profile=self.profile,
            access_key=self.access_key,
            secret_key=self.secret_key,
        )

    def open(self) -> Store:
        """The store.

        Raises:
            StoreError: the address is none of S3's, or there are no keys.
        """
        if self.profile is not None:
            _use_profile(self.profile)
        return open_store(
            self.url.rstrip("/"),
            endpoint=self.endpoint,
            region=self.region,
            access_key=self.access_key,
            secret_key=self.secret_key,
        )


def remote(
    url: str,
    *,
    endpoint: str | None = None,
    region: str | None = None,
    profile: str | None = None,
    access_key: str | None = None,
    secret_key: str | None = None,
) -> Remote:
    """A store by its address; the rest is taken from the variables that S3 clients know."""
    env = os.environ
    return Remote(
        url=url,
        endpoint=endpoint or env.get("AWS_ENDPOINT_URL_S3") or env.get("AWS_ENDPOINT_URL"),
        region=region or env.get("AWS_REGION") or env.get("AWS_DEFAULT_REGION"),
        profile=profile,
        access_key=access_key,
        secret_key=secret_key,
    )


def documents(store: Store, keys: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Key and content of stored documents, several read at the same time, in their order."""
    rest = iter(keys)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        while batch := list(islice(rest, 4 * AT_ONCE)):
            yield from zip(batch, pool.map(partial(_get, store), batch), strict=True)


def _get(store: Store, key: str) -> bytes:
    return store.get(key)


def _use_profile(profile: str) -> None:
    try:
        import boto3
        from botocore.exceptions import ProfileNotFound
    except ImportError as error:
        raise StoreError("an S3 store needs: pip install 'agent-bench[operator]'") from error
    try:
        boto3.setup_default_session(profile_name=profile)
    except ProfileNotFound as error:
        raise StoreError(f"--profile {profile}: {error}; see ~/.aws/config") from error
