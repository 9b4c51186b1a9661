"""An error says who must act."""


class ClusterError(RuntimeError):
    """The API server could not do what was asked."""


class Retry(ClusterError):
    """The cluster's turn: wait and look again."""

    def __init__(self, message: str, after: float = 5) -> None:
        super().__init__(message)
        self.after = after


class Missing(ClusterError):
    """There is no such object."""


class Taken(ClusterError):
    """An object of this name is there already."""


class Expired(ClusterError):
    """A version to watch from, or a page, is too old to go on: list again."""


class Stale(ClusterError):
    """The object has changed since it was read."""


class QuotaDenied(ClusterError):
    """A ResourceQuota has no room."""


class Denied(ClusterError):
    """The operator may not do this: its role lacks a verb, or a policy forbids it."""


class Invalid(ClusterError):
    """The API server refuses the object itself."""
