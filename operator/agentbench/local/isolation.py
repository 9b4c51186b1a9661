"""How well a run can be closed in on this machine."""

from enum import StrEnum


class Isolation(StrEnum):
    """What keeps a sandbox's processes in, best first. A row's environment names it."""

    NAMESPACE = "namespace"
    """Its own processes, mounts, network, users: nothing but loopback and what it is shown."""

    USER_NAMESPACE = "user-namespace"
    """The same for an engine that is not root; every run has the engine's user outside."""

    PROCESS_GROUP = "process-group"
    """No walls: the run shares network and files with the machine, and is ended by its tree."""
