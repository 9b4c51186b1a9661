"""Grading a final state with real apps, checks and services."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.local_pack import (
    APP,
    PASSING,
    a_machine,
    a_stack,
    a_task,
    archive_of,
    some_checks,
    write_app,
    write_check,
)

from agentbench.core.reasons import Reason
from agentbench.local.examination import Bench
from agentbench.local.grading import Graded, Grader, no_progress
from agentbench.local.isolation import Isolation
from agentbench.local.services.templates import Templates
from agentbench_analysis.rows.words import CheckVerdict, SecurityKind

PASS, FAIL, ERROR = CheckVerdict.PASS, CheckVerdict.FAIL, CheckVerdict.ERROR


class Exam:
    """Grades an app by a check; a test changes what it is about."""

    def __init__(self, root: Path, templates: Path, isolation: Isolation) -> None:
        root.chmod(0o711)
        self.root, self.templates, self.isolation = root, templates, isolation
        self.app = APP
        self.files: dict[str, str] = {}
        self.security: str | None = None

    async def grade(
        self, check: str = PASSING, rules: dict[str, Any] | None = None, **stack: Any
    ) -> Graded:
        workspace, layer = self.root / "workspace", self.root / "layer"
        write_app(workspace, self.app)
        for name, content in self.files.items():
            (workspace / name).write_text(content)
        write_check(layer, "t1.py", check)
        more: dict[str, Any] = dict(rules or {})
        if self.security is not None:
            write_check(layer, "security.py", self.security)
            more["security"] = {"path": "checks/security.py"}
        machine = a_machine(self.isolation)
        (layer / "model.yaml").write_text("turns: [{text: Hello}]\n")
        bench = Bench(
            machine=machine,
            templates=Templates(self.templates / self.isolation.value, machine),
            archive=archive_of(workspace, self.root / "final.tar.zst"),
            checks=layer,
            scripts=layer,
            root=self.root / "bench",
        )
        grader = Grader(
            bench=bench, task=a_task(), stack=a_stack(**stack), rules=some_checks(**more)
        )
        return await grader.grade(no_progress)


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("templates")
    for path in (folder, *folder.parents[:2]):
        path.chmod(0o711)
    return folder


@pytest.fixture
def exam(tmp_path: Path, templates: Path) -> Exam:
    return Exam(tmp_path, templates, Isolation.NAMESPACE)


def report(graded: Graded, name: str = "check-1.json") -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(graded.records[name])
    return loaded


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


async def test_the_harness_restarts_runs_and_reads(exam: Exam) -> None:
    exam.files["package.lock"] = "locked\n"
    body = (
        'get("/visit")\n'
        'say("restart", json.loads(harness("POST", "/app/restart", {})[1]) == {"ok": True})\n'
        'say("kept", get("/visit") == "2")\n'
        'ran = json.loads(harness("POST", "/app/run", {"command": "test"})[1])\n'
        'say("test fails", ran["ok"] is False and ran["exit"] == 5 and ran["output"] == "no\\n")\n'
        'say("no build", harness("POST", "/app/run", {"command": "build"})[0] == 404)\n'
        'say("no shell", harness("POST", "/app/run", {"command": "rm"})[0] == 400)\n'
        'say("lock", harness("GET", "/lockfile/main") == (200, "locked\\n"))\n'
        'say("no lock", harness("GET", "/lockfile/other")[0] == 404)\n'
        'say("outside", harness("GET", "/lockfile/link")[0] == 404)\n'
        'say("stop", harness("POST", "/app/stop", {})[0] == 200)\n'
        'say("start", json.loads(harness("POST", "/app/start", {})[1])["ok"])\n'
        'say("reset", harness("POST", "/database/reset", {})[0] == 200)\n'
        'harness("POST", "/app/start", {})\n'
        'say("empty", get("/visit") == "1")\n'
        "sys.exit(0)\n"
    )
    (exam.root / "workspace").mkdir()
    (exam.root / "workspace" / "link").symlink_to("/etc/passwd")
    graded = await exam.grade(
        body,
        test={"run": "echo no; exit 5"},
        lockfiles=[
            {"name": "main", "path": "package.lock"},
            {"name": "link", "path": "link"},
        ],
    )
    failed = [line.id for line in graded.checks[0].asserts if not line.ok]
    assert failed == []
    assert len(graded.checks[0].asserts) == 12


async def test_the_clock_moves_for_the_app_alone(exam: Exam) -> None:
    body = (
        "import time\n"
        'status, told = harness("POST", "/clock", {"set": "2031-05-06T07:59:55Z"})\n'
        "from datetime import datetime, timezone\n"
        "then = datetime(2031, 5, 6, 7, 59, 55, tzinfo=timezone.utc).timestamp()\n"
        'first = float(get("/time"))\n'
        'say("moved", abs(first - then) < 30, f"{first} {status} {told}")\n'
        'say("runs on", float(get("/time")) > first)\n'
        'say("not ours", abs(time.time() - first) > 10**6)\n'
        'say("bad", harness("POST", "/clock", {"set": "tomorrow"})[0] == 400)\n'
        'say("naive", harness("POST", "/clock", {"set": "2031-05-06T07:59:55"})[0] == 400)\n'
        "sys.exit(0)\n"
    )
    graded = await exam.grade(body)
    assert [(line.id, line.ok) for line in graded.checks[0].asserts] == [
        ("moved", True),
        ("runs on", True),
        ("not ours", True),
        ("bad", True),
        ("naive", True),
    ], graded.checks[0].asserts


SERVICES = [
    {"name": "db", "kind": "postgres", "env": {"DATABASE_URL": "{url}"}},
    {"name": "cache", "kind": "redis", "env": {"REDIS": "{host}:{port}"}},
    {
        "name": "model",
        "kind": "mock-model",
        "env": {"MODEL_URL": "{url}"},
        "script": {"path": "model.yaml"},
    },
    {"name": "post", "kind": "mail", "env": {"SMTP": "{host}:{port}"}},
]

USES_SERVICES = """
import os, smtplib, socket, struct, urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import urlsplit

