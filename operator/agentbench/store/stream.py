"""Stored content in chunks, for readers that stop when they have seen enough."""

from collections.abc import Iterable, Iterator

from agentbench.store.port import NotFound, Store

_CHUNK = 1 << 16


def chunks(store: Store, key: str) -> Iterable[bytes] | None:
    """The content under a key, read as it is asked for; None if there is none."""
    try:
        stream = store.open(key)
    except NotFound:
        return None

    def read() -> Iterator[bytes]:
        with stream:
            while chunk := stream.read(_CHUNK):
                yield chunk

    return read()
