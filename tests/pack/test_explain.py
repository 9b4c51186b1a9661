"""What a model refuses, as a person reads it."""

from pathlib import Path

import pytest
from tests.fakes.packs import a_pack, edit, line_of

from agentbench.pack.load import load_pack
from agentbench.pack.problems import PackInvalid

CASES = [
    ("prompt: {", "promt: {", "spec.tasks[0].promt: unknown field. Did you mean prompt?"),
    ("draft: true", "drafft: true", "spec.protocol.drafft: unknown field. Did you mean draft?"),
    ("parallelism: 2", "zzz: 2", "spec.zzz: unknown field. Remove it. Known here: protocol"),
    ('costUSD: "1"', "costUSD: 1.0", '(found 1.0). Write the amount in quotes, as in "1.00"'),
    ('costUSD: "1"', "costUSD: 1", '(found 1). Write the amount in quotes, as in "1.00"'),
    ('costUSD: "1"', 'costUSD: "1.005"', "an amount has at most two decimals (found '1.005')"),
    ('costUSD: "1"', 'costUSD: "-1"', "an amount cannot be negative (found '-1')"),
    ('costUSD: "1"', 'costUSD: "0"', "an amount must be above zero (found '0')"),
    ('costUSD: "1"', 'costUSD: "0.00"', "an amount must be above zero"),
    ('costUSD: "1"', 'costUSD: "1e3"', "is not written as it must be (found '1e3')"),
    ('totalUSD: "20"', 'totalUSD: "0"', "spec.budget.totalUSD: an amount must be above zero"),
    ("wall: 5m", "wall: 0s", "spec.caps.wall: a time limit must be above zero (found '0s')"),
    ("wall: 5m", "wall: -5m", "a length of time cannot be negative (found '-5m')"),
    ("wall: 5m", "wall: 45", 'must be text (found 45). Write it in quotes, as "45"'),
    ("wall: 5m", 'wall: "45"', "Write a length of time with its units, as in 45m or 1h30m"),
    ("toolCalls: 100", "toolCalls: 0", "spec.caps.toolCalls: must be at least 1 (found 0)"),
    ("toolCalls: 100", "toolCalls: -3", "spec.caps.toolCalls: must be at least 1 (found -3)"),
    ("toolCalls: 100", "toolCalls: 1.5", "must be a whole number (found 1.5)"),
    ("repeats: 3\n  order", "repeats: three\n  order", "spec.repeats: must be a whole number"),
    ("rule: security", "rule: securty", "(found 'securty'). Did you mean security?"),
    ("name: Oracle", "name: 1.10", 'must be text (found 1.10). Write it in quotes, as "1.10"'),
    ("path: tasks/T01.md", "path: /etc/passwd", "must stay inside the pack (found '/etc/passwd')"),
    ("- id: A2", "- id: " + "a" * 41, "spec.agents[1].id: has 41 characters, and at most 40 fit"),
    ("- id: A2", "- id: a b", "Use letters, digits, dots, dashes and underscores"),
    ("name: bench\n", "name: Bench_1\n", "(found Bench_1). A campaign needs metadata.name"),
    ("kind: BenchmarkCampaign", "kind: BenchmarkCampain", "(found 'BenchmarkCampain')"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "said"), CASES, ids=[new for _, new, _ in CASES])
def test_a_bad_value_names_file_line_field_and_cure(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    pack = a_pack(tmp_path)
    edit(pack, old, new)
    with pytest.raises(PackInvalid) as caught:
        load_pack(pack)
    (problem,) = caught.value.problems
    assert said in str(problem)
    assert problem.line == line_of(pack, new.splitlines()[0])
    assert problem.file == str(pack / "campaign.yaml")
    assert problem.cure.endswith((".", "?"))


def test_all_problems_are_listed_in_the_order_of_the_file(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    edit(pack, "draft: true", "drafft: true")
    edit(pack, "wall: 5m", "wall: 45")
    edit(pack, "- id: A2", "- id: a b")
    with pytest.raises(PackInvalid) as caught:
        load_pack(pack)
    lines = [problem.line or 0 for problem in caught.value.problems]
    assert len(lines) == 3
    assert lines == sorted(lines)


def test_a_missing_field_says_what_it_means(tmp_path: Path) -> None:
    pack = a_pack(tmp_path)
    edit(pack, "    referenceStack: S1\n", "")
    with pytest.raises(PackInvalid, match=r"referenceStack: is missing. Add it: the stack that"):
        load_pack(pack)


@pytest.mark.parametrize("key", ["apiVersion", "kind", "metadata"])
def test_a_missing_head_is_named(tmp_path: Path, key: str) -> None:
    pack = a_pack(tmp_path)
    lines = (pack / "campaign.yaml").read_text().splitlines()
    gone = (key, "  name: bench") if key == "metadata" else (key,)
    kept = [line for line in lines if not line.startswith(gone)]
    (pack / "campaign.yaml").write_text("\n".join(kept))
    with pytest.raises(PackInvalid, match=f"{key}: is missing. Add it: {key}: "):
        load_pack(pack)


def test_a_list_in_place_of_the_campaign_is_refused(tmp_path: Path) -> None:
    (tmp_path / "campaign.yaml").write_text("- 1\n")
    with pytest.raises(PackInvalid, match="is no BenchmarkCampaign"):
        load_pack(tmp_path)
