"""Moving content between a pod and the store: by presigned addresses, through the gateway."""

import time
import urllib.error
import urllib.request
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import BinaryIO, cast

from agentbench.pod.told import Upload

TRIES = 2
"""Tries of a request when no patience is left."""
PATIENCE = 300.0  # seconds in all that a program waits for a store that does not answer
PAUSE = 15.0  # seconds between two tries, at most
TIMEOUT = 120.0  # seconds for one request


class TransferError(RuntimeError):
    """The store could not be reached, or refused for good."""


class Put(StrEnum):
    """What a create-only upload did."""

    CREATED = "created"
    PRESENT = "present"  # something is there already


class Transfer:
    """Requests to the store, tried again with growing pauses, for as long as patience lasts.

    Patience is one for all requests: an outage of minutes is waited for once, and not once for
    each file.
    """

    def __init__(
        self,
        gateway: str | None = None,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._patience = PATIENCE
        proxies = {"http": gateway, "https": gateway} if gateway else {}
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler(proxies))
        self._sleep = sleep

    def allow(self, seconds: float) -> None:
        """Give it so many seconds of patience from now on."""
        self._patience = seconds

    def open(self, url: str) -> BinaryIO:
        """A stream of what is at an address."""
        return self._try(urllib.request.Request(url))

    def upload(self, upload: Upload, content: bytes | Path) -> Put:
        """Store new content; what is there already is never touched.

        A try whose answer was lost may have stored it: then the next one finds it present.
        """
        size = content.stat().st_size if isinstance(content, Path) else len(content)
        headers = {**upload.headers, "Content-Length": str(size)}

        def request() -> urllib.request.Request:
            body = content.open("rb") if isinstance(content, Path) else content
            return urllib.request.Request(upload.url, data=body, method="PUT", headers=headers)

        try:
            with self._try(request):
                return Put.CREATED
        except urllib.error.HTTPError as error:
            if error.code in (409, 412):
                return Put.PRESENT
            raise TransferError(f"upload refused: {error.code} {error.reason}") from error

    def _try(
        self, request: urllib.request.Request | Callable[[], urllib.request.Request]
    ) -> BinaryIO:
        last: Exception | None = None
        tries = 0
        while tries < TRIES or self._patience > 0:
            began = self._clock()
            pause = min(PAUSE, 0.5 * 2**tries) if tries else 0.0
            if pause:
                self._sleep(pause)
            tries += 1
            try:
                asked = request() if callable(request) else request
                return cast("BinaryIO", self._opener.open(asked, timeout=TIMEOUT))
            except urllib.error.HTTPError as error:
                if error.code < 500 and error.code != 429:
                    raise
                last = error
            except OSError as error:
                last = error
            self._patience -= max(self._clock() - began, pause)
        raise TransferError(f"the store does not answer: {last}") from last
