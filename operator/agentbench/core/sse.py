"""Splits a server-sent event stream into its events' data, whatever the edges of its chunks.

It works on bytes: an edge inside a UTF-8 character, a line or a line end does no harm.
"""

BOM = b"\xef\xbb\xbf"


class EventSplitter:
    """Takes a stream's chunks; gives the data of each event that they complete.

    An event of more than `limit` bytes is thrown away, and `overflowed` is set.
    """

    def __init__(self, limit: int) -> None:
        self.overflowed = False
        self._limit = limit
        self._line: list[bytes] = []  # pieces of the line that has not ended
        self._line_size = 0
        self._data: list[bytes] = []  # lines of the event that has not ended
        self._data_size = 0
        self._dropping = False
        self._after_return = False
        self._begun = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """The data of the events that end in this chunk."""
        if not chunk:
            return []
        if not self._begun:
            # A byte order mark may itself come in pieces.
            chunk = b"".join((*self._line, chunk))
            self._line = []
            if len(chunk) < len(BOM) and BOM.startswith(chunk):
                self._line = [chunk]
                return []
            self._begun = True
            chunk = chunk.removeprefix(BOM)
        return self._split(self._with_newlines(chunk))

    def finish(self) -> list[bytes]:
        """The last event of a stream that ended without its closing lines."""
        return self._split(b"\n\n")

    def _with_newlines(self, chunk: bytes) -> bytes:
        if self._after_return and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        self._after_return = chunk.endswith(b"\r")
        if b"\r" in chunk:
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return chunk

    def _split(self, chunk: bytes) -> list[bytes]:
        events: list[bytes] = []
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            # The end of a line that was dropped is no blank line, though nothing of it is left.
            blank = not piece and not self._line_size
            line = b"".join((*self._line, piece)) if self._line else piece
            self._line, self._line_size = [], 0
            self._take(line, blank, events)
        if rest:
            self._line_size += len(rest)
            self._drop_if_too_long()
            if not self._dropping:
                self._line.append(rest)
        return events

    def _take(self, line: bytes, blank: bool, events: list[bytes]) -> None:
        if blank:
            if self._data and not self._dropping:
                events.append(b"\n".join(self._data))
            self._data, self._data_size, self._dropping = [], 0, False
        elif line.startswith(b"data:") and not self._dropping:
            self._data.append(line[6:] if line.startswith(b"data: ") else line[5:])
            self._data_size += len(line)
            self._drop_if_too_long()

    def _drop_if_too_long(self) -> None:
        if self._line_size + self._data_size > self._limit:
            self.overflowed = self._dropping = True
            self._line, self._data = [], []
