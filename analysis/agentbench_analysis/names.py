"""JSON names of fields, and the signal that a value does not fit its field."""


class Wrong(Exception):
    """A value that does not fit; the path to it grows while the signal travels up."""

    def __init__(self, problem: str, value: str, cure: str):
        super().__init__(problem)
        self.problem, self.value, self.cure = problem, value, cure
        self.path: list[str] = []

    def at(self, step: str) -> "Wrong":
        """The same problem, one level further out."""
        self.path.insert(0, step)
        return self


def camel(name: str) -> str:
    """The JSON name of a field."""
    head, *rest = name.rstrip("_").split("_")
    return head + "".join(part.capitalize() for part in rest)
