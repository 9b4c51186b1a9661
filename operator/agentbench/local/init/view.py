"""A root of its own for a sandbox: what is not named is not there.

Programs and libraries of the machine are shown read-only; homes, temporary folders and everything
else are empty. Then come the folders that the sandbox is given.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NotRequired, TypedDict

from agentbench.local.init import syscalls as sys

PROGRAMS = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "opt", "nix", "gnu")
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
OWN_ETC = ("passwd", "group", "hosts", "hostname", "nsswitch.conf", "resolv.conf", "ld.so.preload")


SEALED = ("/", "/etc", "/dev")
"""Mounts of our own: without root on the machine they belong to the same user as the agent."""


class Bind(TypedDict):
    """A folder or file of the machine, and where it is seen."""

    source: str
    target: str
    writable: NotRequired[bool]


class View(TypedDict):
    """What a sandbox sees. `hide` holds paths of the machine that must not show."""

    binds: list[Bind]
    hide: list[str]
    etc: dict[str, str]
    scratch: str  # bytes that the private /tmp and /dev/shm may hold each


def enter(view: View, place: str) -> None:
    """Build the root below `place`, an empty folder, and make it this process's root."""
    sys.mount("none", "/", flags=sys.MS_REC | sys.MS_PRIVATE)
    sys.mount("tmpfs", place, "tmpfs", sys.MS_NOSUID, "mode=755,size=16m")
    root = Path(place)
    _programs(root)
    _devices(root, view["scratch"])
    for name in ("tmp", "var/tmp"):
        _tmpfs(root / name, "1777", view["scratch"])
    for name in ("proc", "run", "home", "root", "mnt", "srv"):
        (root / name).mkdir(mode=0o755)
    sys.mount("proc", str(root / "proc"), "proc", sys.MS_NOSUID | sys.MS_NODEV | sys.MS_NOEXEC)
    _etc(root / "etc", view["etc"])
    for path in view["hide"]:
        hidden = root / path.lstrip("/")
        if hidden.is_dir() and not hidden.is_symlink():
            _tmpfs(hidden, "755", "4k")
    for bind in view["binds"]:
        _bind(root, bind)
    sys.pivot_root(place)
    for path in SEALED:
        sys.seal(path, below=False)


@contextmanager
def unsealed() -> Iterator[None]:
    """Let this process write to the sandbox's own root for a moment."""
    for path in SEALED:
        sys.unseal(path)
    try:
        yield
    finally:
        for path in SEALED:
            sys.seal(path, below=False)


def _programs(root: Path) -> None:
    for name in PROGRAMS:
        source = Path("/", name)
        if source.is_symlink():
            (root / name).symlink_to(source.readlink())
        elif source.is_dir():
            _bind(root, {"source": str(source), "target": str(source)})


def _etc(target: Path, own: dict[str, str]) -> None:
    """A writable /etc whose entries lead to the machine's, but for our own files."""
    _tmpfs(target, "755", "4m")
    source = target / ".machine"
    source.mkdir()
    sys.mount("/etc", str(source), flags=sys.MS_BIND | sys.MS_REC)
    sys.seal(str(source))
    for entry in Path("/etc").iterdir():
        if entry.name in OWN_ETC:
            continue
        # A relative link would lead elsewhere from one folder deeper.
        link = Path("/etc", entry.name)
        goal = link.readlink() if link.is_symlink() else f"/etc/.machine/{entry.name}"
        (target / entry.name).symlink_to(goal)
    for name, content in own.items():
        (target / name).write_text(content)


def _devices(root: Path, scratch: str) -> None:
    target = root / "dev"
    _tmpfs(target, "755", "64k")
    for name in DEVICES:
        (target / name).touch()
        sys.mount(f"/dev/{name}", str(target / name), flags=sys.MS_BIND)
    _tmpfs(target / "shm", "1777", scratch)
    (target / "pts").mkdir()
    options = "newinstance,ptmxmode=0666,mode=620"
    flags = sys.MS_NOSUID | sys.MS_NOEXEC
    sys.mount("devpts", str(target / "pts"), "devpts", flags, options)
    for name, goal in (
        ("ptmx", "pts/ptmx"),
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
    ):
        (target / name).symlink_to(goal)


def _bind(root: Path, bind: Bind) -> None:
    source = Path(bind["source"])
    target = root / bind["target"].lstrip("/")
    if source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    sys.mount(str(source), str(target), flags=sys.MS_BIND | sys.MS_REC)
    if not bind.get("writable"):
        sys.seal(str(target))


def _tmpfs(target: Path, mode: str, size: str) -> None:
    target.mkdir(parents=True, exist_ok=True)
    options = f"mode={mode},size={size}"
    sys.mount("tmpfs", str(target), "tmpfs", sys.MS_NOSUID | sys.MS_NODEV, options)
