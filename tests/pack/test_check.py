"""Rules between a campaign and the files around it."""

import os
from pathlib import Path

import pytest
from tests.fakes.packs import a_pack, edit

from agentbench.pack.check import check, require_valid
from agentbench.pack.load import load_pack
from agentbench.pack.problems import PackInvalid


def said(pack: Path) -> str:
    return "\n".join(str(problem) for problem in check(load_pack(pack)))


def test_the_scaffold_has_no_problem(tmp_path: Path) -> None:
    assert said(a_pack(tmp_path)) == ""


MISSING = {
    "tasks/T01.md": "spec.tasks[0].prompt.path",
    "checks/t01.py": "spec.tasks[0].check.path",
    "seeds/http": "spec.tasks[0].seeds.S1.path",
    "solutions/wsgi": "spec.tasks[0].solutions.S2.path",
    "mutants/no-refusal": "spec.tasks[0].mutants[0].path",
}


@pytest.mark.parametrize("name", MISSING)
def test_a_missing_file_is_named_with_its_field(tmp_path: Path, name: str) -> None:
    pack = a_pack(tmp_path)
    (pack / name).rename(tmp_path / "gone")
    assert f"{MISSING[name]}: there is no such file in the pack (found '{name}')" in said(pack)


def test_everything_missing_is_listed_at_once(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    for n, name in enumerate(MISSING):
        (pack / name).rename(tmp_path / str(n))
    assert len(check(load_pack(pack))) == len(MISSING)


def test_a_file_that_an_open_item_owes_stops_a_run_and_not_the_draft(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    (pack / "seeds/http").rename(tmp_path / "gone")
    item = "draft: true\n    openItems: [{id: O1, text: seeds to come, files: [seeds/]}]"
    edit(pack, "draft: true", item)
    loaded = load_pack(pack)
    (problem,) = check(loaded)
    assert problem.open
    require_valid(loaded)
    with pytest.raises(PackInvalid, match=r"seeds\.S1\.path"):
        require_valid(loaded, ready=True)
    edit(pack, "text: seeds to come", "text: seeds to come, resolution: done")
    assert not check(load_pack(pack))[0].open


def test_a_check_that_is_not_executable_is_refused(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    (pack / "checks/t01.py").chmod(0o644)
    assert "the check is not executable (found 'checks/t01.py'). Run chmod +x" in said(pack)


@pytest.mark.parametrize("path", ["../secret", "tasks/../../secret", "a\\b"])
def test_a_path_that_leaves_the_pack_is_refused(tmp_path: Path, path: str) -> None:
    pack = a_pack(tmp_path)
    (tmp_path / "secret").write_text("x")
    edit(pack, "path: tasks/T01.md", f"path: '{path}'")
    assert "the path leaves the pack" in said(pack)


def test_a_link_out_of_the_pack_is_refused(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    (pack / "tasks/T01.md").unlink()
    (pack / "tasks/T01.md").symlink_to("/etc/hostname")
    assert "a link leads out of the pack" in said(pack)


@pytest.mark.parametrize("target", ["/etc/passwd", "../wsgi/app.py"])
def test_a_link_out_of_a_start_state_is_refused(tmp_path: Path, target: str) -> None:
    pack = a_pack(tmp_path)
    (pack / "seeds/http/extra").symlink_to(target)
    assert f"the link extra -> {target} leads out of its folder" in said(pack)


def test_a_link_inside_a_start_state_is_fine(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    (pack / "seeds/http/extra").symlink_to("app.py")
    assert said(pack) == ""


def test_a_pipe_in_a_start_state_is_refused(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    os.mkfifo(pack / "seeds/http/pipe")
    assert "pipe is neither file, folder nor link" in said(pack)


def test_a_file_name_that_is_no_utf8_is_refused(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    Path(os.fsdecode(os.fsencode(pack / "seeds/http") + b"/\xff")).write_text("x")
    assert "the file name '\\udcff' is no UTF-8" in said(pack)


def test_an_empty_folder_and_an_empty_prompt_are_refused(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    (pack / "seeds/http/app.py").unlink()
    (pack / "tasks/T01.md").write_text("")
    assert "seeds.S1.path: the folder is empty" in said(pack)
    assert "prompt.path: the file is empty" in said(pack)


def test_a_prompt_that_is_no_utf8_is_refused(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    (pack / "tasks/T01.md").write_bytes(b"one\ntwo \xff\n")
    assert "the prompt is not UTF-8 on its line 2" in said(pack)


def test_a_folder_where_a_file_must_be_is_refused_and_the_reverse(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    edit(pack, "path: tasks/T01.md", "path: tasks")
    edit(pack, "path: seeds/http", "path: seeds/http/app.py")
    assert "prompt.path: is a folder" in said(pack)
    assert "seeds.S1.path: is a file" in said(pack)


AGENT = """- id: A2
      name: Real
      adapter: claude-code
      model: model-2
      provider: { api: anthropic, keyEnv: KEY }
      version: """


def with_model(pack: Path, prices: str | None) -> None:
    edit(pack, "- id: A2\n      name: Does nothing\n      adapter: nop", AGENT + '"1"')
    (pack / "locks").mkdir()
    if prices is not None:
        (pack / "locks/prices.json").write_text(prices)


PRICES = """{
  "schema": "agentbench.prices/v1", "currency": "USD", "perTokens": 1000000,
  "models": {
    "model-1": {"input": "%s", "output": "2", "source": "x.example", "date": "2026-10-14"}
  }
}"""


def test_a_model_without_a_price_is_refused(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    with_model(pack, PRICES % "1")
    assert "spec.agents[1].model: locks/prices.json has no price for this model" in said(pack)


def test_a_price_list_is_needed_where_a_model_is_called(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    with_model(pack, None)
    assert "there is no such file in the pack (found 'locks/prices.json')" in said(pack)


@pytest.mark.parametrize("price", ["-1", "abc"])
def test_a_price_that_is_no_amount_is_refused(tmp_path: Path, price: str) -> None:
    pack = a_pack(tmp_path)
    with_model(pack, PRICES % price)
    assert "locks/prices.json: model 'model-1': input" in said(pack)


REFERENCES = [
    ("referenceStack: S1", "referenceStack: S9", "analysis.referenceStack: no stack has this id"),
    ("S1: { path: seeds/http }", "S8: { path: seeds/http }", "seeds.S8: no stack has this id"),
    ("stack: S1, fails", "stack: S7, fails", "mutants[0].stack: no stack has this id"),
    ("needs: [H1]", "needs: [H2]", "claims[0].needs[0]: no hypothesis has this id (found 'H2')"),
    ("- id: S2", "- id: S1", "spec.stacks[1].id: the id is there twice (found 'S1')"),
    ("- id: A2", "- id: A1", "spec.agents[1].id: the id is there twice (found 'A1')"),
    ("{ id: H4,", "{ id: H1,", "hypotheses[1].id: the id is there twice"),
    ("adapter: nop", "adapter: scripted", "a scripted agent has no steps for T01/S1"),
    ("adapter: nop", "adapter: nob", "no adapter has this name (found 'nob'). Did you mean nop?"),
    ("repeats: 3\n  order", "repeats: 3\n  calibration: {repeats: 20}\n  order", ""),
    ("    referenceStack: S1", "    confidence: '1.5'\n    referenceStack: S1", "confidence"),
]


@pytest.mark.parametrize(("old", "new", "message"), REFERENCES, ids=[n for _, n, _ in REFERENCES])
def test_ids_are_unique_and_lead_somewhere(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    pack = a_pack(tmp_path)
    edit(pack, old, new)
    assert message in said(pack)
    assert bool(message) == bool(said(pack))


def test_a_run_id_that_would_not_fit_a_label_is_refused(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    for old in ("- id: A1", "- id: A2"):
        edit(pack, old, old + "x" * 35)
    edit(pack, "- id: T01", "- id: T01" + "y" * 30)
    assert "a Kubernetes label holds 63. Shorten the ids" in said(pack)


def test_a_stack_without_a_start_state_or_start_command_is_named(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    edit(pack, "        S2: { path: seeds/wsgi }\n", "")
    assert "spec.tasks[0].seeds: there is no start state for stack S2" in said(pack)
