"""The one error of the analysis: input that somebody has to correct."""


class AnalysisError(ValueError):
    """Input that the analysis refuses, with where it is and what to do about it.

    `file` names the document, `field` the place inside it (empty for the whole document),
    `value` shows what was found, and `cure` says what to do.
    """

    def __init__(self, problem: str, *, file: str, field: str = "", value: str = "", cure: str):
        self.problem = problem
        self.file = file
        self.field = field
        self.value = value
        self.cure = cure
        super().__init__(str(self))

    def __str__(self) -> str:
        place = f"{self.file}: {self.field}" if self.field else self.file
        found = f" (found {self.value})" if self.value else ""
        return f"{place}: {self.problem}{found}. {self.cure}"


class NoRowsError(AnalysisError):
    """There is nothing to analyse: the store holds no row of this campaign."""


def shown(value: object, limit: int = 80) -> str:
    """A value as an error message shows it: quoted, and cut where it is long."""
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."
