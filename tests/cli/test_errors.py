"""Errors by name: every name is still there, and ends with the code that the help promises."""

import importlib
import subprocess
import sys

import pytest

from agentbench.cli.errors import _CODES, exit_code, explain
from agentbench.cli.exits import Exit
from agentbench.pack.problems import PackInvalid, Problem


def test_every_named_error_exists() -> None:
    for module, name, _ in _CODES:
        kind = getattr(importlib.import_module(module), name)
        assert issubclass(kind, Exception), name


def test_an_error_ends_with_the_first_code_that_fits() -> None:
    problem = Problem(file="a", message="is wrong", cure="Mend it.")
    assert exit_code(PackInvalid([problem])) is Exit.BAD_INPUT
    assert exit_code(PermissionError(13, "Permission denied", "x")) is Exit.FAILED
    assert exit_code(KeyError("x")) is None


def test_an_error_of_the_system_names_the_file() -> None:
    assert (
        explain(OSError(28, "No space left on device", "f")) == "Error: f: No space left on device."
    )


def test_what_came_from_a_file_cannot_steer_the_terminal() -> None:
    problem = Problem(file="a", message="is \x1b[2Jwrong", cure="Mend it.")
    assert "\x1b" not in explain(PackInvalid([problem]))


@pytest.mark.parametrize("words", [["list", "--cluster"], ["push", "."], ["cancel", "x"]])
def test_without_the_libraries_of_clusters_it_says_how_to_install_them(words: list[str]) -> None:
    code = (
        "import sys\n"
        "sys.modules['kubernetes'] = sys.modules['boto3'] = None\n"
        "from agentbench.cli.main import run\n"
        f"sys.exit(run({words!r}))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "pip install 'agent-bench[operator]'" in done.stderr
