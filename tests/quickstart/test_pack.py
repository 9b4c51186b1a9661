"""The quickstart pack is whole, and its generated parts are what their generators write."""

import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from agentbench.core.plan import plan
from agentbench.core.pricing import PriceList
from agentbench.pack.check import check
from agentbench.pack.load import load_pack
from agentbench.pod.mock_provider.script import load_script
from agentbench_analysis.rows.words import SecurityKind

PACK = Path(__file__).parents[2] / "examples" / "quickstart"
KIND_OF = re.compile(r'guard\("([a-z-]+)", "([a-z-]+)"\)')


def test_it_is_valid_and_nothing_is_owed() -> None:
    assert check(load_pack(PACK)) == []


def test_it_plans_every_cell_three_times() -> None:
    runs = plan(load_pack(PACK).spec)
    assert len(runs) == 24
    assert set(Counter(run.cell for run in runs).values()) == {3}


@pytest.mark.parametrize("generator", ["gate/build.py", "scripts/build.py"])
def test_generated_files_are_what_the_generator_writes(generator: str) -> None:
    done = subprocess.run(
        [sys.executable, "-B", PACK / generator, "--check"], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_generated_file_that_was_edited_is_named(tmp_path: Path) -> None:
    for folder in ("gate", "solutions"):
        shutil.copytree(PACK / folder, tmp_path / folder)
    edited = tmp_path / "gate/mutants/T01/python/empty-title/app/notes.py"
    edited.write_text(edited.read_text() + "\n")
    done = subprocess.run(
        [sys.executable, "-B", tmp_path / "gate/build.py", "--check"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "gate/mutants/T01/python/empty-title/app/notes.py" in done.stdout


def test_the_campaign_names_every_variant_that_is_built() -> None:
    built = set()
    for table in (PACK / "gate").glob("*.toml"):
        task, stack = table.stem.split("-")
        for name, variant in tomllib.loads(table.read_text()).items():
            fails = variant.get("fails")
            kind = "mutants" if fails else "lookalikes"
            built.add((f"gate/{kind}/{task}/{stack}/{name}", stack, fails))
    tasks = load_pack(PACK).spec.tasks
    named = [(each.path, each.stack, each.fails) for task in tasks for each in task.mutants]
    assert set(named) == built
    assert len(named) == len(built)


def test_every_check_has_five_mutants_on_each_stack() -> None:
    security = set(_kinds())
    found: Counter[tuple[str, str]] = Counter()
    for task in load_pack(PACK).spec.tasks:
        for mutant in task.mutants:
            if mutant.fails is not None:
                found["security" if mutant.fails in security else task.id, mutant.stack] += 1
    programs = ("T01", "T02", "security")
    assert set(found) == {(program, stack) for program in programs for stack in ("python", "node")}
    assert min(found.values()) >= 5


def test_mutants_show_every_kind_of_critical_failure_on_each_stack() -> None:
    kinds = _kinds()
    assert set(kinds.values()) == {kind.value for kind in SecurityKind}
    shown = {
        (kinds[mutant.fails], mutant.stack)
        for task in load_pack(PACK).spec.tasks
        for mutant in task.mutants
        if mutant.fails in kinds
    }
    assert shown == {(kind.value, stack) for kind in SecurityKind for stack in ("python", "node")}


def test_the_checks_sign_with_the_secret_that_the_stacks_are_given() -> None:
    text = (PACK / "checks/lib/billing.py").read_text()
    secret = re.search(r'^SECRET = "(.+)"$', text, re.MULTILINE)
    assert secret is not None
    given = {stack.env["BILLING_SECRET"] for stack in load_pack(PACK).spec.stacks}
    assert given == {secret[1]}


def test_prompts_name_no_stack() -> None:
    for task in load_pack(PACK).spec.tasks:
        words = (PACK / task.prompt.path).read_text().lower()
        for hint in ("python", "node", "starlette", "uvicorn", "sqlite", ".py", ".js"):
            assert hint not in words, f"{task.prompt.path} says {hint}"


def test_the_mock_model_is_priced_and_says_that_it_is_none() -> None:
    spec = load_pack(PACK).spec
    price = PriceList.parse((PACK / spec.prices).read_text(), spec.prices).price("mock-model-1")
    assert "pretend" in price.note
    (mock,) = [agent.provider.mock for agent in spec.agents if agent.provider is not None]
    assert mock is not None
    assert load_script(PACK / mock.path).conversations


def _kinds() -> dict[str, str]:
    """The kind of each assertion of the security check."""
    return dict(KIND_OF.findall((PACK / "checks/security.py").read_text()))
