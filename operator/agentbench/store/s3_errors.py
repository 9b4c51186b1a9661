"""What goes wrong with an S3 store, in the words of the port."""

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    NoCredentialsError,
    PartialCredentialsError,
)

from agentbench.store.port import StoreError, StoreFull, Unreachable

_MISSING = {"NoSuchKey", "NotFound", "404"}
_FULL = {"QuotaExceeded", "XMinioStorageFull", "InsufficientCapacity"}
_PASSING = {"SlowDown", "InternalError", "ServiceUnavailable", "RequestTimeout", "503", "500"}


@contextmanager
def spoken(place: str) -> Iterator[None]:
    """Turn what the client raises into the store's own errors."""
    try:
        yield
    except ClientError as error:
        code = _code(error)
        if code in _FULL:
            raise StoreFull(f"{place}: the store is full ({code}); nothing was stored") from error
        if code in _PASSING:
            raise Unreachable(f"{place}: the store is not ready ({code})") from error
        raise StoreError(f"{place}: {code}: {error}") from error
    except (NoCredentialsError, PartialCredentialsError) as error:
        raise StoreError(
            f"{place}: there are no keys: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or "
            "AWS_PROFILE"
        ) from error
    except BotoCoreError as error:
        raise Unreachable(f"{place}: the store does not answer: {error}") from error


def missing(error: ClientError) -> bool:
    """Whether the store says that there is nothing under a key."""
    return _code(error) in _MISSING


def _code(error: ClientError) -> str:
    return error.response.get("Error", {}).get("Code", "unknown")


def refused(error: ClientError) -> bool:
    """Whether a condition of a put did not hold."""
    return error.response.get("ResponseMetadata", {}).get("HTTPStatusCode") in (409, 412)
