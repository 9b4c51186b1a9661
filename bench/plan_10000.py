"""Plan and freeze of a 10,000-run campaign: seconds of each, two numbers.

    python bench/plan_10000.py

The pack has 50 tasks, 10 stacks, 4 agents and 5 repeats, each task with a start state and a
reference solution per stack.
"""

import tempfile
import time
from pathlib import Path

import yaml

from agentbench.core.plan import plan
from agentbench.pack.freeze import freeze
from agentbench.pack.load import GATES_FILE, load_pack
from agentbench.pack.prepare import prepare
from agentbench.pack.records import GateResult, Gates, encode

TASKS, STACKS, AGENTS, REPEATS = 50, 10, 4, 5
AT = "2026-10-14T08:00:00Z"


def write_pack(root: Path) -> None:
    def file(name: str, text: str, mode: int = 0o644) -> dict[str, str]:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return {"path": name}

    def tree(kind: str, task: int, stack: int) -> dict[str, str]:
        file(f"{kind}/{task}/{stack}/app.py", f"# {kind} {task} {stack}\n" * 20)
        return {"path": f"{kind}/{task}/{stack}"}

    document = {
        "apiVersion": "agentbench.dev/v1alpha1",
        "kind": "BenchmarkCampaign",
        "metadata": {"name": "large"},
        "spec": {
            "protocol": {"id": "LARGE-1", "draft": True},
            "tasks": [
                {
                    "id": f"T{task:02d}",
                    "name": f"Task {task}",
                    "prompt": file(f"tasks/{task}.md", f"Do {task}.\n"),
                    "check": file(f"checks/{task}.sh", "#!/bin/sh\n", 0o755),
                    "seeds": {f"S{stack}": tree("seeds", task, stack) for stack in range(STACKS)},
                    "solutions": {
                        f"S{stack}": tree("solutions", task, stack) for stack in range(STACKS)
                    },
                }
                for task in range(TASKS)
            ],
            "stacks": [
                {"id": f"S{stack}", "name": f"Stack {stack}", "start": {"run": "exec ./app"}}
                for stack in range(STACKS)
            ],
            "agents": [
                {"id": f"A{agent}", "name": f"Agent {agent}", "adapter": "nop"}
                for agent in range(AGENTS)
            ],
            "repeats": REPEATS,
            "order": {"seed": 7},
            "analysis": {"referenceStack": "S0"},
        },
    }
    (root / "campaign.yaml").write_text(yaml.safe_dump(document))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_pack(root)
        pack = load_pack(root)
        began = time.perf_counter()
        runs = plan(pack.spec)
        planned = time.perf_counter() - began
        result = GateResult(
            task="T00", stack="S0", subject="reference", expected="pass", found="pass", ok=True
        )
        gates = Gates(digest=prepare(pack).digest, at=AT, results=(result,))
        (root / "locks").mkdir()
        (root / GATES_FILE).write_bytes(encode(gates))
        began = time.perf_counter()
        freeze(load_pack(root), now=AT, commit=None)
        frozen = time.perf_counter() - began
    print(f"plan of {len(runs)} runs: {planned:.2f}")
    print(f"load, check and freeze of {len(runs)} runs: {frozen:.2f}")


if __name__ == "__main__":
    main()
