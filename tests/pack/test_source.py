"""YAML with places: what is read, where it stands, and what is refused."""

from pathlib import Path

import pytest

from agentbench.pack.problems import PackInvalid
from agentbench.pack.source import MAX_BYTES, parse_yaml, read_yaml


def refusal(text: str) -> str:
    with pytest.raises(PackInvalid) as caught:
        parse_yaml(text, "c.yaml")
    return str(caught.value)


def test_every_value_knows_its_line_and_its_written_form() -> None:
    source = parse_yaml("a:\n  b:\n  - 1.10\n  - {c: yes}\nd: 2026-10-14\n", "c.yaml")
    assert source.data == {"a": {"b": [1.1, {"c": True}]}, "d": "2026-10-14"}
    assert source.line(("a", "b", 0)) == 3
    assert source.written[("a", "b", 0)] == "1.10"
    assert source.line(("a", "b", 1, "c")) == 4
    assert source.line(("a", "nothing", "here")) == 1
    assert source.problem(("a", "b", 1), "wrong", "Mend it.").field == "a.b[1]"


def test_an_anchor_is_written_out() -> None:
    assert parse_yaml("a: &x {b: 1}\nc: *x\n", "c.yaml").data == {"a": {"b": 1}, "c": {"b": 1}}


def test_a_key_that_is_there_twice_names_both_lines() -> None:
    said = refusal("a: 1\nb:\n  c: 1\n  c: 2\na: 3\n")
    assert "c.yaml:4: b.c: the key is there twice, first on line 3" in said
    assert "c.yaml:5: a: the key is there twice, first on line 1" in said


def test_an_anchor_bomb_is_refused_before_it_unfolds() -> None:
    bomb = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n"
    for n in range(1, 12):
        bomb += f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]\n"
    assert "anchors unfold to more than" in refusal(bomb)


def test_an_anchor_that_holds_itself_is_refused() -> None:
    assert "nested deeper than" in refusal("a: &a [*a]\n")


def test_a_million_brackets_are_refused() -> None:
    assert "nest" in refusal("[" * 1_000_000)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [1, 2\nb: 3\n", "c.yaml:2: not YAML"),
        ("a: 'open\n", "not YAML"),
        ("a: \x01\n", "c.yaml:1: not YAML"),
        ("", "the file is empty"),
        ("a: 1\n---\nb: 2\n", "not YAML: but found another document"),
        ("a: *missing\n", "not YAML: found undefined alias"),
        ("<<: {a: 1}\n", "a key must be plain text"),
        ("? [a]\n: 1\n", "a key must be plain text"),
        ("a: !!python/object:os.system x\n", "is not accepted"),
        ("a: !!binary x\n", "is not accepted"),
    ],
)
def test_what_is_no_plain_yaml_is_refused_with_its_place(text: str, said: str) -> None:
    assert said in refusal(text)


def test_a_file_that_is_no_utf8_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_bytes(b"a: 1\nb: \xff\n")
    with pytest.raises(PackInvalid, match=r":2: not UTF-8: byte 0xff at offset 8"):
        read_yaml(path, str(path))


def test_a_file_of_50_megabytes_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    with path.open("wb") as file:
        file.truncate(50 * 1024 * 1024)
    with pytest.raises(PackInvalid, match=f"at most {MAX_BYTES} are read"):
        read_yaml(path, str(path))


def test_a_missing_file_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(PackInvalid, match=r"no such file.*agent-bench init"):
        read_yaml(tmp_path / "c.yaml", "c.yaml")


def test_a_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PackInvalid, match="cannot be read: Is a directory"):
        read_yaml(tmp_path, "c.yaml")
