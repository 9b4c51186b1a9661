"""The shim runs, signals and ends commands with nothing but a POSIX shell."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fakes.wait import until

SHIM = Path(__file__).parents[2] / "operator/agentbench/pod/shim.sh"
SHELLS = [shell for shell in ("dash", "bash", "busybox") if shutil.which(shell)]


class Shim:
    """A shim as the first process of its own PID namespace."""

    def __init__(self, folder: Path, shell: str) -> None:
        self.folder = folder
        shell_argv = [shell, "sh"] if shell == "busybox" else [shell]
        inner = [*shell_argv, str(SHIM), str(folder)]
        self.process = subprocess.Popen(
            ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", *inner],
            env={"PATH": "/usr/bin:/bin", "HOME": str(folder / "HOME")},
        )
        until(lambda: (folder / "ready").exists())

    def run(self, number: int, script: str) -> None:
        draft = self.folder / ".draft"
        draft.write_text(script)
        draft.rename(self.folder / f"cmd.{number}")

    def exit(self, number: int) -> int:
        until(lambda: (self.folder / f"exit.{number}").exists())
        return int((self.folder / f"exit.{number}").read_text())

    def out(self, number: int) -> str:
        return (self.folder / f"out.{number}").read_text()


@pytest.fixture(params=SHELLS)
def shim(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Shim]:
    (tmp_path / "HOME").mkdir()
    running = Shim(tmp_path, request.param)
    yield running
    running.process.kill()
    running.process.wait()


def test_commands_run_one_after_another_and_tell_how_they_ended(shim: Shim) -> None:
    shim.run(1, "echo one; exit 3")
    assert (shim.exit(1), shim.out(1)) == (3, "one\n")
    shim.run(2, "echo two >&2")
    assert shim.exit(2) == 0
    assert (shim.folder / "err.2").read_text() == "two\n"


def test_a_command_finds_its_files_at_home(shim: Shim) -> None:
    (shim.folder / "home.1/.config").mkdir(parents=True)
    (shim.folder / "home.1/.config/settings").write_text("seven")
    shim.run(1, "cat $HOME/.config/settings")
    assert (shim.exit(1), shim.out(1)) == (0, "seven")


def test_an_interrupt_reaches_a_command_that_does_not_handle_it(shim: Shim) -> None:
    shim.run(1, "exec sleep 60")
    until(lambda: (shim.folder / "pid.1").exists())
    (shim.folder / "sig.1.INT").touch()
    assert shim.exit(1) == 130


def test_killall_reaches_a_daemon_that_left_its_session(shim: Shim) -> None:
    beats = shim.folder / "beats"
    shim.run(1, f"setsid sh -c 'while :; do echo x >> {beats}; sleep 0.05; done' & exit 0")
    assert shim.exit(1) == 0
    until(beats.exists)
    (shim.folder / "killall").touch()
    until(lambda: not (shim.folder / "killall").exists())
    shim.run(2, f"wc -c < {beats}; sleep 0.3; wc -c < {beats}")
    assert shim.exit(2) == 0
    before, after = shim.out(2).split()
    assert before == after


def test_stopping_interrupts_what_runs_and_ends_the_shim(shim: Shim) -> None:
    shim.run(1, "trap 'echo bye; exit 7' INT; while :; do sleep 0.1; done")
    until(lambda: (shim.folder / "pid.1").exists())
    subprocess.run(["sh", str(SHIM), str(shim.folder), "stop"], check=True)
    assert (shim.exit(1), shim.out(1)) == (7, "bye\n")
    assert shim.process.wait(10) == 0


def test_a_command_that_kills_all_that_it_may_leaves_a_shim_that_obeys(shim: Shim) -> None:
    shim.run(1, "kill -9 -1")
    assert shim.exit(1) == 0
    shim.run(2, "sleep 1000 & echo started")
    assert (shim.exit(2), shim.out(2)) == (0, "started\n")
    (shim.folder / "killall").touch()
    until(lambda: not (shim.folder / "killall").exists())
    shim.run(3, "echo three")
    assert (shim.exit(3), shim.out(3)) == (0, "three\n")
