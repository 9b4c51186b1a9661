"""What a check's pod says in its termination message: at most 4 KiB, the report is in the store."""

from pydantic import Field

from agentbench.core.execution import security_of
from agentbench.core.summary import Frozen
from agentbench_analysis.rows.model import Assertion, Check, Security, SecurityFlag
from agentbench_analysis.rows.words import CheckVerdict, SecurityKind

MAX_BYTES = 3500
MAX_DETAIL = 200


class Line(Frozen):
    """One assertion of a check's report."""

    id: str
    ok: bool
    detail: str = ""
    kind: SecurityKind | None = None


class CheckTermination(Frozen):
    """The verdict of one execution. Time in seconds."""

    verdict: CheckVerdict
    exit_code: int | None = None
    seconds: float | None = None
    reason: str | None = None
    lines: tuple[Line, ...] = Field(default=())
    report: str | None = None  # sha256 of the whole report in the store
    size: int = 0

    def bounded(self) -> "CheckTermination":
        """The same, cut until it fits: details go first, then assertions that held."""
        short = tuple(_cut(line, MAX_DETAIL) for line in self.lines)
        bare = tuple(_cut(line, 0) for line in self.lines)
        failed = tuple(line for line in bare if not line.ok)
        for lines in (short, bare, failed, failed[:20]):
            found = self.model_copy(update={"lines": lines})
            if len(found.model_dump_json().encode()) <= MAX_BYTES:
                return found
        return self.model_copy(update={"lines": ()})

    def check(self, repeat: int) -> Check:
        """As a row's check."""
        return Check(
            repeat=repeat,
            verdict=self.verdict,
            exit_code=self.exit_code,
            seconds=self.seconds,
            reason=self.reason,
            asserts=tuple(Assertion(id=x.id, ok=x.ok, detail=x.detail) for x in self.lines),
        )

    def security(self) -> Security:
        """As a row's security check."""
        flags = tuple(
            SecurityFlag(kind=line.kind, assertion=line.id, detail=line.detail)
            for line in self.lines
            if not line.ok and line.kind is not None
        )
        unnamed = [line.id for line in self.lines if not line.ok and line.kind is None]
        return security_of(self.verdict, self.reason, flags, unnamed)


def _cut(line: Line, length: int) -> Line:
    return line.model_copy(update={"detail": line.detail[:length], "id": line.id[:100]})
