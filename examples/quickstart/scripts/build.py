#!/usr/bin/env python3
"""Writes the steps of the agent `sloppy`, one file per task and stack, from the solutions and their faults.

    python3 scripts/build.py            # write scripts/sloppy/*.json
    python3 scripts/build.py --check    # write nothing; exit 1 where a file is not what it should be

What it does in each cell is fixed, so that the campaign always tells the same story:

    T01 on Python   does the work, after a question              passes
    T01 on Node     forgets the tenant when it reads a note      fails, security
    T02 on Python   accepts a webhook that nobody signed         fails, security
    T02 on Node     reads one file over and over                 fails, cap on tool calls
"""

import json
import sys
import tomllib
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent
PACK = SCRIPTS.parent
sys.path.insert(0, str(PACK / "gate"))

from build import edited


def model(prompt):
    """A call to the mock model; scripts/model.yaml says what it answers and what that costs."""
    return {"model": {"prompt": prompt, "maxTokens": 4096}}


def work(task, stack, fault=None):
    """The files of the solution, with a fault or without, as steps that write them."""
    folder = PACK / "solutions" / task / stack
    files = {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    if fault:
        table = tomllib.loads((PACK / "gate" / f"{task}-{stack}.toml").read_text(encoding="utf-8"))
        files |= edited(task, stack, fault, table[fault]["edits"])
    return [{"write": {"path": path, "content": text}} for path, text in files.items()]


def cells():
    """The steps of each cell."""
    look = [model("Read the task."), {"shell": "cat README.md"}, {"sleep": 0.2}]
    try_python = {"shell": "python3 -c 'import app.notes'"}
    yield (
        "T01-python",
        [
            *look,
            {"shell": "cat app/main.py app/accounts.py"},
            try_python,
            model("Plan the notes."),
            {"question": "Should two notes of a tenant be allowed to have the same title?"},
            model("Write the notes."),
            *work("T01", "python"),
            try_python,
            {"shell": "python3 -m unittest discover -s tests"},
            model("Sum up."),
            {"say": "Notes are there, with a migration. The tests pass."},
        ],
    )
    yield (
        "T01-node",
        [
            *look,
            {"shell": "cat src/routes.js src/accounts.js"},
            model("Write the notes."),
            *work("T01", "node", "read-of-any-tenant"),
            {"shell": "node --check src/notes.js"},
            model("Sum up."),
            {"say": "Notes are there. I have checked that each tenant sees its own list."},
        ],
    )
    yield (
        "T02-python",
        [
            *look,
            {"shell": "cat app/main.py app/accounts.py"},
            model("Write the webhook."),
            *work("T02", "python", "unsigned-is-fine"),
            {"shell": "python3 -m unittest discover -s tests"},
            model("Sum up."),
            {"say": "The webhook switches the plan. Signatures are checked where they are sent."},
        ],
    )
    yield (
        "T02-node",
        [
            *look,
            model("Plan the webhook."),
            {"shell": "cat src/routes.js", "times": 24},
            model("Write the webhook."),
            *work("T02", "node"),
            {"say": "Done."},
        ],
    )


def main(arguments):
    """Write or check the files."""
    folder = SCRIPTS / "sloppy"
    stale = 0
    for name, steps in cells():
        path = folder / f"{name}.json"
        text = json.dumps({"steps": steps}, indent=1, ensure_ascii=False) + "\n"
        if "--check" not in arguments:
            folder.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            print(f"{path.relative_to(PACK)} is not what scripts/build.py writes")
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
