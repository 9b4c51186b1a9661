"""Where each attempt's page lies."""

import re
from collections.abc import Iterable
from hashlib import sha256

from agentbench_analysis.results.model import Attempt

_SAFE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,118}[A-Za-z0-9])?")


class Links:
    """Addresses of run pages, relative to the site's root.

    The attempt that counts has the run's own address, `runs/AB-T03-S2-A1-r4.html`, so that a
    link to a run outlives a rerun; another attempt has its number in the name.
    """

    def __init__(self, attempts: Iterable[Attempt]) -> None:
        self._groups: dict[str, list[Attempt]] = {}
        for each in attempts:
            self._groups.setdefault(each.run, []).append(each)

    def attempts(self, run: str) -> list[Attempt]:
        """The attempts of a run, first one first."""
        return sorted(self._groups[run], key=lambda each: each.attempt)

    def page(self, attempt: Attempt) -> str:
        """The address of an attempt's page."""
        group = self.attempts(attempt.run)
        main = next((each for each in group if each.standing.counts), group[0])
        suffix = "" if main.attempt == attempt.attempt else f"-attempt-{attempt.attempt}"
        return f"runs/{file_name(attempt.run)}{suffix}.html"


def file_name(run: str) -> str:
    """A run id as a file name; one that could not be a name is replaced by its hash."""
    if _SAFE.fullmatch(run) and ".." not in run:
        return run
    return "run-" + sha256(run.encode("utf-8", "replace")).hexdigest()[:20]
