"""The final state as an archive, and back."""

import os
import socket
from pathlib import Path

import pytest

from agentbench.pod import snapshot
from agentbench.pod.snapshot import SnapshotTooLarge, capture, copy_into, restore
from agentbench.pod.trees import remove_tree

MIB = 1 << 20


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


def test_what_was_captured_is_restored_with_modes_and_links(
    workspace: Path, tmp_path: Path
) -> None:
    (workspace / "a" / "b").mkdir(parents=True)
    (workspace / "a" / "run.sh").write_text("#!/bin/sh\n")
    (workspace / "a" / "run.sh").chmod(0o750)
    (workspace / "a" / "empty").touch()
    (workspace / "link").symlink_to("a/run.sh")
    (workspace / "dangling").symlink_to("/no/such")
    (workspace / "a" / "b").chmod(0o555)
    name = os.fsdecode(b"bad-\xff-name")
    (workspace / name).write_text("x")
    captured = capture(workspace, tmp_path / "a.zst", MIB)
    assert captured.files == 7
    target = tmp_path / "again"
    target.mkdir()
    restore(tmp_path / "a.zst", target, None)
    assert (target / "a" / "run.sh").read_text() == "#!/bin/sh\n"
    assert (target / "a" / "run.sh").stat().st_mode & 0o777 == 0o750
    assert (target / "a" / "b").stat().st_mode & 0o777 == 0o555
    assert (target / "link").readlink() == Path("a/run.sh")
    assert (target / "dangling").readlink() == Path("/no/such")
    assert (target / name).read_text() == "x"


def test_the_same_files_give_the_same_bytes_whatever_their_times(
    workspace: Path, tmp_path: Path
) -> None:
    for name in ("b", "a", "c"):
        (workspace / name).write_text(name)
    capture(workspace, tmp_path / "1", MIB)
    os.utime(workspace / "a", (1, 1))
    remove_tree(workspace / "c")
    (workspace / "c").write_text("c")
    capture(workspace, tmp_path / "2", MIB)
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_special_files_are_left_out_and_named(workspace: Path, tmp_path: Path) -> None:
    os.mkfifo(workspace / "pipe")
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(str(workspace / "sock"))
    for number in range(60):
        os.mkfifo(workspace / f"x{number:02}")
    captured = capture(workspace, tmp_path / "a.zst", MIB)
    (note,) = captured.notes()
    assert note.startswith("not in the final state: pipe pipe, socket sock, pipe x00")
    assert note.endswith(" and 12 more")
    assert captured.files == 0


def test_a_link_out_of_the_workspace_is_never_followed(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("secret")
    (workspace / "folder").symlink_to(tmp_path / "outside")
    (workspace / "file").symlink_to(tmp_path / "outside" / "secret")
    captured = capture(workspace, tmp_path / "a.zst", MIB)
    assert (captured.files, captured.size) == (2, 0)


def test_more_bytes_than_the_bound_leave_nothing(workspace: Path, tmp_path: Path) -> None:
    with (workspace / "sparse").open("wb") as stream:
        stream.truncate(1 << 40)
    with pytest.raises(SnapshotTooLarge, match="more than 1 MiB"):
        capture(workspace, tmp_path / "a.zst", MIB)
    assert not (tmp_path / "a.zst").exists()


def test_more_files_or_levels_than_the_bound_are_refused(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "MAX_FILES", 3)
    for number in range(4):
        (workspace / str(number)).touch()
    with pytest.raises(SnapshotTooLarge, match="more than 3 files"):
        capture(workspace, tmp_path / "a.zst", MIB)
    monkeypatch.setattr(snapshot, "MAX_DEPTH", 2)
    monkeypatch.setattr(snapshot, "MAX_FILES", 100)
    (workspace / "d" / "e" / "f").mkdir(parents=True)
    with pytest.raises(SnapshotTooLarge, match="nested more than 2 deep"):
        capture(workspace, tmp_path / "a.zst", MIB)


def test_a_layer_is_laid_over_what_is_there(workspace: Path, tmp_path: Path) -> None:
    layer = tmp_path / "layer"
    (layer / "deep").mkdir(parents=True)
    (layer / "deep" / "file").write_text("new")
    (layer / "deep" / "file").chmod(0o755)
    (layer / "was-folder").write_text("now a file")
    (workspace / "was-folder" / "x").mkdir(parents=True)
    (workspace / "kept").write_text("kept")
    outside = tmp_path / "outside"
    outside.mkdir()
    (workspace / "deep").symlink_to(outside)
    copy_into(layer, workspace, None)
    assert (workspace / "deep" / "file").read_text() == "new"
    assert (workspace / "deep" / "file").stat().st_mode & 0o777 == 0o755
    assert (workspace / "was-folder").read_text() == "now a file"
    assert (workspace / "kept").exists()
    assert list(outside.iterdir()) == [], "a link in the workspace must not lead us out"


def test_a_tree_of_closed_folders_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "closed" / "inner"
    folder.mkdir(parents=True)
    (folder / "file").touch()
    folder.chmod(0)
    (tmp_path / "closed").chmod(0)
    remove_tree(tmp_path / "closed")
    assert not (tmp_path / "closed").exists()
