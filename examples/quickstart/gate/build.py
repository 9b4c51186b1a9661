#!/usr/bin/env python3
"""Writes the variants of the reference solutions as folders: gate/mutants/ and gate/lookalikes/.

    python3 gate/build.py            # write the folders, print the entries for campaign.yaml
    python3 gate/build.py --check    # write nothing; exit 1 where a folder is not what it should be

A variant holds the files that differ from the solution and nothing else: it is laid over it.
"""

import shutil
import sys
import tomllib
from pathlib import Path

GATE = Path(__file__).resolve().parent
PACK = GATE.parent


def edited(task, stack, name, edits):
    """The files of a variant, by path."""
    files = {}
    for path, old, new in edits:
        source = PACK / "solutions" / task / stack / path
        text = files.get(path) or source.read_text(encoding="utf-8")
        if text.count(old) != 1:
            raise SystemExit(
                f"gate/{task}-{stack}.toml: {name}: {path} has this {text.count(old)} times, not once:\n{old}"
            )
        files[path] = text.replace(old, new)
    return files


def variants():
    """Every variant: kind, task, stack, name, failing assertion or None, files."""
    for table in sorted(GATE.glob("*.toml")):
        task, stack = table.stem.split("-")
        for name, variant in tomllib.loads(table.read_text(encoding="utf-8")).items():
            fails = variant.get("fails")
            kind = "mutants" if fails else "lookalikes"
            yield kind, task, stack, name, fails, edited(task, stack, name, variant["edits"])


def expected():
    """Every file under gate/mutants and gate/lookalikes, by path, with its text."""
    return {
        GATE / kind / task / stack / name / path: text
        for kind, task, stack, name, _, files in variants()
        for path, text in files.items()
    }


def found():
    """The files that are there now."""
    folders = (GATE / "mutants", GATE / "lookalikes")
    return {path for folder in folders for path in folder.rglob("*") if path.is_file()}


def main(arguments):
    """Write or check the folders."""
    files = expected()
    if "--check" in arguments:
        differ = sorted(found() ^ set(files)) or sorted(
            path for path, text in files.items() if path.read_text(encoding="utf-8") != text
        )
        for path in differ:
            print(f"{path.relative_to(PACK)} is not what gate/build.py writes")
        return 1 if differ else 0
    for folder in ("mutants", "lookalikes"):
        shutil.rmtree(GATE / folder, ignore_errors=True)
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for kind, task, stack, name, fails, _ in variants():
        ends = f", fails: {fails}" if fails else ""
        print(f"        - {{ path: gate/{kind}/{task}/{stack}/{name}, stack: {stack}{ends} }}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
