"""Numbers as people read them; what is not known reads as a dash."""

from datetime import UTC, datetime

UNKNOWN = "\N{EN DASH}"


def money(value: float | str | None) -> str:
    """Return US dollars with two digits, or four below a cent."""
    if value is None:
        return UNKNOWN
    amount = float(value)
    return f"${amount:,.4f}" if 0 < abs(amount) < 0.01 else f"${amount:,.2f}"


def number(value: float | str | None, digits: int = 0) -> str:
    """Return a number with thousands apart."""
    if value is None:
        return UNKNOWN
    return f"{float(value):,.{digits}f}"


def percent(value: float | None, digits: int = 1) -> str:
    """Return a share as a percentage."""
    return UNKNOWN if value is None else f"{100 * value:.{digits}f} %"


def points(value: float | None) -> str:
    """Return a difference of shares in percentage points, with its sign."""
    if value is None:
        return UNKNOWN
    shown = f"{100 * value:+.1f} pp"
    return shown.replace("-", "\u2212").replace("+0.0", "0.0")


def duration(seconds: float | str | None) -> str:
    """Return seconds as `41.2 s`, `12 m 07 s` or `1 h 02 m`."""
    if seconds is None:
        return UNKNOWN
    whole = float(seconds)
    if whole < 60:
        return f"{whole:.1f} s"
    minutes, rest = divmod(round(whole), 60)
    if minutes < 60:
        return f"{minutes} m {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} m"


def clock(seconds: float | None) -> str:
    """Return seconds from a start as `07:41`; the first minute in tenths, `4.2 s`."""
    if seconds is None:
        return UNKNOWN
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes:02d}:{rest:02d}"


def size(count: float) -> str:
    """Return bytes in a unit that fits."""
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"


def moment(text: str) -> str:
    """Return an RFC 3339 time as `2026-11-30 14:07 UTC`, or the text itself."""
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        return text
    moment = parsed.astimezone(UTC) if parsed.tzinfo else parsed
    return f"{moment:%Y-%m-%d %H:%M} UTC"
