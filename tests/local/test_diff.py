"""The final diff."""

import os
import subprocess
from pathlib import Path

import pytest

from agentbench.pod import diff as diffs
from agentbench.pod.diff import Diff, difference, remember


@pytest.fixture
def start(tmp_path: Path) -> Path:
    folder = tmp_path / "start"
    folder.mkdir()
    return folder


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


def text_of(start: Path, workspace: Path, before: dict[str, diffs.Seen] | None = None) -> str:
    return difference(start, before or {}, workspace).text.decode()


def test_nothing_changed_is_an_empty_diff(start: Path, workspace: Path) -> None:
    for folder in (start, workspace):
        (folder / "same").write_text("same\n")
    assert text_of(start, workspace) == ""


def test_git_applies_the_diff_and_gets_the_final_state(start: Path, workspace: Path) -> None:
    (start / "kept").write_text("1\n2\n3\n4\n5\n6\n7\n8\n9\n")
    (workspace / "kept").write_text("1\n2\n3\n4\nfive\n6\n7\n8\n9\nno newline")
    (start / "gone").write_text("bye\n")
    (start / "mode").write_text("x\n")
    (workspace / "mode").write_text("x\n")
    (workspace / "mode").chmod(0o755)
    (workspace / "deep").mkdir()
    (workspace / "deep" / "new").write_text("new\r\nlines\rof two kinds\n")
    (workspace / "link").symlink_to("deep/new")
    (workspace / 'quo"ted\n+++ b_x').write_text("odd name\n")
    (start / "deep").mkdir()
    changed = difference(start, {}, workspace)
    assert not changed.truncated
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(start.parent)}
    subprocess.run(
        ["git", "apply", "--whitespace=nowarn", "-"],
        input=changed.text,
        cwd=start,
        check=True,
        env=environment,
    )
    compared = subprocess.run(
        ["diff", "-r", "--no-dereference", str(start), str(workspace)],
        capture_output=True,
        check=False,
    )
    assert compared.stdout == b""
    assert (start / "mode").stat().st_mode & 0o100


def test_binary_and_large_files_are_marked(
    start: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workspace / "picture").write_bytes(b"\x89PNG\0\1")
    monkeypatch.setattr(diffs, "MAX_FILE", 10)
    for folder, content in ((start, b"a" * 20), (workspace, b"b" * 20)):
        (folder / "large").write_bytes(content)
        (folder / "unchanged").write_bytes(b"c" * 20)
    text = text_of(start, workspace)
    assert "Binary files /dev/null and b/picture differ" in text
    assert "Binary files a/large and b/large differ" in text
    assert "unchanged" not in text


def test_what_set_up_made_is_no_part_of_it_unless_the_agent_changed_it(
    start: Path, workspace: Path
) -> None:
    (workspace / "made").write_text("by set-up\n")
    (workspace / "changed").write_text("by set-up\n")
    (workspace / "removed").write_text("by set-up\n")
    before = remember(workspace)
    (workspace / "changed").write_text("by agent!\n")
    os.utime(workspace / "changed", ns=(0, before["changed"].modified))
    (workspace / "removed").unlink()
    text = text_of(start, workspace, before)
    assert "b/made" not in text
    assert "+by agent!" in text, "the size and the time are the same, the change time is not"
    assert "deleted file\n# it was made by set-up" in text


def test_folders_that_tools_fill_are_counted(start: Path, workspace: Path) -> None:
    (workspace / "node_modules" / "x").mkdir(parents=True)
    for number in range(3):
        (workspace / "node_modules" / "x" / str(number)).touch()
    assert text_of(start, workspace) == "# node_modules/: 3 files made or changed, not shown\n"


def test_such_a_folder_is_shown_if_the_start_state_has_it(start: Path, workspace: Path) -> None:
    for folder in (start, workspace):
        (folder / "vendor").mkdir()
    (start / "vendor" / "ours").write_text("1\n")
    (workspace / "vendor" / "ours").write_text("2\n")
    assert "+2" in text_of(start, workspace)


def test_a_diff_beyond_its_bound_says_so(
    start: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diffs, "MAX_BYTES", 200)
    (workspace / "a").write_text("x\n" * 500)
    (workspace / "b").write_text("small\n")
    found: Diff = difference(start, {}, workspace)
    assert found.truncated
    assert b"a/a b/a\n# not shown: the diff has reached its bound" in found.text
    assert b"+small" in found.text


def test_a_file_of_very_many_lines_is_not_compared_line_by_line(
    start: Path, workspace: Path
) -> None:
    (start / "long").write_text("".join(f"{n}\n" for n in range(7000)))
    (workspace / "long").write_text("".join(f"{n}\n" for n in range(7000, 0, -1)))
    assert "# not compared: 7000 lines before, 7000 now" in text_of(start, workspace)


def test_a_link_is_compared_by_its_goal(start: Path, workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret\n")
    (start / "link").symlink_to("one")
    (workspace / "link").symlink_to(tmp_path / "secret")
    text = text_of(start, workspace)
    assert "-one" in text
    assert f"+{tmp_path}/secret" in text
    assert "+secret" not in text
