"""Open a store by its address."""

from pathlib import Path
from urllib.parse import urlsplit

from agentbench.store.folder import FolderStore
from agentbench.store.port import Store, StoreError


def open_store(
    url: str,
    *,
    endpoint: str | None = None,
    region: str | None = None,
    access_key: str | None = None,
    secret_key: str | None = None,
) -> Store:
    """Open `s3://bucket/prefix`, or a folder given as a path or `file://` address.

    Raises:
        StoreError: the address is of no known kind, or its library is not installed.
    """
    parts = urlsplit(url)
    if parts.scheme in ("", "file"):
        return FolderStore(Path(parts.path if parts.scheme else url))
    if parts.scheme != "s3" or not parts.netloc:
        raise StoreError(
            f"store {url!r} is of no known kind: write s3://bucket/prefix, or a folder's path"
        )
    try:
        from agentbench.store.s3 import connect  # heavy, and not needed on one machine
    except ImportError as error:
        raise StoreError(
            f"store {url!r} needs an S3 client: pip install 'agent-bench[operator]'"
        ) from error
    return connect(
        bucket=parts.netloc,
        prefix=parts.path.strip("/"),
        endpoint=endpoint,
        region=region,
        access_key=access_key,
        secret_key=secret_key,
    )
