"""Exit codes of `agent-bench`: what a script may rely on."""

from enum import IntEnum


class Exit(IntEnum):
    """How a command ended."""

    OK = 0  # it did what it was asked
    NEGATIVE = 1  # it ran, and the answer is no: a gate or a check of doctor fails, no rows
    BAD_INPUT = 2  # something that a person wrote cannot be used; nothing was written
    FAILED = 3  # the machine, a store or a service let it down; run the command again
    INTERRUPTED = 130  # Ctrl-C; a run goes on where it was when it is started again
