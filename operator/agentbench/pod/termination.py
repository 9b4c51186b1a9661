"""The warden's termination message: its summary, as far as kubelet takes it."""

from agentbench.core.summary import Summary

MAX_MESSAGE = 4000  # bytes; kubelet cuts at 4096, and half a summary is none
SHOWN = 5  # refused addresses in a message that would be too long with all of them
STORED = "summary.json"


def message(summary: Summary) -> str:
    """The summary within a termination message: notes go first, they are in the stored one."""
    few = summary.model_copy(update={"notes": tuple(note[:200] for note in summary.notes[:3])})
    denied = summary.denied_egress
    more = (f"and {len(denied) - SHOWN} more: {STORED} has them",) if len(denied) > SHOWN else ()
    shown = (*(line[:120] for line in denied[:SHOWN]), *more)
    least = few.model_copy(update={"notes": (), "denied_egress": shown})
    for cut in (summary, few, few.model_copy(update={"denied_egress": shown}), least):
        text = cut.model_dump_json(exclude_defaults=True)
        if len(text.encode()) <= MAX_MESSAGE:
            return text
    return ""  # the operator then reads the stored one
