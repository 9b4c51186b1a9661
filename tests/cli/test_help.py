"""Help: quick, grouped, with an example on every page; completion for three shells."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fakes.command import PROGRAM, agent_bench

from agentbench.cli.main import COMMANDS, run

PAGES = [[name] for name in COMMANDS] + [["metrics", "catalog"], ["metrics", "run"]]


def test_the_help_lists_every_command_with_its_line() -> None:
    said = agent_bench("--help")
    assert said.code == 0
    for name, (part, line) in COMMANDS.items():
        assert f"  {name} " in said.out
        assert line.split(".")[0][:40] in said.out
        assert f"{part}:" in said.out
    assert "Exit codes: 0 done" in said.out


@pytest.mark.parametrize("page", PAGES, ids=" ".join)
def test_every_help_page_has_an_example(page: list[str]) -> None:
    said = agent_bench(*page, "--help")
    assert said.code == 0
    assert "Example" in said.out
    assert "agent-bench" in said.out.split("Example")[1]


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["run", "--help"], ["doctor", "-h"], ["cancel", "-h"]]
)
def test_help_loads_nothing_that_it_does_not_need(arguments: list[str]) -> None:
    code = (
        "import sys\nfrom agentbench.cli.main import run\n"
        f"assert run({arguments!r}) == 0\n"
        "heavy = {'pydantic', 'rich', 'aiohttp', 'numpy', 'scipy', 'yaml', 'zstandard',"
        " 'kubernetes', 'boto3', 'urllib3', 'kopf'}\n"
        "sys.stderr.write(' '.join(sorted(heavy & sys.modules.keys())))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_a_misspelt_command_is_told_its_nearest() -> None:
    said = agent_bench("vlidate")
    assert said.code == 2
    assert "No such command 'vlidate'. Did you mean validate?" in said.err


def test_an_unknown_option_is_told_its_nearest() -> None:
    said = agent_bench("plan", "--frist", "3")
    assert said.code == 2
    assert "--first" in said.err


def test_the_version_is_the_packages() -> None:
    assert agent_bench("--version").out.startswith("agent-bench 0.")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_asks_the_command(shell: str) -> None:
    said = agent_bench("completion", shell)
    assert said.code == 0
    assert "_AGENT_BENCH_COMPLETE" in said.out


def completions(words: str, **env: str) -> list[str]:
    done = subprocess.run(
        [PROGRAM],
        env={
            **os.environ,
            "_AGENT_BENCH_COMPLETE": "bash_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split(" ")) - 1),
            **env,
        },
        capture_output=True,
        text=True,
        check=True,
    )
    return [line.split(",")[1] for line in done.stdout.split()]


def test_commands_and_options_complete() -> None:
    assert completions("agent-bench va") == ["validate"]
    assert "--parallel" in completions("agent-bench run --par")


def test_completing_run_ids_without_rows_is_silent() -> None:
    assert completions("agent-bench show T0") == []


def test_a_reader_that_stops_reading_is_no_error() -> None:
    done = subprocess.run(
        f"{PROGRAM} crd | head -1", shell=True, capture_output=True, text=True, check=True
    )
    assert done.stdout == "apiVersion: apiextensions.k8s.io/v1\n"
    assert done.stderr == ""


def documented() -> dict[str, str]:
    """The lines of the table of commands, by command."""
    lines = (Path(__file__).parents[2] / "docs/cli.md").read_text().splitlines()
    found: dict[str, str] = {}
    for line in lines:
        if line.startswith("| `"):
            for name in re.findall(r"`([a-z-]+)[ `]", line.split("|")[1]):
                found.setdefault(name, line)
    return found


def test_the_page_of_commands_has_a_line_for_each() -> None:
    assert set(COMMANDS) - set(documented()) == set()


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "metrics"])
def test_the_options_on_the_page_are_the_commands_own(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([name, "--help"]) == 0
    said = capsys.readouterr().out
    named = re.findall(r"`(-{1,2}[a-zA-Z-]+)", documented()[name].split("|", 2)[2])
    assert [option for option in named if option not in said] == []
