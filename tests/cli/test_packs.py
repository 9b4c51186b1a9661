"""Packs from init to verify, as a user types it."""

import os
from pathlib import Path

import pytest
import yaml
from tests.fakes.command import a_program, agent_bench
from tests.fakes.packs import a_pack, edit, frozen, tree

from agentbench.cli.doctoring import examine
from agentbench.cli.findings import Health
from agentbench.pack.load import load_pack


def test_a_new_pack_validates_and_plans(tmp_path: Path) -> None:
    said = agent_bench("init", "my-bench", cwd=tmp_path)
    assert said.code == 0
    assert "agent-bench run my-bench" in said.out
    pack = tmp_path / "my-bench"
    assert os.access(pack / "checks/t01.py", os.X_OK)
    said = agent_bench("validate", cwd=pack)
    assert (said.code, said.err) == (0, "")
    assert said.out == "campaign.yaml is valid: 1 task x 2 stacks x 2 agents, 12 runs.\n"
    said = agent_bench("plan", "--json", cwd=pack)
    assert said.json["runs"] == 12
    assert said.json["worstCaseUSD"] == "12"
    assert [run["order"] for run in said.json["order"]] == list(range(12))


def test_init_leaves_a_folder_in_use_alone(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    before = tree(tmp_path)
    said = agent_bench("init", pack)
    assert said.code == 2
    assert "is there already. Name a new folder." in said.err
    assert tree(tmp_path) == before


@pytest.mark.parametrize(
    ("option", "value"), [("--name", "My Bench"), ("--protocol", "a b"), ("--seed", "-1")]
)
def test_init_refuses_a_name_that_cannot_be_one(tmp_path: Path, option: str, value: str) -> None:
    said = agent_bench("init", tmp_path / "p", option, value)
    assert said.code == 2
    assert list(tmp_path.iterdir()) == []


def test_the_plan_is_the_same_on_every_call_and_another_for_another_seed(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    first = agent_bench("plan", pack).out
    assert agent_bench("plan", pack).out == first
    edit(pack, "order: { seed: 7 }", "order: { seed: 8 }")
    assert agent_bench("plan", pack).out != first


def test_validate_lists_problems_as_json_too(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    edit(pack, "prompt: {", "promt: {")
    said = agent_bench("validate", pack, "--json")
    assert said.code == 2
    (problem,) = said.json["problems"]
    assert problem["field"] == "spec.tasks[0].promt"
    assert problem["line"] == 16
    assert problem["cure"] == "Did you mean prompt?"


def test_what_open_items_owe_is_listed_and_refused_only_when_it_is_needed(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    (pack / "tasks/T01.md").unlink()
    edit(pack, "draft: true", "draft: true\n    openItems: [{id: O1, text: x, files: [tasks]}]")
    said = agent_bench("validate", pack)
    assert said.code == 0
    assert "Open before a freeze: 1" in said.out
    assert agent_bench("plan", pack).code == 0
    for command in (["validate", "--strict"], ["freeze"], ["run"], ["gate"]):
        said = agent_bench(*command, pack)
        assert said.code == 2, command
        assert "there is no such file in the pack (found 'tasks/T01.md')" in said.err


def test_freeze_and_verify(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    record = frozen(pack).record
    said = agent_bench("verify", pack)
    assert (said.code, said.err) == (0, "")
    assert record.digest in said.out
    said = agent_bench("freeze", pack, "--json")
    assert said.json["already"]
    assert said.json["digest"] == record.digest
    with (pack / "tasks/T01.md").open("a") as file:
        file.write(" ")
    said = agent_bench("verify", pack)
    assert said.code == 2
    assert f"{pack}/tasks/T01.md: was changed after the freeze." in said.err
    before = tree(pack)
    said = agent_bench("run", pack)
    assert said.code == 2
    assert f"{pack}/tasks/T01.md: was changed after the freeze." in said.err
    assert tree(pack) == before


def test_the_crds_are_printed_and_written(tmp_path: Path) -> None:
    printed = list(yaml.safe_load_all(agent_bench("crd").out))
    assert [crd["spec"]["names"]["kind"] for crd in printed] == [
        "BenchmarkCampaign",
        "BenchmarkRun",
    ]
    assert agent_bench("crd", "--out", tmp_path / "crds").code == 0
    assert len(list((tmp_path / "crds").iterdir())) == 2


def test_doctor_finds_what_a_pack_needs_and_this_machine_lacks(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    assert agent_bench("doctor", pack).code == 0
    assert agent_bench("doctor", cwd=tmp_path).code == 0
    edit(
        pack,
        "adapter: nop",
        "adapter: codex\n      model: m\n      version: 1.2.3"
        "\n      provider: {api: openai, keyEnv: NO_SUCH_KEY}",
    )
    edit(pack, "name: Python, wsgiref\n", "name: x\n      services: [{name: a, kind: container}]\n")
    said = agent_bench("doctor", pack, "--json", env={"PATH": "/nonexistent"})
    assert said.code == 1
    found = {each["what"]: each for each in said.json["findings"]}
    assert "export NO_SUCH_KEY=" in found["key of A2"]["cure"]
    assert found["prices"]["health"] == "missing"
    assert found["service container (S2)"]["health"] == "missing"
    assert found["git"]["health"] == "warn"
    assert all(each["cure"] for each in said.json["findings"] if each["health"] != "ok")


def test_doctor_looks_for_an_agent_where_a_run_would(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentbench.local.place.STANDARD_PATH", ())
    pack = a_pack(tmp_path)
    edit(pack, "adapter: nop", "adapter: codex\n      version: 1.2.3")
    lacks = [each for each in examine(load_pack(pack)) if each.what == "agent A2"]
    assert [each.found.split(":")[0] for each in lacks] == ["codex", "curl"]
    assert "npm install -g @openai/codex@1.2.3, or give its folder to --show" in lacks[0].cure
    for name in ("plain/codex", "made/bin/curl"):
        a_program(tmp_path / name)
    shown = [tmp_path / "plain", tmp_path / "made"]
    there = [each for each in examine(load_pack(pack), shown) if each.what == "agent A2"]
    assert [(each.health, each.found) for each in there] == [
        (Health.OK, f"codex: {tmp_path}/plain/codex"),
        (Health.OK, f"curl: {tmp_path}/made/bin/curl"),
    ]
