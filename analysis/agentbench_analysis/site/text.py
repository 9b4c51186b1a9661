"""Text from outside, made safe to look at: nothing invisible, nothing endless."""

import re
from dataclasses import dataclass

_ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\))")
# Control characters, lone surrogates (not encodable), and the bidirectional controls that let a
# line read as something other than what it is.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]"
)
_NEWLINES = re.compile(r"\r\n?|\u2028|\u2029")


@dataclass(frozen=True, slots=True)
class Clip:
    """The beginning and the end of a text, and how many characters between them are left out."""

    head: str
    omitted: int = 0
    tail: str = ""

    def __bool__(self) -> bool:
        return bool(self.head)

    @property
    def size(self) -> int:
        """Characters kept."""
        return len(self.head) + len(self.tail)


def clean(text: str) -> str:
    """Return the text with terminal colours removed and every invisible control made visible."""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    return _UNSAFE.sub(_visible, _NEWLINES.sub("\n", text))


def clip(text: str, limit: int) -> Clip:
    """Return the text cleaned and cut to at most `limit` characters, a quarter of them its end."""
    if len(text) <= limit:
        return Clip(clean(text))
    tail = limit // 4
    head = limit - tail
    return Clip(clean(text[:head]), len(text) - limit, clean(text[-tail:]) if tail else "")


def line(text: str, limit: int = 200) -> str:
    """Return the text as one cleaned line of at most `limit` characters."""
    flat = " ".join(text[: limit * 4].split())
    return clean(flat if len(flat) <= limit else flat[: limit - 1] + "…")


def sentence(text: str) -> str:
    """Return the text as a sentence: a capital first, a full stop last."""
    shown = clean(text)
    return shown[:1].upper() + shown[1:] + ("" if shown.endswith((".", "!", "?")) else ".")


def _visible(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0xD800 <= code <= 0xDFFF or 0x80 <= code <= 0x9F:
        return "\ufffd"
    return f"<U+{code:04X}>"
