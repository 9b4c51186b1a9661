"""The forms in which a known secret may stand in a text: plain, encoded, escaped."""

import base64
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import quote, quote_plus

SHORTEST = 6  # characters: a shorter secret would match ordinary text
WRAP = rb"(?:\\+[rn]|[\r\n])*"
FRAGMENT = 16


@dataclass(frozen=True, slots=True)
class Needle:
    """One form of one secret; `wrapped` finds it with line breaks inside."""

    name: str
    form: str
    value: bytes
    wrapped: re.Pattern[bytes] | None = None

    def find(self, text: bytes) -> Iterator[tuple[int, int]]:
        """Where it stands, as start and end."""
        start = text.find(self.value)
        while start >= 0:
            yield start, start + len(self.value)
            start = text.find(self.value, start + len(self.value))
        if self.wrapped is not None and self._may_be_wrapped(text):
            yield from (match.span() for match in self.wrapped.finditer(text))

    def _may_be_wrapped(self, text: bytes) -> bool:
        # A line break cuts one of two neighbouring fragments, never both.
        fragments = (self.value[:FRAGMENT], self.value[FRAGMENT : 2 * FRAGMENT])
        return any(fragment in text for fragment in fragments)

    @property
    def span(self) -> int:
        """The longest stretch of text, in bytes, in which it can stand."""
        return len(self.value) * (1 if self.wrapped is None else 2) + 16


def needles(secrets: Mapping[str, str]) -> tuple[Needle, ...]:
    """Every form of every secret, the longest first.

    Raises:
        ValueError: a secret is too short to be told from ordinary text.
    """
    found: dict[bytes, Needle] = {}
    for name, value in secrets.items():
        if len(value) < SHORTEST:
            raise ValueError(f"secret {name} has fewer than {SHORTEST} characters")
        for form, encoded in _forms(value):
            if len(encoded) < SHORTEST or encoded in found:
                continue
            wrapped = _wrapped(encoded) if len(encoded) >= 2 * FRAGMENT else None
            found[encoded] = Needle(name, form, encoded, wrapped)
    return tuple(sorted(found.values(), key=lambda needle: -len(needle.value)))


def _forms(secret: str) -> Iterator[tuple[str, bytes]]:
    raw = secret.encode()
    yield "plain", raw
    for ascii_only in (True, False):
        once = json.dumps(secret, ensure_ascii=ascii_only)[1:-1]
        yield "JSON", once.encode()
        yield "JSON", once.replace("/", "\\/").encode()
        yield "JSON twice", json.dumps(once, ensure_ascii=ascii_only)[1:-1].encode()
    for encoded in (quote(secret, safe=""), quote(secret), quote_plus(secret)):
        yield "URL", encoded.encode()
        yield "URL", re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), encoded).encode()
    yield "hex", raw.hex().encode()
    yield "hex", raw.hex().upper().encode()
    for offset in range(3):
        standard = _base64_inside(raw, offset)
        yield "base64", standard
        yield "base64", standard.replace(b"+", b"-").replace(b"/", b"_")
        yield "base64 in JSON", standard.replace(b"/", b"\\/")
        yield "base64 in a URL", quote(standard, safe="").encode()


def _base64_inside(raw: bytes, offset: int) -> bytes:
    """The characters of a base64 text that `raw` alone decides, `offset` bytes into a group."""
    encoded = base64.b64encode(b"\0" * offset + raw)
    first = -(-offset * 8 // 6)
    last = (offset + len(raw)) * 8 // 6
    return encoded[first:last]


def _wrapped(value: bytes) -> re.Pattern[bytes]:
    return re.compile(WRAP.join(re.escape(value[at : at + 1]) for at in range(len(value))))
