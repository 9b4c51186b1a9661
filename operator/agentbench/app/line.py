"""The line to one campaign's store: few calls at a time, and none while it is known to be down."""

import asyncio
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from agentbench.store.port import Changed, Conflict, NotFound, StoreError
from agentbench.store.s3 import S3Store

LOOK = 5.0  # seconds between two questions to a store that is down

AT_ONCE = 4
"""Calls at the same time: a store that hangs must not hold the threads that others need."""

P = ParamSpec("P")
T = TypeVar("T")


class Line:
    """Calls a store from threads, and remembers that it failed.

    A failure of one call is a failure of the store: until `look_again` finds it well, every
    other call fails at once with the same words, so that an outage costs one question per look
    and not one per run.
    """

    def __init__(self, store: S3Store) -> None:
        self.store = store
        self._failed: StoreError | None = None
        self._asked = 0.0
        self._calls = asyncio.Semaphore(AT_ONCE)

    @property
    def down(self) -> StoreError | None:
        """Why it is down: Unreachable passes by itself, any other StoreError needs a person."""
        return self._failed

    async def ask(self, do: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do something with the store, in a thread; StoreError if it cannot be done."""
        async with self._calls:
            if self._failed is not None:
                raise type(self._failed)(str(self._failed)) from self._failed
            try:
                return await asyncio.to_thread(do, *args, **kwargs)
            except (Conflict, Changed, NotFound):
                raise  # an answer, and not a failure
            except StoreError as error:
                self._failed = error
                raise

    async def look_again(self, key: str) -> None:
        """Ask a store that was down for one key; it is up again if it answers."""
        if self._failed is None or time.monotonic() - self._asked < LOOK:
            return
        self._asked = time.monotonic()
        try:
            await asyncio.to_thread(self.store.read, key)
        except StoreError as error:
            self._failed = error
        else:
            self._failed = None
