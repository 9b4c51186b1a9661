"""OCI archives, written and read without a container tool."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

_TYPE = "application/vnd.oci.image."
MANIFEST = _TYPE + "manifest.v1+json"
_NAME = "io.containerd.image.name"


@dataclass(frozen=True)
class Archive:
    """An OCI archive that holds one image.

    Attributes:
        path: the archive.
        name: its image's name with a tag, as `agentbench.test/python:1`.
    """

    path: Path
    name: str

    @cached_property
    def digest(self) -> str:
        """The digest of the image's manifest, `sha256:...`."""
        with tarfile.open(self.path) as tar:
            index = tar.extractfile("index.json")
            assert index is not None
            found: str = json.load(index)["manifests"][0]["digest"]
            return found

    @property
    def pinned(self) -> str:
        """The reference by which users pin it: repository and digest."""
        return f"{self.name.rpartition(':')[0]}@{self.digest}"

    def blob(self, digest: str) -> bytes | None:
        """The blob of that digest, or None."""
        with tarfile.open(self.path) as tar:
            try:
                member = tar.extractfile(f"blobs/sha256/{digest.removeprefix('sha256:')}")
            except KeyError:
                return None
            return None if member is None else member.read()


def layer(
    path: Path, files: Mapping[str, Path | bytes], links: Mapping[str, str] | None = None
) -> Path:
    """Write a root file system as a tar; the same input gives the same bytes."""
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as tar:
        for name, mode in (("bin", 0o755), ("etc", 0o755), ("tmp", 0o1777)):
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, mode
            tar.addfile(folder)
        for name, content in sorted(files.items()):
            data = content if isinstance(content, bytes) else content.read_bytes()
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), 0o644 if name.startswith("etc/") else 0o755
            tar.addfile(entry, io.BytesIO(data))
        for name, target in sorted((links or {}).items()):
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, target
            tar.addfile(link)
    return path


def write(archive: Archive, root: Path, config: Mapping[str, object]) -> Archive:
    """Write an image of one layer, the tar `root`."""
    with root.open("rb") as handle:
        diff = "sha256:" + hashlib.file_digest(handle, "sha256").hexdigest()
    described = {
        "architecture": "amd64",
        "os": "linux",
        "config": config,
        "rootfs": {"type": "layers", "diff_ids": [diff]},
    }
    settings = json.dumps(described).encode()
    top = {"mediaType": _TYPE + "layer.v1.tar", "digest": diff, "size": root.stat().st_size}
    manifest = json.dumps(
        {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": {"mediaType": _TYPE + "config.v1+json", **_describe(settings)},
            "layers": [top],
        }
    ).encode()
    blobs: dict[str, bytes | Path] = {diff: root}
    for data in (settings, manifest):
        blobs[str(_describe(data)["digest"])] = data
    return _pack(archive, manifest, blobs)


def rename(source: Path, archive: Archive) -> Archive:
    """Write an OCI archive of one image again, under a name that containerd imports it by."""
    with tarfile.open(source) as tar:

        def read(name: str) -> bytes:
            member = tar.extractfile(name)
            assert member is not None
            return member.read()

        digest = json.loads(read("index.json"))["manifests"][0]["digest"]
        names = [name for name in tar.getnames() if name.startswith("blobs/sha256/")]
        blobs = {f"sha256:{name.rpartition('/')[2]}": read(name) for name in sorted(names)}
    return _pack(archive, blobs[digest], dict(blobs))


def _describe(data: bytes) -> dict[str, object]:
    return {"digest": "sha256:" + hashlib.sha256(data).hexdigest(), "size": len(data)}


def _pack(archive: Archive, manifest: bytes, blobs: Mapping[str, bytes | Path]) -> Archive:
    entry = {"mediaType": MANIFEST, **_describe(manifest), "annotations": {_NAME: archive.name}}
    index = json.dumps({"schemaVersion": 2, "manifests": [entry]}).encode()
    files: dict[str, bytes | Path] = {
        "oci-layout": b'{"imageLayoutVersion": "1.0.0"}',
        "index.json": index,
    }
    files |= {f"blobs/{digest.replace(':', '/')}": blob for digest, blob in blobs.items()}
    archive.path.parent.mkdir(parents=True, exist_ok=True)
    part = archive.path.with_suffix(f".part-{os.getpid()}")
    with tarfile.open(part, "w") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            if isinstance(content, Path):
                member.size = content.stat().st_size
                with content.open("rb") as handle:
                    tar.addfile(member, handle)
            else:
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
    part.rename(archive.path)
    return archive
