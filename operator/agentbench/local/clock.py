"""The app's clock: libfaketime's file, which the harness moves."""

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from agentbench.local.place import Folders
from agentbench.pod.surroundings import NoClock

_PLACES = (
    "/usr/lib/*/faketime/libfaketimeMT.so.1",
    "/usr/lib/faketime/libfaketimeMT.so.1",
    "/usr/lib64/faketime/libfaketimeMT.so.1",
    "/usr/local/lib/faketime/libfaketimeMT.so.1",
)
INSTALL = "install libfaketime (Debian: apt-get install libfaketime)"


def library() -> str | None:
    """Where libfaketime is on this machine."""
    root = Path("/")
    found = (path for place in _PLACES for path in root.glob(place.lstrip("/")))
    return next((str(path) for path in found), None)


@dataclass(slots=True)
class Clock:
    """The clock of one app. It is real until it is set."""

    folders: Folders
    _set: bool = field(default=False)

    def set(self, text: str) -> float:
        """Move the clock to an instant (RFC 3339); it then goes on at its usual pace.

        Returns the offset from real time, in seconds.

        Raises:
            ValueError: the text is no instant with a time zone.
            NoClock: libfaketime is not installed.
        """
        instant = datetime.fromisoformat(text)
        if instant.tzinfo is None:
            raise ValueError(f"{text!r} has no time zone; write it as in 2030-01-31T23:59:55Z")
        if library() is None:
            raise NoClock(f"the clock of the app cannot be moved here: {INSTALL}")
        offset = instant.astimezone(UTC).timestamp() - time.time()
        draft = self.folders.clock.source / ".now"
        draft.write_text(f"{offset:+.6f}\n")
        draft.chmod(0o644)
        draft.replace(self.folders.clock.source / "now")
        self._set = True
        return offset

    def env(self) -> dict[str, str]:
        """The variables that make a program see this clock; none while it is real."""
        found = library()
        if not self._set or found is None:
            return {}
        return {
            "LD_PRELOAD": found,
            "FAKETIME_TIMESTAMP_FILE": f"{self.folders.machine.seen(self.folders.clock)}/now",
            "FAKETIME_NO_CACHE": "1",
        }
