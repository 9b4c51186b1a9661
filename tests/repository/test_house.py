"""Rules of the house that no linter knows."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

# Written apart, so that this file does not break its own rule.
REGISTRIES = ["py" + "pi.org", "python" + "hosted.org", "npm" + "js.", "proxy." + "golang.org",
              "crates" + ".io", "deb." + "debian.org", "repo1." + "maven.org"]  # fmt: skip
MACHINE = ["/wo" + "rk/", "/ro" + "ot/", "/tmp/" + "pytest-"]


def tracked() -> list[Path]:
    """Text files that git knows."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    return [ROOT / name for name in listed if name and (ROOT / name).is_file()]


def lines_with(words: list[str]) -> list[str]:
    pattern = re.compile("|".join(map(re.escape, words)))
    found = []
    for path in tracked():
        content = path.read_bytes()
        if b"\0" in content or path.is_relative_to(
            ROOT / "analysis/agentbench_analysis/site/assets"
        ):
            continue
        for number, line in enumerate(content.decode("utf-8", "replace").splitlines(), start=1):
            if pattern.search(line):
                found.append(f"{path.relative_to(ROOT)}:{number}: {line[:120]}")
    return found


def test_there_is_no_package_named_operator() -> None:
    assert not (ROOT / "operator/__init__.py").exists()
    assert not (ROOT / "analysis/__init__.py").exists()


def test_the_standard_librarys_operator_is_found_from_the_repositorys_root() -> None:
    code = "import collections, operator; print(operator.__file__)"
    found = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": "."},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert not found.startswith(str(ROOT / "operator"))


def test_the_layers_hold() -> None:
    program = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [program, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_tracked_file_names_a_registry() -> None:
    assert lines_with(REGISTRIES) == []


def test_no_tracked_file_names_a_place_on_one_machine() -> None:
    assert lines_with(MACHINE) == []


def test_test_folders_are_no_packages() -> None:
    assert [path for path in tracked() if path.match("tests/**/__init__.py")] == []


def test_every_source_file_begins_with_what_it_is_for() -> None:
    sources = [p for root in ("operator", "analysis") for p in (ROOT / root).rglob("*.py")]
    without = [
        str(path.relative_to(ROOT))
        for path in sources
        if "scaffold" not in path.parts and not path.read_text().startswith('"""')
    ]
    assert without == []


def test_every_page_that_the_product_names_exists() -> None:
    named = {
        page
        for root in ("operator", "analysis")
        for path in (ROOT / root).rglob("*.py")
        for page in re.findall(r"docs/[a-z0-9-]+\.md", path.read_text())
    }
    assert [page for page in sorted(named) if not (ROOT / page).exists()] == []
