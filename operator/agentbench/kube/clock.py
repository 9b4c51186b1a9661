"""The API server's clock: pods are created by it, so waits are told by it too."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

TOLERANCE = timedelta(seconds=2)
"""A Date header is cut to whole seconds and was on its way for a while: less is no difference."""


class ServerClock:
    """Tells the API server's time, learnt from the Date header of its answers.

    The operator's machine may be minutes off. A wait that began by one clock and ends by another
    would be given up too early; by this one it is not.
    """

    def __init__(self, local: Callable[[], datetime] = lambda: datetime.now(tz=UTC)) -> None:
        self._local = local
        self._ahead = timedelta()  # of the local clock

    def heard(self, date: str | None) -> None:
        """Take note of an answer's Date header; one that cannot be read is passed over."""
        if not date:
            return
        try:
            said = parsedate_to_datetime(date)
        except ValueError:
            return
        ahead = said - self._local()
        if abs(ahead - self._ahead) > TOLERANCE:
            self._ahead = ahead

    def now(self) -> datetime:
        """The time by the API server's clock, UTC, within `TOLERANCE`."""
        return self._local() + self._ahead
