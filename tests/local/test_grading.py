"""Grading a final state with real apps, checks and services."""

from pathlib import Path
from typing import Any

import pytest
from tests.fakes.exam import Exam, report
from tests.fakes.local_pack import (
    APP,
)

from agentbench.core.reasons import Reason
from agentbench.local.isolation import Isolation
from agentbench_analysis.rows.words import CheckVerdict, SecurityKind

PASS, FAIL, ERROR = CheckVerdict.PASS, CheckVerdict.FAIL, CheckVerdict.ERROR


@pytest.mark.parametrize("isolation", list(Isolation))
async def test_every_repeat_starts_from_a_fresh_copy(
    tmp_path: Path, templates: Path, isolation: Isolation
) -> None:
    for folder in tmp_path.parents[:2]:
        folder.chmod(0o711)
    exam = Exam(tmp_path, templates, isolation)
    graded = await exam.grade(rules={"repeats": 3})
    assert [check.verdict for check in graded.checks] == [PASS] * 3
    assert [check.repeat for check in graded.checks] == [1, 2, 3]
    assert graded.checks[0].asserts[0].id == "fresh"


async def test_an_exit_of_one_is_a_fail_with_its_assertions(exam: Exam) -> None:
    graded = await exam.grade('say("a", True)\nsay("b", False, "why")\nsys.exit(1)\n')
    (check,) = graded.checks
    assert (check.verdict, check.exit_code, check.reason) == (FAIL, 1, None)
    assert [(line.id, line.ok, line.detail) for line in check.asserts] == [
        ("a", True, ""),
        ("b", False, "why"),
    ]


@pytest.mark.parametrize(
    ("body", "code"), [("sys.exit(2)\n", 2), ("os.kill(os.getpid(), 9)\n", None)]
)
async def test_any_other_end_of_a_check_is_the_harnesss(
    exam: Exam, body: str, code: int | None
) -> None:
    graded = await exam.grade(body)
    (check,) = graded.checks
    assert (check.verdict, check.exit_code, check.reason) == (ERROR, code, Reason.CHECK_ERROR)


async def test_a_check_that_broke_once_is_run_again_on_the_same_snapshot(exam: Exam) -> None:
    exam.files["first"] = "the snapshot does not remember what a check did\n"
    counter = exam.root / "layer" / "count"
    counter.parent.mkdir()
    counter.write_text("0")
    counter.chmod(0o666)
    body = 'sys.exit(2 if get("/visit") != "1" else 2)\n'
    graded = await exam.grade(body)
    assert graded.checks[0].verdict is ERROR
    assert graded.checks[0].exit_code == 2


async def test_a_check_that_hangs_is_ended_and_no_verdict(exam: Exam) -> None:
    body = "import subprocess, time\nsubprocess.Popen(['sleep', '900'])\ntime.sleep(900)\n"
    graded = await exam.grade(body, rules={"timeout": "1s"})
    assert (graded.checks[0].verdict, graded.checks[0].reason) == (ERROR, Reason.CHECK_TIMEOUT)


async def test_what_a_check_prints_is_no_verdict(exam: Exam) -> None:
    body = 'print("PASS\\n{\\"assert\\": \\"x\\", \\"ok\\": true}")\nsys.exit(1)\n'
    graded = await exam.grade(body)
    assert graded.checks[0].verdict is FAIL
    assert graded.checks[0].asserts == ()
    assert "PASS" in report(graded)["output"]


@pytest.mark.parametrize(
    ("start", "told"),
    [
        ("echo giving up; exit 3", "start exited with 3: giving up"),
        ("sleep 900", "did not answer 200 within 1 s"),
        ("kill -SEGV $$", "signal 11"),
        ("no-such-program", "exited with 127"),
        ("(sleep 0.2; echo late) & exit 0", "start exited with 0"),
    ],
)
async def test_an_app_that_does_not_start_is_a_fail(exam: Exam, start: str, told: str) -> None:
    graded = await exam.grade(start={"run": start}, startTimeout="1s")
    (check,) = graded.checks
    assert (check.verdict, check.reason) == (FAIL, Reason.APP_NOT_STARTED)
    assert told in report(graded)["detail"]


