"""What a doctor found: each with its health, and its cure if it is ill."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum

from agentbench.cli.exits import Exit
from agentbench.cli.screen import Screen


class Health(StrEnum):
    """How bad a finding is."""

    OK = "ok"
    WARN = "warn"
    MISSING = "missing"
    FAIL = "fail"

    @property
    def sick(self) -> bool:
        """Whether a campaign cannot run like this."""
        return self in (Health.MISSING, Health.FAIL)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    health: Health
    what: str
    found: str
    cure: str = ""


def tell(findings: Sequence[Finding], screen: Screen) -> Exit:
    """Show findings and cures; exit code 1 if anything is ill."""
    sick = [each for each in findings if each.health.sick]
    if screen.as_json:
        screen.data({"healthy": not sick, "findings": [asdict(each) for each in findings]})
    screen.table(["", "What", "Found"], [[each.health, each.what, each.found] for each in findings])
    cures = [each for each in findings if each.cure]
    if cures:
        screen.say()
    for each in cures:
        screen.say(f"{each.what}: {each.cure}")
    return Exit.NEGATIVE if sick else Exit.OK
