"""Waiting for a condition, never for a length of time."""

import time
from collections.abc import Callable


def until(condition: Callable[[], object], seconds: float = 20) -> None:
    """Wait until a condition holds; fail with its name when it never does."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds} s in vain for {condition}")
        time.sleep(0.02)
