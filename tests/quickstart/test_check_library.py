"""A check of the quickstart exits so that nobody is blamed for another's fault."""

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent, indent

CHECKS = Path(__file__).parents[2] / "examples" / "quickstart" / "checks"


def run_check(tmp_path: Path, body: str) -> tuple[int, list[dict[str, object]], str]:
    """Exit code, report and standard error of a check with this body."""
    program = tmp_path / "check.py"
    program.write_text(
        "from lib.report import Failed, HarnessError, closed, expect, run\n"
        f"def check(report):\n{indent(dedent(body), '    ')}\n"
        "run(check)\n"
    )
    report = tmp_path / "report.jsonl"
    report.touch()
    env = {**os.environ, "PYTHONPATH": str(CHECKS), "CHECK_REPORT": str(report)}
    done = subprocess.run([sys.executable, "-B", program], env=env, capture_output=True, text=True)
    lines = [json.loads(line) for line in report.read_text().splitlines()]
    return done.returncode, lines, done.stderr


def test_it_passes_when_every_assertion_holds(tmp_path: Path) -> None:
    code, lines, _ = run_check(tmp_path, "with report.judge('a'): expect(True, '')")
    assert code == 0
    assert lines == [{"assert": "a", "ok": True, "detail": ""}]


def test_it_goes_on_after_a_failure_and_fails(tmp_path: Path) -> None:
    body = """
    with report.judge('a'): expect(1 == 2, 'one is not two')
    with report.judge('b'): pass
    """
    code, lines, _ = run_check(tmp_path, body)
    assert code == 1
    assert [(line["assert"], line["ok"], line["detail"]) for line in lines] == [
        ("a", False, "one is not two"),
        ("b", True, ""),
    ]


def test_a_bug_of_the_check_is_no_failure_of_the_app(tmp_path: Path) -> None:
    code, _, errors = run_check(tmp_path, "with report.judge('a'): {}['nothing']")
    assert code == 2
    assert "KeyError" in errors


def test_a_harness_that_does_not_answer_is_no_failure_of_the_app(tmp_path: Path) -> None:
    code, _, errors = run_check(tmp_path, "raise HarnessError('gone')")
    assert code == 2
    assert errors == "harness: gone\n"


def test_only_a_hole_that_was_seen_is_a_security_failure(tmp_path: Path) -> None:
    body = """
    with report.guard('seen', 'cross-tenant'): closed(False, 'shows a note')
    with report.guard('dead', 'missing-auth'): raise Failed('no answer')
    """
    code, lines, _ = run_check(tmp_path, body)
    assert code == 1
    assert lines == [
        {"assert": "seen", "ok": False, "detail": "shows a note", "kind": "cross-tenant"},
        {
            "assert": "dead",
            "ok": True,
            "detail": "not tried: no answer",
            "kind": "missing-auth",
        },
    ]