def redis(*words):
    host, port = os.environ["REDIS"].split(":")
    with socket.create_connection((host, int(port))) as sock:
        sock.sendall(b"*%d\\r\\n" % len(words)
            + b"".join(b"$%d\\r\\n%s\\r\\n" % (len(w), w.encode()) for w in words))
        return sock.recv(100).decode().strip()

def postgres(sql):
    url = urlsplit(os.environ["DATABASE_URL"])
    with socket.create_connection((url.hostname, url.port)) as sock:
        stream = sock.makefile("rb")
        words = ("user", url.username, "database", url.path[1:])
        body = struct.pack("!i", 3 << 16) + b"".join(w.encode() + b"\\0" for w in words) + b"\\0"
        sock.sendall(struct.pack("!i", len(body) + 4) + body)
        def messages():
            while True:
                kind, size = stream.read(1), struct.unpack("!i", stream.read(4))[0]
                yield kind, stream.read(size - 4)
                if kind == b"Z": return
        list(messages())
        query = sql.encode() + b"\\0"
        sock.sendall(b"Q" + struct.pack("!i", len(query) + 4) + query)
        return b"|".join(kind + body for kind, body in messages() if kind in b"DEC").decode()

def mail():
    host, port = os.environ["SMTP"].split(":")
    with smtplib.SMTP(host, int(port)) as server:
        return str(server.sendmail("a@x.test", ["b@x.test"], "Subject: hi\\n\\n.dot\\n"))

def model():
    request = urllib.request.Request(os.environ["MODEL_URL"] + "/v1/messages",
        data=b'{"model":"m","messages":[]}',
        headers={"content-type": "application/json", "x-api-key": "k"})
    return urllib.request.urlopen(request).read().decode()

ACTS = {
    "/health": lambda: "ok",
    "/redis": lambda: redis("INCR", "n"),
    "/make": lambda: postgres("CREATE TABLE t (n int)"),
    "/super": lambda: postgres("COPY (SELECT 1) TO PROGRAM 'kill 1'"),
    "/mail": mail,
    "/model": model,
}

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers()
        self.wfile.write(ACTS[self.path]().encode())
    def log_message(self, *_): pass

HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"""


@pytest.mark.parametrize("isolation", list(Isolation))
async def test_services_are_fresh_for_every_repeat_and_after_a_reset(
    tmp_path: Path, templates: Path, isolation: Isolation
) -> None:
    for folder in tmp_path.parents[:2]:
        folder.chmod(0o711)
    exam = Exam(tmp_path, templates, isolation)
    exam.app = USES_SERVICES
    body = (
        'say("redis", get("/redis") == ":1", get("/redis"))\n'
        'say("made", get("/make").startswith("CCREATE"), get("/make"))\n'
        'say("no superuser", "ESERROR" in get("/super"), get("/super"))\n'
        'say("url", "postgresql://" in os.environ["DATABASE_URL"])\n'
        'say("mail", get("/mail") == "{}")\n'
        'say("model", "Hello" in get("/model"))\n'
        'calls = json.loads(harness("GET", "/model/calls")[1])\n'
        'say("calls", [call["path"] for call in calls] == ["/v1/messages"], str(calls))\n'
        'say("reset", harness("POST", "/database/reset", {})[0] == 200)\n'
        'harness("POST", "/app/start", {})\n'
        'say("redis empty", get("/redis") == ":1")\n'
        'say("database empty", get("/make").startswith("CCREATE"))\n'
        "sys.exit(0)\n"
    )
    graded = await exam.grade(body, rules={"repeats": 2}, services=SERVICES)
    for check in graded.checks:
        assert check.verdict is PASS, report(graded, f"check-{check.repeat}.json")
        assert [line.id for line in check.asserts if not line.ok] == []
        assert len(check.asserts) == 10


async def test_a_service_that_dies_is_no_fail(exam: Exam) -> None:
    exam.files["broken.yaml"] = ""
    services = [
        {"name": "model", "kind": "mock-model", "script": {"path": "checks/t1.py"}},
    ]
    graded = await exam.grade(services=services)
    assert (graded.checks[0].verdict, graded.checks[0].reason) == (ERROR, Reason.SERVICE_DIED)
    assert "service model ended" in report(graded)["detail"]


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
