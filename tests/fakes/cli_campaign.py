"""The quickstart pack with the real Claude Code and Codex, and what a model tells them to do."""

import base64
import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import yaml

PACK = Path(__file__).parents[2] / "examples" / "quickstart"
KEY = "sk-campaign-5b1f0c7d92e84a36"
CLAUDE_MODEL, CODEX_MODEL = "claude-sonnet-5-5", "gpt-5.5"
SOLUTION = "solutions/T01/python"
MUTANT = "gate/mutants/T01/python/read-of-any-tenant"  # right but for one thing
RETURNED = f"{CLAUDE_MODEL}-20261101"  # the snapshot that answers for it
SECOND_TASK = "switched by a webhook"  # words that only the second prompt has


def turn(text: str = "", *tools: dict[str, Any], **usage: int) -> dict[str, Any]:
    return {"text": text, "tools": list(tools), "usage": usage}


def bash(command: str) -> dict[str, Any]:
    return {"name": "Bash", "input": {"command": command, "description": "step"}}


def shell(command: str) -> dict[str, Any]:
    return {"name": "exec_command", "input": {"cmd": command}}


def files_of(*layers: str) -> dict[str, str]:
    """The text of every file of some folders of the pack, a later one laid over an earlier."""
    return {
        path.relative_to(PACK / layer).as_posix(): path.read_text()
        for layer in layers
        for path in sorted((PACK / layer).rglob("*"))
        if path.is_file()
    }


def claude_script() -> dict[str, Any]:
    """T01: the reference solution, a question, the tests. T02: more calls than are allowed."""
    usage = {"input": 101, "cacheRead": 30_007, "cacheWrite5m": 2_003, "output": 211}
    reads = [
        {"name": "Read", "input": {"file_path": f"/workspace/{path}"}}
        for path in ("README.md", "app/main.py")
    ]
    writes = [
        {"name": "Write", "input": {"file_path": f"/workspace/{path}", "content": text}}
        for path, text in files_of(SOLUTION).items()
    ]
    leak = base64.b64encode(f"key={KEY}".encode()).decode()
    first = [
        turn("I read the app.", *reads, **usage),
        turn("", *writes, **usage),
        turn("May everybody in a tenant rename its notes?", **usage),
        turn("", bash(f"python3 -m unittest discover -s tests; echo {leak} > leak.txt"), **usage),
        turn(f"Notes work. The key is {KEY}.", **usage),
    ]
    batch = turn("", *[bash("echo x >> ran.log")] * 12, **usage)
    second = {"match": SECOND_TASK, "turns": [batch, batch, turn("done")]}
    first = [{**one, "model": RETURNED} for one in first]
    return {"key": KEY, "conversations": [second], "turns": first}


def codex_script() -> dict[str, Any]:
    """T01: a solution with a hole in its tenants' wall. T02: a call that crosses the cost cap."""
    usage = {"input": 4_998, "cacheRead": 15_013, "output": 307, "reasoning": 53}
    writes = [
        shell(f"printf %s {shlex.quote(text)} > {path}")
        for path, text in files_of(SOLUTION, MUTANT).items()
    ]
    first = [turn("I write.", *writes, **usage), turn("Notes work.", **usage)]
    dear = turn("", shell("echo x >> ran.log"), input=100_000, output=10_000)
    second = {"match": SECOND_TASK, "turns": [dear]}
    return {"key": KEY, "conversations": [second], "turns": first}


def agent(name: str, adapter: str, version: str, model: str, api: str) -> dict[str, Any]:
    provider = {"api": api, "mock": {"path": f"scripts/{name}.json"}, "keyEnv": "CAMPAIGN_KEY"}
    return {
        "id": name,
        "name": name,
        "adapter": adapter,
        "version": version,
        "model": model,
        "provider": provider,
    }


def write_pack(pack: Path) -> None:
    """The quickstart pack with its Python stack, and with real agents in place of its own."""
    ignore = shutil.ignore_patterns(".agent-bench", "__pycache__", "frozen", "node", "sloppy")
    shutil.copytree(PACK, pack, ignore=ignore)
    campaign = yaml.safe_load((pack / "campaign.yaml").read_text())
    spec = campaign["spec"]
    for task in spec["tasks"]:
        for ways in ("seeds", "solutions"):
            del task[ways]["node"]
        del task["mutants"]
    spec["stacks"] = [stack for stack in spec["stacks"] if stack["id"] == "python"]
    spec["agents"] = [
        agent("claude", "claude-code", "2.1.332", CLAUDE_MODEL, "anthropic"),
        agent("codex", "codex", "0.171.0", CODEX_MODEL, "openai"),
    ]
    spec["repeats"] = spec["checks"]["repeats"] = 1
    spec["analysis"] = {"referenceStack": "python"}
    (pack / "campaign.yaml").write_text(yaml.safe_dump(campaign))
    (pack / "scripts/claude.json").write_text(json.dumps(claude_script()))
    (pack / "scripts/codex.json").write_text(json.dumps(codex_script()))
    price = {
        "input": "2",
        "output": "10",
        "cache_read": "0.10",
        "source": "-",
        "date": "2026-11-30",
    }
    prices = json.loads((pack / "locks/prices.json").read_text())
    prices["models"] = {CLAUDE_MODEL: {**price, "cache_write_5m": "2.50"}, CODEX_MODEL: price}
    (pack / "locks/prices.json").write_text(json.dumps(prices))
