"""Takes secrets out of whatever leaves a run: known values first, then well-known patterns.

Every artifact goes through three steps: exact known secrets in all their forms, patterns of
credentials, then a second scan of what came out, which must find nothing: else the artifact is
withheld. The second scan reads the text with its white space, quotes and joints taken out, so it
also sees a secret that was cut into pieces.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO

from agentbench.pod.warden.needles import Needle, needles
from agentbench.pod.warden.rules import LONGEST, RULES, Rule

BLOCK = 1 << 20
_JOINTS = b" \t\r\n\\\"'`+,.&"


@dataclass(frozen=True, slots=True)
class Found:
    """A secret that stands in a text: bytes `start` to `end`."""

    start: int
    end: int
    name: str


@dataclass(frozen=True)
class Redactor:
    """Finds and replaces the secrets of one run; may be shared between streams."""

    secrets: Mapping[str, str] = field(repr=False)
    rules: tuple[Rule, ...] = RULES
    exact: tuple[Needle, ...] = field(init=False, repr=False)
    hold: int = field(init=False)

    def __post_init__(self) -> None:
        exact = needles(self.secrets)
        object.__setattr__(self, "exact", exact)
        longest = max((needle.span for needle in exact), default=0)
        object.__setattr__(self, "hold", max(longest, LONGEST if self.rules else 0))

    def find(self, text: bytes) -> list[Found]:
        """All secrets of a text in order, none overlapping another."""
        found = [Found(*at, needle.name) for needle in self.exact for at in needle.find(text)]
        found += [Found(*at, rule.name) for rule in self.rules for at in rule.find(text)]
        found.sort(key=lambda one: (one.start, -one.end))
        merged: list[Found] = []
        for one in found:
            if merged and one.start < merged[-1].end:
                last = merged[-1]
                merged[-1] = Found(last.start, max(last.end, one.end), last.name)
            else:
                merged.append(one)
        return merged

    def redact(self, text: bytes) -> bytes:
        """The text with each secret replaced by `[redacted:name]`."""
        stream = RedactStream(self)
        return stream.feed(text) + stream.finish()

    def stream(self) -> "RedactStream":
        """A new stream: bytes in, redacted bytes out."""
        return RedactStream(self)

    def scan(self, source: IO[bytes]) -> tuple[str, ...]:
        """The second scan: the names of the secrets that a redacted stream still holds."""
        left: Counter[str] = Counter()
        squeezed_needles = [
            (needle.name, _squeeze(needle.value))
            for needle in self.exact
            if len(_squeeze(needle.value)) >= min(8, len(needle.value))
        ]
        tail = b""
        while block := source.read(BLOCK):
            text = tail + block
            left.update(one.name for one in self.find(text))
            squeezed = _squeeze(text)
            left.update(name for name, value in squeezed_needles if value in squeezed)
            tail = text[len(text) - min(len(text), self.hold) :]
        return tuple(sorted(left))


class RedactStream:
    """Redacts a stream in chunks of any size; a secret cut over chunks is found."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._pending = bytearray()
        self.counts: Counter[str] = Counter()

    def feed(self, chunk: bytes) -> bytes:
        """Take a chunk; give what can be given already."""
        self._pending += chunk
        if len(self._pending) < BLOCK:
            return b""
        return b"".join(self._ready(final=False))

    def finish(self) -> bytes:
        """Give the rest."""
        return b"".join(self._ready(final=True))

    def _ready(self, *, final: bool) -> Iterator[bytes]:
        text = bytes(self._pending)
        found = self._redactor.find(text)
        cut = len(text) if final else max(0, len(text) - self._redactor.hold)
        # What reaches over the cut, or might go on behind the end, waits for the next chunk.
        for one in found:
            if one.start < cut < one.end:
                cut = one.start
        at = 0
        for one in found:
            if one.end > cut:
                break
            yield text[at : one.start]
            yield f"[redacted:{one.name}]".encode()
            self.counts[one.name] += 1
            at = one.end
        yield text[at:cut]
        self._pending = bytearray(text[cut:])


def _squeeze(text: bytes) -> bytes:
    """A text without white space, quotes, escapes and what joins pieces of strings."""
    for escape in (b"\\n", b"\\r", b"\\t"):
        text = text.replace(escape, b"")
    return text.translate(None, _JOINTS)
