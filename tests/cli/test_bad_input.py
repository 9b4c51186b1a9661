"""Bad input, as the command answers it: what is wrong and how to mend it, exit 2, no file."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.fakes.command import agent_bench
from tests.fakes.packs import a_pack, edit, tree


def rename(old: str) -> Callable[[Path], None]:
    return lambda pack: (pack / old).unlink()


def replace(old: str, new: str) -> Callable[[Path], None]:
    return lambda pack: edit(pack, old, new)


def write(text: bytes) -> Callable[[Path], None]:
    def fault(pack: Path) -> None:
        (pack / "campaign.yaml").write_bytes(text)

    return fault


def bomb() -> bytes:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    return "\n".join(lines).encode()


def link_out(pack: Path) -> None:
    (pack / "seeds/http/passwd").symlink_to("/etc/passwd")


def no_program(pack: Path) -> None:
    (pack / "checks/t01.py").chmod(0o644)


def fifty_megabytes(pack: Path) -> None:
    with (pack / "campaign.yaml").open("ab") as file:
        file.truncate(50_000_000)


def priced(pack: Path) -> None:
    edit(pack, "adapter: nop", "adapter: codex\n      model: m\n      provider: {api: openai}")
    (pack / "locks").mkdir()
    (pack / "locks/prices.json").write_text(
        '{"schema": "agentbench.prices/v1", "currency": "USD", "perTokens": 1000000, "models": '
        '{"other": {"input": "1", "output": "1", "source": "x", "date": "2026-10-14"}}}'
    )


CASES: dict[str, tuple[Callable[[Path], None], str]] = {
    "misspelt field": (replace("prompt: {", "promt: {"), "Did you mean prompt?"),
    "duplicate id": (replace("- id: A2", "- id: A1"), "the id is there twice (found 'A1')"),
    "duplicate key": (replace("  repeats: 3\n  order", "  repeats: 3\n  repeats: 4\n  order"),
                      "the key is there twice"),
    "id over a label": (replace("- id: A2", "- id: " + "a" * 64), "at most 40 fit"),
    "missing prompt": (rename("tasks/T01.md"), "no such file in the pack (found 'tasks/T01.md')"),
    "missing check": (rename("checks/t01.py"), "no such file in the pack (found 'checks/t01.py')"),
    "missing seed": (replace("seeds/http", "seeds/gone"), "no such file in the pack"),
    "check not executable": (no_program, "is not executable (found 'checks/t01.py'). Run chmod +x"),
    "path leaves the pack": (replace("tasks/T01.md", "../../etc/passwd"), "path leaves the pack"),
    "symlink out": (link_out, "the link passwd -> /etc/passwd leads out of its folder"),
    "price missing": (priced, "locks/prices.json has no price for this model (found 'm')"),
    "cap of zero": (replace("toolCalls: 100", "toolCalls: 0"), "must be at least 1 (found 0)"),
    "negative cap": (replace("wall: 5m", "wall: -5m"), "a length of time cannot be negative"),
    "three decimals": (replace('"20"', '"20.125"'), "an amount has at most two decimals"),
    "float for money": (replace('"20"', "20.10"), "a bare number can lose cents (found 20.10)"),
    "anchor bomb": (write(bomb()), "anchors unfold to more than"),
    "50 MB": (fifty_megabytes, "the file has 50000000 bytes"),
    "not UTF-8": (write(b"kind: \xff\xfe\n"), "not UTF-8: byte 0xff"),
    "not YAML": (write(b"a: [1\n"), "not YAML"),
    "empty": (write(b""), "the file is empty"),
    "no campaign": (write(b"- 1\n"), "is no BenchmarkCampaign"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_it_is_refused_by_validate_and_run_and_nothing_is_written(
    tmp_path: Path, name: str
) -> None:
    pack = a_pack(tmp_path)
    fault, message = CASES[name]
    fault(pack)
    before = tree(tmp_path)
    for command in ("validate", "run"):
        said = agent_bench(command, pack)
        assert said.code == 2, command
        assert message in said.err, command
        assert str(pack) in said.err
        assert said.out == ""
    assert tree(tmp_path) == before


@pytest.mark.parametrize(
    "command", ["validate", "plan", "run", "gate", "freeze", "verify", "doctor"]
)
def test_a_pack_that_is_not_there_is_refused(tmp_path: Path, command: str) -> None:
    said = agent_bench(command, tmp_path / "gone")
    assert said.code == 2
    assert "there is no such file. Name a pack folder; agent-bench init makes one." in said.err
    assert list(tmp_path.iterdir()) == []


def test_commands_on_rows_say_that_there_are_none(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    before = tree(tmp_path)
    for command in (["list", pack], ["report", pack], ["show", "T01-S1-A1-r1", "--pack", pack]):
        said = agent_bench(*command)
        assert said.code == 1, command
        assert "no rows yet" in said.err
        assert f"agent-bench run {pack}" in said.err
    assert tree(tmp_path) == before


def test_a_store_that_a_person_named_and_that_is_not_there_is_bad_input(tmp_path: Path) -> None:
    said = agent_bench("report", a_pack(tmp_path), "--store", tmp_path / "gone")
    assert said.code == 2
    assert "there is no such store" in said.err


@pytest.mark.parametrize("text", ["", "{", '{"schema": "agentbench.results/v1"}', "[1]"])
def test_a_results_file_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    results = tmp_path / "results.json"
    results.write_text(text)
    said = agent_bench("tables", results, "--out", tmp_path / "tables")
    assert said.code == 2
    assert str(results) in said.err
    assert not (tmp_path / "tables").exists()


def test_assumptions_that_do_not_fit_the_campaign_are_refused(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    assume = tmp_path / "assume.yaml"
    assume.write_text("stacks: {S9: {pass: 0.5}}\n")
    said = agent_bench("power", pack, "--assume", assume, "--picture", tmp_path / "p.svg")
    assert said.code == 2
    assert str(assume) in said.err
    assert not (tmp_path / "p.svg").exists()
