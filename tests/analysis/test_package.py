"""The analysis stands alone: numpy, scipy and the standard library, and no world to touch."""

import ast
import subprocess
import sys
from pathlib import Path

import agentbench_analysis

ROOT = Path(agentbench_analysis.__file__).parent
FORBIDDEN = {"os", "time", "random", "subprocess", "socket", "pathlib"}


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return names


def modules() -> list[Path]:
    return [path for path in ROOT.rglob("*.py") if path.relative_to(ROOT).parts[0] != "site"]


def test_every_import_is_numpy_scipy_or_the_standard_library() -> None:
    allowed = {"numpy", "scipy", "agentbench_analysis", *sys.stdlib_module_names}
    for path in modules():
        assert imported(path) <= allowed - FORBIDDEN, path


def test_the_facade_loads_nothing_heavy() -> None:
    code = (
        "import sys, agentbench_analysis.facade; heavy = ('scipy.stats', 'pydantic', 'pandas'); "
        "print([name for name in heavy if name in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert found.stdout.strip() == "[]"


def test_no_file_is_longer_than_one_subject_needs() -> None:
    long = {path.name: n for path in modules() if (n := len(path.read_text().splitlines())) > 290}
    assert long == {}
