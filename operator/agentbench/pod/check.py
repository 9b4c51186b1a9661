"""Runs one check in a grader pod, and says its verdict.

    python -m agentbench.pod.check TOLD

The job's index says which repeat it is; the index after the last repeat is the security check. The
verdict is the check's exit code, held here: what the app or the check prints decides nothing. It
is the termination message; the whole record goes to the store.
"""

import hashlib
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from agentbench.core.execution import verdict_of
from agentbench.core.reasons import Reason
from agentbench.pod.check_report import Line as ReportLine
from agentbench.pod.check_report import read_report
from agentbench.pod.told import CheckTold
from agentbench.pod.transfer import Transfer, TransferError
from agentbench.pod.verdict import CheckTermination, Line
from agentbench_analysis.rows.words import CheckVerdict

PACK = Path("/pack")
MESSAGE = Path("/dev/termination-log")
REPORT = Path("/tmp/report.jsonl")
OUTPUT = Path("/tmp/output")
MAX_OUTPUT = 256 * 1024
HARNESS_TIMEOUT = 3600.0


class HarnessGone(RuntimeError):
    """The harness API does not answer."""


class Check:
    """One execution of one check."""

    def __init__(self, told: CheckTold, index: int) -> None:
        self.told = told
        self.index = index
        self.security = index >= told.repeats
        self.program = told.security if self.security else told.check
        self.repeat = 1 if self.security else index + 1
        self.name = "security" if self.security else f"check-{index + 1}"

    def run(self) -> CheckTermination:
        """Start the app, run the check, and judge by its exit code."""
        if self.program is None:
            return CheckTermination(verdict=CheckVerdict.PASS)
        try:
            trouble = self._start_app()
            if trouble is not None:
                return self._kept(
                    CheckTermination(
                        verdict=CheckVerdict.FAIL, reason=Reason.APP_NOT_STARTED.value
                    ),
                    trouble,
                )
            return self._execute()
        except HarnessGone as error:
            return self._kept(
                CheckTermination(verdict=CheckVerdict.ERROR, reason=Reason.SERVICE_DIED.value),
                str(error),
            )

    def _start_app(self) -> str | None:
        """Build, migrate and start; why the app did not come up, or None."""
        for command in ("build", "migrate"):
            status, answer = self._ask("POST", "/app/run", {"command": command})
            if status != 404 and answer.get("ok") is not True:
                return str(answer.get("detail") or answer)
        _, answer = self._ask("POST", "/app/start", {})
        return None if answer.get("ok") is True else str(answer.get("detail") or answer)

    def _execute(self) -> CheckTermination:
        env = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": "/tmp",
            "TMPDIR": "/tmp",
            "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
            "APP_URL": self.told.app_url,
            "HARNESS_URL": self.told.harness_url,
            "HARNESS_TOKEN": self.told.token,
            "CHECK_REPEAT": str(self.repeat),
            "CHECK_REPORT": str(REPORT),
        }
        if self.told.database_url is not None:
            env["DATABASE_URL"] = self.told.database_url
        began = time.monotonic()
        code: int | None = None
        with OUTPUT.open("wb") as output:
            try:
                code = subprocess.run(
                    [str(PACK / str(self.program))],
                    env=env,
                    cwd=PACK,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    timeout=self.told.timeout,
                    check=False,
                ).returncode
            except subprocess.TimeoutExpired:
                pass
            except OSError as error:
                output.write(f"{self.program}: {error}\n".encode())
                code = 126
        verdict, reason = verdict_of(code)
        lines = read_report(REPORT)
        return self._kept(
            CheckTermination(
                verdict=verdict,
                exit_code=code,
                seconds=round(time.monotonic() - began, 3),
                reason=reason.value if reason else None,
                lines=tuple(_line(line) for line in lines),
            ),
            "",
        )

    def _kept(self, said: CheckTermination, detail: str) -> CheckTermination:
        """Store the whole record, and name it in the verdict."""
        output = OUTPUT.read_bytes()[-MAX_OUTPUT:] if OUTPUT.exists() else b""
        document = {
            "result": said.model_dump(mode="json"),
            "detail": detail,
            "output": output.decode("utf-8", "replace"),
            "appLog": self._app_log(),
        }
        content = json.dumps(document, indent=1).encode() + b"\n"
        try:
            Transfer(self.told.gateway).upload(self.told.uploads[self.name], content)
        except TransferError as error:
            print(f"{self.name}: not stored: {error}", file=sys.stderr)
            return said
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
        return said.model_copy(update={"report": digest, "size": len(content)})

    def _app_log(self) -> str:
        try:
            return self._fetch("GET", "/app/log", None)[1].decode("utf-8", "replace")
        except HarnessGone:
            return ""

    def _ask(self, method: str, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        status, content = self._fetch(method, path, body)
        try:
            answer = json.loads(content)
        except ValueError:
            answer = {}
        if status >= 500:
            raise HarnessGone(f"{path}: {status} {answer.get('error', '')}")
        return status, answer

    def _fetch(self, method: str, path: str, body: Any) -> tuple[int, bytes]:
        request = urllib.request.Request(
            self.told.harness_url + path,
            data=json.dumps(body).encode() if body is not None else None,
            method=method,
            headers={"Authorization": f"Bearer {self.told.token}"},
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=HARNESS_TIMEOUT) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()
        except OSError as error:
            raise HarnessGone(f"{path}: {error}") from error


def _line(line: ReportLine) -> Line:
    assertion = line.assertion
    return Line(id=assertion.id, ok=assertion.ok, detail=assertion.detail, kind=line.kind)


def main(argv: list[str]) -> int:
    """Run the check; 0, since the verdict is in the message, so that a Job makes no second pod."""
    told = CheckTold.model_validate_json(Path(argv[0]).read_bytes())
    said = Check(told, int(os.environ["JOB_COMPLETION_INDEX"])).run()
    if MESSAGE.exists():
        MESSAGE.write_text(said.bounded().model_dump_json(exclude_defaults=True))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
