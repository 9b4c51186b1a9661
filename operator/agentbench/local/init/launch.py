"""Starts one process in the sandbox: its user, its files, its outputs."""

import os
import resource
import signal
from pathlib import Path
from typing import Any, NoReturn

from agentbench.local.init import syscalls as sys

FIRST_FREE_FD = 3


class LaunchError(RuntimeError):
    """The process was not started; the message says what and why."""


def launch(request: dict[str, Any], outputs: list[int], *, own_users: bool, nested: bool) -> int:
    """Start a process as a `spawn` request describes it, and return its pid.

    `own_users`: this process may become any user. `nested`: the process gets a user namespace of
    its own, so that it has no power over the sandbox although it has the same user on the machine.

    Raises:
        LaunchError: nothing was started.
    """
    report, told = os.pipe2(os.O_CLOEXEC)
    pid = os.fork()
    if pid == 0:
        _become(request, outputs, told, own_users=own_users, nested=nested)
    os.close(told)
    with os.fdopen(report, "rb") as fault:
        message = fault.read().decode("utf-8", "replace")
    if message:
        os.waitpid(pid, 0)
        raise LaunchError(message)
    return pid


def _become(
    request: dict[str, Any], outputs: list[int], told: int, *, own_users: bool, nested: bool
) -> NoReturn:
    """The new process's way to its program; never returns."""
    what = "start"
    try:
        os.setsid()
        sys.set_dumpable(True)
        quiet = os.open(os.devnull, os.O_RDWR)
        targets = [quiet, *outputs, quiet, quiet][:FIRST_FREE_FD]
        # Out of the way first: a source must not be overwritten before it is copied.
        moved = [os.dup(descriptor) for descriptor in targets]
        for number, descriptor in enumerate(moved):
            os.dup2(descriptor, number)
        for number in (signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        what = "become the user"
        _limit(request.get("limits", {}))
        _change_user(request, own_users=own_users, nested=nested)
        sys.no_new_privileges()
        os.umask(0o022)
        env: dict[str, str] = request["env"]
        what = "write files below HOME"
        for name, content in request.get("files", {}).items():
            _write_private(Path(env["HOME"]), name, content)
        what = f"enter {request['cwd']}"
        os.chdir(request["cwd"])
        argv: list[str] = request["argv"]
        what = f"execute {argv[0]}"
        os.closerange(FIRST_FREE_FD, told)
        os.closerange(told + 1, 1024)
        os.execvpe(argv[0], argv, env)
    except BaseException as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else repr(error)
        os.write(told, f"{what}: {reason}".encode())
    finally:
        os._exit(127)


def _limit(limits: dict[str, int]) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for name, value in limits.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name.upper()}"), (value, value))


def _change_user(request: dict[str, Any], *, own_users: bool, nested: bool) -> None:
    uid, gid = int(request["uid"]), int(request["gid"])
    if own_users:
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
    elif nested:
        outer_uid, outer_gid = os.geteuid(), os.getegid()
        sys.unshare(sys.CLONE_NEWUSER)
        map_user(uid, outer_uid, gid, outer_gid)


def map_user(uid: int, outer_uid: int, gid: int, outer_gid: int) -> None:
    """Say who the one user of a new user namespace is outside."""
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {outer_uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {outer_gid} 1")


def _write_private(home: Path, name: str, content: str) -> None:
    target = home / name
    missing = [folder for folder in target.parents if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700)
    target.unlink(missing_ok=True)
    descriptor = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(content)


def write_root_file(path: str, content: str) -> None:
    """Write a file that the sandbox's user can read and not change."""
    target = Path(path)
    if not target.is_absolute() or ".." in target.parts:
        raise LaunchError(f"rootFiles: {path!r} is no absolute path")
    missing = [folder for folder in target.parents if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o755)
    target.unlink(missing_ok=True)
    target.write_text(content, encoding="utf-8")
    target.chmod(0o644)
