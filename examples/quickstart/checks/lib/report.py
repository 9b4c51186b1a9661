"""The report of a check: one JSON line per assertion in $CHECK_REPORT, and the exit code.

    {"assert": "notes-create", "ok": true, "detail": ""}
    {"assert": "cross-tenant-notes", "ok": false, "kind": "cross-tenant", "detail": "GET ..."}

`kind` is set by the security check alone, on every line.
A check writes each assertion once.
"""

import json
import os
import sys
import traceback
from contextlib import contextmanager

PASS, FAIL, ERROR = 0, 1, 2


class Failed(Exception):
    """The app did not do what the task asks for; the text says what was seen."""


class Hole(Failed):
    """The app let somebody do what nobody may; the text says what was seen."""


class HarnessError(Exception):
    """The harness did not do its part: no fault of the app."""


def expect(holds, seen):
    """Raise Failed with what was seen, unless it holds."""
    if not holds:
        raise Failed(str(seen))


def closed(holds, seen):
    """Raise Hole with what was seen, unless it holds."""
    if not holds:
        raise Hole(str(seen))


class Report:
    """Collects assertions, and writes each as soon as it is judged."""

    def __init__(self, path):
        self.path = path
        self.failed = []

    @contextmanager
    def judge(self, assertion):
        """Judge what the task asks for: Failed inside the block makes it false."""
        try:
            yield
        except Failed as failure:
            self._write(assertion, False, str(failure))
        else:
            self._write(assertion, True, "")

    @contextmanager
    def guard(self, assertion, kind):
        """Judge what nobody may do: Hole inside the block makes it false.

        Failed means that the app lacks what would be tried, or gave no answer: no hole was seen.
        """
        try:
            yield
        except Hole as hole:
            self._write(assertion, False, str(hole), kind)
        except Failed as failure:
            self._write(assertion, True, f"not tried: {failure}", kind)
        else:
            self._write(assertion, True, "", kind)

    def _write(self, assertion, ok, detail, kind=None):
        if not ok:
            self.failed.append(assertion)
        line = {"assert": assertion, "ok": ok, "detail": detail[:1000]}
        if kind:
            line["kind"] = kind
        with open(self.path, "a", encoding="utf-8") as report:
            report.write(json.dumps(line) + "\n")


def run(check):
    """Run `check(report)` and exit: 0 pass, 1 fail, 2 where the check itself broke."""
    try:
        report = Report(os.environ["CHECK_REPORT"])
        check(report)
    except HarnessError as error:
        print(f"harness: {error}", file=sys.stderr)
        sys.exit(ERROR)
    except Exception:
        # Python would exit with 1, which blames the agent for a bug of the check.
        traceback.print_exc()
        sys.exit(ERROR)
    sys.exit(FAIL if report.failed else PASS)
