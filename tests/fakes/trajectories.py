"""Made-up traces (ATIF v1.7) and diffs that look like an agent's work."""

import json
import random
from datetime import datetime, timedelta
from typing import Any

_THOUGHTS = (
    "The route lists every note; it must only list those of the caller's tenant.",
    "The migration ran on the existing database. I still have to try it on an empty one.",
    "The test fails because the session has no tenant. I will set it when the user logs in.",
    "Two places build the same query, so the filter belongs in the repository.",
)
_COMMANDS = (
    ("shell", "rg -n 'notes' src --glob '!*.lock'", "src/notes/routes.ts:14: list(all())\n"),
    (
        "shell",
        "npm test -- notes",
        "FAIL notes.test.ts\n  expected 404, got 200\n\n1 failed, 11 passed",
    ),
    (
        "read_file",
        "src/notes/repository.ts",
        "export const all = () =>\n  db.select().from(notes);\n",
    ),
    ("edit_file", "src/notes/repository.ts", "1 replacement made"),
    ("shell", "npm run migrate && curl -s localhost:3000/health", '{"status":"ok"}'),
)


def trajectory(chance: random.Random, row: dict[str, Any]) -> bytes:
    """A trace that takes as long, and costs as much, as the row says."""
    metrics = row["metrics"]
    count = max(8, min(90, int(metrics["tool_calls"]["value"] / 2)))
    cost = float(metrics["cost_usd"]["value"] or 1) / count
    moment = datetime.fromisoformat(row["startedAt"])
    pace = metrics["agent_seconds"]["value"] / count
    steps: list[dict[str, Any]] = [
        {"source": "system", "message": "You are working in /workspace."},
        {
            "source": "user",
            "message": "Add a notes resource: users create, read, update and delete notes, and see "
            "only those of their own tenant. Add a migration and a list page.",
        },
    ]
    asked = metrics["interventions"]["value"]
    for place in range(count):
        steps.append(_step(chance, place, cost))
        if asked and place == count // 2:
            steps.append(
                {
                    "source": "user",
                    "message": "Use your best judgement.",
                    "extra": {"intervention_index": 1},
                }
            )
    steps.append({"source": "agent", "message": "Done. Notes are scoped to the caller's tenant."})
    for number, step in enumerate(steps, 1):
        step["step_id"] = number
        step["timestamp"] = moment.isoformat()
        moment += timedelta(seconds=pace * chance.uniform(0.3, 1.7))
    return json.dumps(
        {
            "schema_version": "ATIF-v1.7",
            "session_id": row["run"],
            "agent": {
                "name": "claude-code",
                "version": "2.1.90",
                "model_name": "claude-sonnet-5-5",
            },
            "steps": steps,
        }
    ).encode()


def _step(chance: random.Random, place: int, cost: float) -> dict[str, Any]:
    name, argument, output = chance.choice(_COMMANDS)
    key = "path" if name != "shell" else "command"
    if place % 11 == 7:
        output = "\n".join(f"  ok {number} - notes case {number}" for number in range(120))
    step: dict[str, Any] = {
        "source": "agent",
        "message": chance.choice(_THOUGHTS) if place % 3 == 0 else "",
        "model_name": "claude-sonnet-5-5",
        "tool_calls": [
            {"tool_call_id": f"call-{place}", "function_name": name, "arguments": {key: argument}}
        ],
        "observation": {"results": [{"source_call_id": f"call-{place}", "content": output}]},
        "metrics": {
            "prompt_tokens": 9_000 + 400 * place,
            "completion_tokens": chance.randint(60, 900),
            "cost_usd": round(cost, 6),
        },
    }
    if place % 6 == 2:
        step["reasoning_content"] = chance.choice(_THOUGHTS)
    return step


def diff(chance: random.Random, stack: str) -> bytes:
    """A small unified diff."""
    ending = "php" if stack == "AB-S3" else "ts"
    extra = "".join(f"+  field{number}: text(),\n" for number in range(chance.randint(2, 9)))
    return (
        f"diff --git a/src/notes/repository.{ending} b/src/notes/repository.{ending}\n"
        "index 3b18e51..9c2f0aa 100644\n"
        f"--- a/src/notes/repository.{ending}\n+++ b/src/notes/repository.{ending}\n"
        "@@ -1,6 +1,7 @@\n import { db } from '../db';\n"
        "-export const all = () => db.select().from(notes);\n"
        "+export const all = (tenant: string) =>\n"
        "+  db.select().from(notes).where(eq(notes.tenant, tenant));\n \n"
        f"diff --git a/migrations/0007_notes.sql b/migrations/0007_notes.sql\n"
        "new file mode 100644\n--- /dev/null\n+++ b/migrations/0007_notes.sql\n"
        f"@@ -0,0 +1,9 @@\n+create table notes (\n{extra}+);\n"
    ).encode()
