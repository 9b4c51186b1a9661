"""Freezing and verifying: all or nothing, and one changed byte is found."""

import json
from pathlib import Path

import pytest
import yaml
from tests.fakes.packs import AT, a_pack, edit, frozen, tree, with_gates

from agentbench.core.digest import require_digest
from agentbench.pack.freeze import freeze
from agentbench.pack.load import FREEZE_FILE, GATES_FILE, frozen_pack, load_pack
from agentbench.pack.prepare import prepare
from agentbench.pack.problems import PackInvalid
from agentbench.pack.verify import require_verified, verify


def refusal(pack: Path) -> str:
    before = tree(pack)
    with pytest.raises(PackInvalid) as caught:
        freeze(load_pack(pack), now=AT, commit=None)
    assert tree(pack) == before
    return str(caught.value)


def test_a_freeze_writes_manifest_bundle_and_record(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    done = frozen(pack)
    assert not done.already
    manifest = load_pack(done.manifest)
    assert require_digest(manifest.spec) == done.record.digest
    assert not manifest.spec.protocol.draft
    assert verify(manifest) == []
    record = json.loads((pack / FREEZE_FILE).read_text())
    assert record["orderSeed"] == 7
    assert record["commit"] == "abcdef1"
    listed = {file["path"] for file in record["files"]}
    assert {"campaign.yaml", "checks/t01.py", "seeds/http/app.py", "tasks/T01.md"} <= listed


def test_a_copied_pack_has_the_same_digest(tmp_path: Path) -> None:
    one, two = a_pack(tmp_path / "one"), a_pack(tmp_path / "two")
    assert prepare(load_pack(one)).digest == prepare(load_pack(two)).digest


def test_how_a_campaign_is_carried_out_is_no_part_of_the_digest(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    before = prepare(load_pack(pack)).digest
    edit(pack, "parallelism: 2", "parallelism: 9 # and a remark")
    assert prepare(load_pack(pack)).digest == before
    edit(pack, "repeats: 3\n  order", "repeats: 4\n  order")
    assert prepare(load_pack(pack)).digest != before


def test_a_pack_that_has_not_passed_its_gates_does_not_freeze(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    assert f"{GATES_FILE}: there is no such file. Run agent-bench gate" in refusal(pack)
    with_gates(pack, ok=False)
    assert "gate T01 S1 reference: expected pass, found pass" in refusal(pack)
    with_gates(pack)
    (pack / "checks/t01.py").write_text("#!/bin/sh\nexit 0\n")
    assert "the gates were passed by other files than these" in refusal(pack)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": "agentbench.gates/v1"}'])
def test_evidence_that_is_no_evidence_is_refused(tmp_path: Path, text: str) -> None:
    pack = a_pack(tmp_path)
    with_gates(pack)
    (pack / GATES_FILE).write_text(text)
    assert GATES_FILE in refusal(pack)


def test_a_freeze_lists_everything_that_is_missing(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    (pack / "tasks/T01.md").unlink()
    (pack / "checks/t01.py").chmod(0o644)
    edit(pack, "        S2: { path: solutions/wsgi }\n", "")
    edit(pack, "draft: true", "draft: false\n    openItems: [{id: O1, text: the model id}]")
    said = refusal(pack)
    for part in (
        "prompt.path: there is no such file",
        "the check is not executable",
        "there is no reference solution for stack S2",
        "protocol.draft: a pack is a draft until its freeze",
        "open item O1 is not settled: the model id",
        "the gates cannot be judged before this is mended",
    ):
        assert part in said


def test_an_open_item_that_is_settled_or_does_not_block_lets_a_pack_freeze(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    edit(
        pack,
        "draft: true",
        "draft: true\n    openItems:\n    - {id: O1, text: a, resolution: asked the vendor}\n"
        "    - {id: O2, text: b, blocksFreeze: false}",
    )
    assert not frozen(pack).already


def test_freezing_again_changes_nothing(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    first = frozen(pack)
    before = tree(pack)
    again = freeze(load_pack(pack), now="2027-01-01T00:00:00Z", commit=None)
    assert again.already
    assert again.record == first.record
    assert tree(pack) == before


def test_a_frozen_pack_that_was_changed_does_not_freeze_again(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    frozen(pack)
    (pack / "tasks/T01.md").write_text("Something else.")
    assert "the pack was frozen on 2026-10-14T08:00:00Z as other files" in refusal(pack)


def test_a_freeze_that_was_interrupted_is_done_again(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    frozen(pack)
    (pack / FREEZE_FILE).unlink()
    assert not freeze(load_pack(pack), now=AT, commit=None).already
    assert verify(frozen_pack(pack)) == []


CHANGED = ["tasks/T01.md", "checks/t01.py", "seeds/http/app.py", "solutions/wsgi/app.py",
           "mutants/no-refusal/app.py", "campaign.yaml"]  # fmt: skip


@pytest.mark.parametrize("name", CHANGED)
def test_one_changed_byte_is_found_and_its_file_named(tmp_path: Path, name: str) -> None:
    pack = a_pack(tmp_path)
    frozen(pack)
    with (pack / name).open("ab") as file:
        file.write(b"\n")
    (problem,) = verify(frozen_pack(pack))
    assert problem.file == str(pack / name)
    assert problem.message == "was changed after the freeze"
    with pytest.raises(PackInvalid):
        require_verified(frozen_pack(pack))


def test_a_file_that_was_added_removed_or_lost_its_mode_is_found(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    frozen(pack)
    (pack / "seeds/http/hint.md").write_text("x")
    (problem,) = verify(frozen_pack(pack))
    assert (problem.file, problem.message) == (
        str(pack / "seeds/http/hint.md"),
        "was added after the freeze",
    )
    (pack / "seeds/http/hint.md").unlink()
    (pack / "tasks/T01.md").unlink()
    (pack / "checks/t01.py").chmod(0o644)
    said = {(problem.file, problem.message) for problem in verify(frozen_pack(pack))}
    assert said == {
        (str(pack / "tasks/T01.md"), "was removed after the freeze"),
        (str(pack / "checks/t01.py"), "its permission to execute was changed after the freeze"),
    }


def test_a_frozen_field_that_was_edited_is_found(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    manifest = frozen(pack).manifest
    document = yaml.safe_load(manifest.read_text())
    document["spec"]["caps"]["costUSD"] = "2"
    manifest.write_text(yaml.safe_dump(document))
    (problem,) = verify(frozen_pack(pack))
    assert "a frozen field was changed after the freeze" in problem.message


def test_amendments_and_how_it_is_carried_out_may_change_in_the_manifest(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    manifest = frozen(pack).manifest
    document = yaml.safe_load(manifest.read_text())
    document["spec"]["parallelism"] = 8
    document["spec"]["protocol"]["amendments"] = [
        {"seq": 1, "date": "2026-11-01", "change": "x", "why": "y", "anyRunStarted": True}
    ]
    manifest.write_text(yaml.safe_dump(document))
    assert verify(frozen_pack(pack)) == []


def test_a_bundle_that_was_changed_is_found(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    frozen(pack)
    layers = sorted((pack / "frozen/bundle/layers").iterdir())
    layers[0].unlink()
    layers[1].write_bytes(layers[2].read_bytes())
    (bundle,) = (pack / "frozen/bundle/bundles").iterdir()
    said = [problem.message for problem in verify(frozen_pack(pack))]
    assert any("cannot be read" in message for message in said)
    assert any("was changed" in message for message in said)
    bundle.write_bytes(b"{}")
    assert [p.message for p in verify(frozen_pack(pack))] == ["the bundle's manifest was changed"]


def test_a_manifest_and_bundle_that_were_copied_are_verified_alone(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    frozen(pack)
    (pack / "frozen").rename(tmp_path / "elsewhere")
    assert verify(load_pack(tmp_path / "elsewhere")) == []


def test_a_draft_is_no_freeze(tmp_path: Path) -> None:
    with pytest.raises(PackInvalid, match=r"the pack is not frozen\. Run agent-bench freeze"):
        frozen_pack(a_pack(tmp_path))
