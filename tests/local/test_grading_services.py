"""What a check finds and does beside the app: services, the harness, the clock."""

from pathlib import Path

import pytest
from tests.fakes.exam import Exam, report

from agentbench.core.reasons import Reason
from agentbench.local.isolation import Isolation
from agentbench_analysis.rows.words import CheckVerdict


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
        assert check.verdict is CheckVerdict.PASS, report(graded, f"check-{check.repeat}.json")
        assert [line.id for line in check.asserts if not line.ok] == []
        assert len(check.asserts) == 10


async def test_a_service_that_dies_is_no_fail(exam: Exam) -> None:
    exam.files["broken.yaml"] = ""
    services = [
        {"name": "model", "kind": "mock-model", "script": {"path": "checks/t1.py"}},
    ]
    graded = await exam.grade(services=services)
    assert (graded.checks[0].verdict, graded.checks[0].reason) == (
        CheckVerdict.ERROR,
        Reason.SERVICE_DIED,
    )
    assert "service model ended" in report(graded)["detail"]
