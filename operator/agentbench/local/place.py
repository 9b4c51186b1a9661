"""Where things are in a run: its folders on the machine, and as the sandbox sees them."""

import os
import pwd
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import agentbench_analysis
from agentbench.local.isolation import Isolation
from agentbench.local.sandbox import SOURCE
from agentbench.pod.trees import remove_tree

AGENT_UID = 1000
CHECK_UID = 1001
SERVICE_UID = 1002
SCRATCH = "512m"
STANDARD_PATH = ("/usr/local/bin", "/usr/bin", "/bin")
_SHOWN_ANYWAY = ("/usr/", "/bin/", "/lib/", "/opt/", "/nix/")


def sandbox_path(show: Sequence[Path]) -> str:
    """PATH in every sandbox: this Python's first, then what is shown, then the system's.

    Of a shown folder its `bin` counts, or the folder itself where it has none.
    """
    inner = [(folder, folder / "bin") for folder in show]
    shown = [str(bin_ if bin_.is_dir() else folder) for folder, bin_ in inner]
    return ":".join([str(Path(sys.prefix, "bin")), *shown, *STANDARD_PATH])


@dataclass(frozen=True, slots=True)
class Share:
    """A folder of the machine that a sandbox sees under a name of its own."""

    source: Path
    target: str
    writable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What all sandboxes of an engine have in common.

    `show`: folders of the machine that every sandbox sees read-only (toolchains and agents
    beside the system's). `hide`: folders that none may see (pack, store).
    """

    isolation: Isolation
    show: Sequence[Path] = ()
    hide: Sequence[Path] = ()

    @property
    def walled(self) -> bool:
        """Whether sandboxes have a root of their own."""
        return self.isolation is not Isolation.PROCESS_GROUP

    @property
    def path(self) -> str:
        """PATH in every sandbox."""
        return sandbox_path(self.show)

    @property
    def service_uid(self) -> int:
        """The user of services. PostgreSQL wants one that the machine's user list knows."""
        if self.walled or os.geteuid() != 0:
            return SERVICE_UID
        for name in ("postgres", "nobody"):
            with suppress(KeyError):
                return pwd.getpwnam(name).pw_uid
        return SERVICE_UID

    def owner(self, uid: int) -> tuple[int, int] | None:
        """User and group on the machine that own a sandbox user's files; None for our own."""
        if self.isolation is Isolation.USER_NAMESPACE or os.geteuid() != 0:
            return None
        return uid, uid

    def seen(self, share: Share) -> str:
        """A shared folder's path inside a sandbox."""
        return share.target if self.walled else str(share.source)

    def view(self, shares: Iterable[Share]) -> Mapping[str, Any] | None:
        """The root of a sandbox that sees these shares; None where there is none of its own."""
        if not self.walled:
            return None
        binds: list[dict[str, Any]] = [
            {"source": str(folder), "target": str(folder)}
            for folder in (*_toolchain(), *self.show)
            if not str(folder).startswith(_SHOWN_ANYWAY)
        ]
        binds += [
            {"source": str(share.source), "target": share.target, "writable": share.writable}
            for share in shares
        ]
        hide = sorted({str(folder.resolve()) for folder in self.hide})
        return {"binds": binds, "hide": hide, "etc": ETC, "scratch": SCRATCH}


@dataclass(frozen=True, slots=True, kw_only=True)
class Folders:
    """The folders of one workplace: an agent's, or one repeat of a check's."""

    root: Path
    machine: Machine
    uid: int = AGENT_UID
    extra: Sequence[Share] = field(default_factory=tuple)

    @property
    def workspace(self) -> Share:
        """The app's source."""
        return Share(self.root / "workspace", "/workspace", writable=True)

    @property
    def home(self) -> Share:
        """HOME, with a folder `tmp` for temporary files."""
        return Share(self.root / "home", "/home/agent", writable=True)

    @property
    def data(self) -> Share:
        """DATA_DIR: what the app keeps in files."""
        return Share(self.root / "data", "/data", writable=True)

    @property
    def clock(self) -> Share:
        """The folder with the file of the app's clock, which only the harness writes."""
        return Share(self.root / "clock", "/run/agentbench/clock")

    @property
    def shares(self) -> tuple[Share, ...]:
        """All of them."""
        return (self.workspace, self.home, self.data, self.clock, *self.extra)

    def make(self) -> None:
        """Make them, empty, owned by the sandbox's user; what was there is removed."""
        remove_tree(self.root)
        self.root.mkdir(parents=True, mode=0o700)
        owner = self.machine.owner(self.uid)
        for share in (self.workspace, self.home, self.data):
            share.source.mkdir(mode=0o755)
        (self.home.source / "tmp").mkdir(mode=0o700)
        self.clock.source.mkdir(mode=0o755)
        if not self.machine.walled:
            # Without walls the way to the workspace must be open to the sandbox's user.
            self.root.chmod(0o711)
        if owner is not None:
            for folder in (self.workspace, self.home, self.data):
                os.chown(folder.source, *owner)
            os.chown(self.home.source / "tmp", *owner)

    def env(self, more: Mapping[str, str]) -> dict[str, str]:
        """The environment of every command here; `more` comes on top."""
        seen = self.machine.seen
        return {
            "PATH": self.machine.path,
            "HOME": seen(self.home),
            "TMPDIR": f"{seen(self.home)}/tmp",
            "LANG": "C.UTF-8",
            "DATA_DIR": seen(self.data),
            "PYTHONDONTWRITEBYTECODE": "1",
            **more,
        }


ETC = {
    "passwd": (
        "root:x:0:0:root:/root:/bin/sh\n"
        f"agent:x:{AGENT_UID}:{AGENT_UID}:agent:/home/agent:/bin/sh\n"
        f"check:x:{CHECK_UID}:{CHECK_UID}:check:/home/check:/bin/sh\n"
        f"service:x:{SERVICE_UID}:{SERVICE_UID}:service:/nonexistent:/bin/sh\n"
        "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
    ),
    "group": (
        f"root:x:0:\nagent:x:{AGENT_UID}:\ncheck:x:{CHECK_UID}:\nservice:x:{SERVICE_UID}:\n"
        "nogroup:x:65534:\n"
    ),
    "hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    "resolv.conf": "",
}
"""The files of /etc that every sandbox has of its own."""

CODE = tuple(
    Share(folder, f"/run/agentbench/source-{number}")
    for number, folder in enumerate(
        dict.fromkeys((Path(SOURCE), Path(agentbench_analysis.__file__).parents[1]))
    )
)
"""This project's own code, for the services that are part of it."""


def _toolchain() -> tuple[Path, ...]:
    """Where this Python lives: its environment and what that was made from."""
    named = [Path(folder) for folder in (sys.prefix, sys.base_prefix)]
    return tuple(dict.fromkeys([*named, *(folder.resolve() for folder in named)]))
