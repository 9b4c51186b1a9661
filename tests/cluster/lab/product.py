"""The project's own images, built by buildah on the cluster's Debian and put on every node."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from images.build import EXTRAS, build
from tests.cluster.lab import images, kube, oci
from tests.cluster.lab.build import CACHE, alone
from tests.cluster.lab.oci import Archive
from tests.cluster.lab.shell import ClusterError
from tests.cluster.lab.slot import SOURCE, Node, Slot

_SOURCES = ("operator", "analysis", "images", "requirements/dev.txt", "pyproject.toml", "README.md")
_KEPT = 6
_OWN_BASE = {
    "quickstart": ("python3", "nodejs"),
    "postgres": ("postgresql",),
    "redis": ("redis-server",),
}
"""Images that the cluster's usual Debian is no base for: the packages of theirs."""


def image(slot: Slot, name: str) -> Archive:
    """Build one of the project's images unless it is in the cache; returns its archive.

    Raises:
        ClusterError: the build failed.
    """
    base = _base(slot, name)
    digest = hashlib.sha256(f"{name} {base.digest}".encode())
    for path in _inputs(name):
        digest.update(str(path.relative_to(SOURCE)).encode() + path.read_bytes())
    folder = CACHE / "product"
    archive = Archive(folder / f"{name}-{digest.hexdigest()[:20]}.tar", images.name_of(name))
    with alone(archive.path):
        if not archive.path.exists():
            # A folder of its own: a build that was killed leaves mounts in its.
            scratch = slot.folder / "tmp" / f"image-{name}-{os.getpid()}"
            scratch.mkdir(parents=True)
            built = scratch / "built.tar"
            try:
                build(name, f"oci-archive:{base.path}", built, scratch)
            except SystemExit as error:
                raise ClusterError(f"the image {name} was not built: {error}") from error
            oci.rename(built, archive)
            kube.discard(scratch)
            _forget(folder, name)
    return archive


def _base(slot: Slot, name: str) -> Archive:
    scratch = slot.folder / "tmp"
    if name in _OWN_BASE:
        return images.debian_with(f"base-{name}", _OWN_BASE[name], scratch)
    return images.all_images(kube.linked_programs(slot), scratch)[-1]


def load(slot: Slot, name: str, nodes: Sequence[Node] = ()) -> str:
    """Put one of the images on these nodes, or on every one; the reference that pins it."""
    archive, ctr = image(slot, name), kube.linked_programs(slot)["ctr"]
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda node: images.load(node, ctr, [archive]), nodes or slot.nodes))
    return archive.pinned


def load_all(slot: Slot) -> dict[str, str]:
    """Put the images of an installation on every node, two at a time; the references, by name."""
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(names(), pool.map(lambda name: load(slot, name), names()), strict=True))


def names() -> list[str]:
    """The images that an installation has: of the operator, its pods and its gateway."""
    return sorted(EXTRAS)


def _inputs(name: str) -> Iterator[Path]:
    own = (f"images/{name}", "images/build.py", "images/lock.py", "requirements/dev.txt")
    for source in own if name in _OWN_BASE else _SOURCES:
        path = SOURCE / source
        found = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (one for one in found if one.is_file() and "__pycache__" not in one.parts)


def _forget(folder: Path, name: str) -> None:
    """Drop all but the newest builds: every change of the sources makes one."""
    found = sorted(folder.glob(f"{name}-*.tar"), key=lambda path: path.stat().st_mtime)
    for old in found[:-_KEPT]:
        old.unlink(missing_ok=True)
