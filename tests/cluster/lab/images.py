"""The images that every node has from the start, made once and cached by content.

None needs a registry: `pause` holds pods open, `busybox` is a shell, `python` a Debian with Python
(also the base of the project's own images in tests), `coredns` the cluster's DNS.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.cluster.lab import oci
from tests.cluster.lab.build import CACHE, alone
from tests.cluster.lab.oci import Archive
from tests.cluster.lab.shell import run
from tests.cluster.lab.slot import Node

REPOSITORY = "agentbench.test"
BUSYBOX = Path("/bin/busybox")
SUITE = "bookworm"
DEBIAN_PACKAGES = ("python3", "ca-certificates", "squid", "libfaketime", "postgresql-client")
_UNWANTED = ("doc", "info", "locale", "man")
_PEOPLE = {
    "etc/passwd": b"root:x:0:0::/:/bin/sh\nagent:x:1000:1000::/tmp:/bin/sh\n",
    "etc/group": b"root:x:0:\nagent:x:1000:\n",
}


def name_of(short: str) -> str:
    """The full name of one of the images that nodes have."""
    return f"{REPOSITORY}/{short}:1"


def all_images(programs: Mapping[str, Path], scratch: Path) -> list[Archive]:
    """Make what the cache does not hold, and return the archives, smallest first."""
    applets = run(BUSYBOX, "--list").split()
    links = {f"bin/{applet}": "busybox" for applet in applets if applet != "busybox"}
    shell_env = {"Cmd": ["/bin/sh"], "Env": ["PATH=/bin"]}
    python_env = {"Cmd": ["python3"], "Env": ["PATH=/usr/local/bin:/usr/bin:/bin"]}

    def small(short: str, files: Mapping[str, Path | bytes], config: Mapping[str, object],
              links: Mapping[str, str] | None = None) -> Archive:  # fmt: skip
        parts = [short, json.dumps(config), *sorted(files), *sorted(links or {})]
        digest = hashlib.sha256("\0".join(parts).encode())
        for content in files.values():
            digest.update(content if isinstance(content, bytes) else content.read_bytes())
        root = scratch / f"{short}-layer.tar"
        return _cached(short, digest.hexdigest(), lambda: oci.layer(root, files, links), config)

    return [
        small("pause", {"pause": programs["pause"]}, {"Entrypoint": ["/pause"]}),
        small("busybox", _PEOPLE | {"bin/busybox": BUSYBOX}, shell_env, links),
        small("coredns", {"coredns": programs["coredns"]}, {"Entrypoint": ["/coredns"]}),
        _debian_image("python", DEBIAN_PACKAGES, scratch, python_env),
    ]


def debian_with(short: str, packages: Sequence[str], scratch: Path) -> Archive:
    """A Debian with these packages, made once and cached: a base that needs no network later."""
    return _debian_image(short, packages, scratch, {"Env": ["PATH=/usr/local/bin:/usr/bin:/bin"]})


def _debian_image(
    short: str, packages: Sequence[str], scratch: Path, config: Mapping[str, object]
) -> Archive:
    return _cached(short, _debian_key(packages), lambda: debian(packages, scratch), config)


def _cached(
    short: str, digest: str, root: Callable[[], Path], config: Mapping[str, object]
) -> Archive:
    recipe = hashlib.sha256(Path(oci.__file__).read_bytes() + digest.encode()).hexdigest()
    archive = Archive(CACHE / "images" / f"{short}-{recipe[:20]}.tar", name_of(short))
    with alone(archive.path):
        if not archive.path.exists():
            oci.write(archive, root(), config)
    return archive


def _debian_key(packages: Sequence[str]) -> str:
    return hashlib.sha256(repr((SUITE, tuple(packages), _UNWANTED)).encode()).hexdigest()


def debian(packages: Sequence[str], scratch: Path) -> Path:
    """A minimal Debian with these packages as one tar, made once by mmdebstrap."""
    root = CACHE / "debian" / f"{_debian_key(packages)[:20]}.tar"
    with alone(root):
        if not root.exists():
            part = root.with_suffix(".part.tar")
            excluded = [f"--dpkgopt=path-exclude=/usr/share/{folder}/*" for folder in _UNWANTED]
            run(
                "mmdebstrap", "--variant=minbase", f"--include={','.join(packages)}",
                *excluded, SUITE, part, env={"TMPDIR": str(scratch)},
            )  # fmt: skip
            part.rename(root)
    return root


def load(node: Node, ctr: Path, archives: list[Archive]) -> None:
    """Import images on a node, under their names and their digests."""
    command = (ctr, "--address", node.socket, "--namespace", "k8s.io", "images")
    for archive in archives:
        run(*command, "import", archive.path)
        run(*command, "tag", "--force", archive.name, archive.pinned)
