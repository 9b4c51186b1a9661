"""Grades an app by a check, with real apps, checks and services."""

import json
from pathlib import Path
from typing import Any

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

from agentbench.local.examination import Bench
from agentbench.local.grading import Graded, Grader, no_progress
from agentbench.local.isolation import Isolation
from agentbench.local.services.templates import Templates


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


def report(graded: Graded, name: str = "check-1.json") -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(graded.records[name])
    return loaded
