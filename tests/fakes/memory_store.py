"""A store in memory that keeps its conditions; what is written under a key once never changes."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, BinaryIO

from agentbench.store.port import Changed, Conflict, Entry, NotFound, Put, etag_of


@dataclass
class MemoryStore:
    """Content by key. `write` is around every write, and may end the process that does it."""

    content: dict[str, bytes] = field(default_factory=dict)
    write: Callable[[Callable[[], Any]], Any] = lambda act: act()

    def create_only(self, key: str, content: bytes) -> Put:
        def act() -> Put:
            found = self.content.setdefault(key, content)
            if found != content:
                raise Conflict(f"{key!r} holds other content")
            return Put.CREATED

        put: Put = self.write(act)
        return put

    def get(self, key: str) -> bytes:
        if key not in self.content:
            raise NotFound(key)
        return self.content[key]

    def read(self, key: str) -> Entry | None:
        found = self.content.get(key)
        return None if found is None else Entry(found, etag_of(found))

    def open(self, key: str) -> BinaryIO:
        return BytesIO(self.get(key))

    def list(self, prefix: str) -> Iterator[str]:
        return iter(sorted(key for key in self.content if key.startswith(prefix)))

    def compare_and_swap(self, key: str, content: bytes, expected: str | None) -> str:
        def act() -> str:
            found = self.read(key)
            if (found.etag if found else None) != expected:
                raise Changed(f"{key!r} was changed meanwhile")
            self.content[key] = content
            return etag_of(content)

        etag: str = self.write(act)
        return etag

    def presigned_get(self, key: str, seconds: int) -> str:
        return f"http://store/{key}?for={seconds}"

    def presigned_create(self, key: str, seconds: int) -> tuple[str, Mapping[str, str]]:
        return f"http://store/{key}?for={seconds}", {"If-None-Match": "*"}