@pytest.mark.parametrize("step", ["build", "migrate"])
async def test_a_step_before_the_start_that_fails_is_a_fail(exam: Exam, step: str) -> None:
    steps: dict[str, Any] = {step: {"run": "echo broken >&2; exit 1"}}
    graded = await exam.grade(**steps)
    assert graded.checks[0].reason == Reason.APP_NOT_STARTED
    assert report(graded)["detail"] == f"{step} exited with 1: broken"


async def test_an_app_that_listens_and_then_dies_fails_its_check(exam: Exam) -> None:
    body = (
        'try: get("/die")\nexcept OSError: pass\n'
        'try: get("/visit")\nexcept OSError: sys.exit(1)\nsys.exit(0)\n'
    )
    assert (await exam.grade(body)).checks[0].verdict is FAIL


async def test_an_app_that_leaves_a_daemon_behind_is_started_and_ended(exam: Exam) -> None:
    graded = await exam.grade(start={"run": "setsid python3 app.py & exit 0"})
    assert graded.checks[0].verdict is PASS
    body = (
        'assert harness("POST", "/app/stop", {})[0] == 200\n'
        'try: get("/visit")\nexcept OSError: sys.exit(0)\nsys.exit(1)\n'
    )
    again = await exam.grade(body, start={"run": "setsid python3 app.py & exit 0"})
    assert again.checks[0].verdict is PASS


async def test_an_app_that_prints_200_mb_is_graded_and_its_log_bounded(exam: Exam) -> None:
    body = (
        'get("/print/200000000")\n'
        'status, log = harness("GET", "/app/log")\n'
        'say("bounded", len(log) < 400_000 and "bytes left out" in log, str(len(log)))\n'
        "sys.exit(0)\n"
    )
    graded = await exam.grade(body)
    assert graded.checks[0].verdict is PASS
    assert graded.checks[0].asserts[0].ok, graded.checks[0].asserts[0].detail
    assert len(graded.records["check-1.json"]) < 1_000_000


async def test_the_app_is_handed_neither_check_nor_token(exam: Exam) -> None:
    body = (
        'seen = get("/env")\n'
        'say("no token", os.environ["HARNESS_TOKEN"] not in seen and "HARNESS" not in seen)\n'
        'say("no check", "CHECK" not in seen)\n'
        'say("refused", harness("POST", "/app/stop", {}, token="guess")[0] == 401)\n'
        "sys.exit(0)\n"
    )
    exam.app = APP.replace("import os, time", "import os, time\nprint(os.path.exists('/pack'))")
    graded = await exam.grade(body)
    assert [line.ok for line in graded.checks[0].asserts] == [True, True, True]
    assert report(graded)["appLog"] == "False\n" or "True" not in report(graded)["appLog"]


async def test_the_security_checks_flags_have_their_kinds(exam: Exam) -> None:
    exam.security = (
        'say("notes", False, "GET /notes", kind="cross-tenant")\n'
        'say("sql-injection-search", False)\n'
        'say("fine", True, kind="missing-auth")\nsys.exit(1)\n'
    )
    graded = await exam.grade()
    assert graded.security.ran
    assert [(flag.kind, flag.assertion) for flag in graded.security.flags] == [
        (SecurityKind.CROSS_TENANT, "notes"),
        (SecurityKind.SQL_INJECTION, "sql-injection-search"),
    ]
    assert "security.json" in graded.records


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("sys.exit(3)\n", "CheckError"),
        ("sys.exit(1)\n", "CheckError: it failed, but it named no flag"),
        ('say("odd", False)\nsys.exit(1)\n', "assertion odd has no kind"),
    ],
)
async def test_a_security_check_that_comes_to_no_verdict_did_not_run(
    exam: Exam, body: str, reason: str
) -> None:
    exam.security = body
    security = (await exam.grade()).security
    assert not security.ran
    assert reason in (security.reason or "")


async def test_a_report_that_never_ends_is_cut(exam: Exam) -> None:
    body = (
        'with open(os.environ["CHECK_REPORT"], "w") as report:\n'
        '    for n in range(200_000): report.write(\'{"assert": "a", "ok": true}\\n\')\n'
        "sys.exit(0)\n"
    )
    graded = await exam.grade(body)
    assert len(graded.checks[0].asserts) == 5_000
