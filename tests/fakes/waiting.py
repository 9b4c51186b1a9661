"""Waiting for a condition, never for a time."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def until(
    look: Callable[[], Awaitable[T]], good: Callable[[T], bool], within: float = 30
) -> T:
    """Look again and again until what is seen is good; it fails after `within` seconds."""
    async with asyncio.timeout(within):
        while not good(seen := await look()):
            await asyncio.sleep(0.02)
    return seen
