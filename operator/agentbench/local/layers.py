"""Layers of a bundle, taken from the store, checked by their sha256 and unpacked once."""

import hashlib
import os
import tarfile
from pathlib import Path, PurePosixPath
from secrets import token_hex
from typing import BinaryIO

import zstandard

from agentbench.core.bundle import BundleManifest, Layer
from agentbench.core.keys import layer_key
from agentbench.pod.trees import remove_tree
from agentbench.store.port import NotFound, Store


class LayerError(RuntimeError):
    """A layer is missing or is not what its name says; the message names the cure."""


class _Hashing:
    """Hashes what is read through it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.sha = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        content = self._stream.read(size)
        self.sha.update(content)
        return content


class Layers:
    """Unpacked layers in a folder of the engine's state, one folder per sha256."""

    def __init__(self, store: Store, manifest: BundleManifest, folder: Path) -> None:
        self._store = store
        self._manifest = manifest
        self._folder = folder

    def unpack(self, name: str) -> Path | None:
        """The folder with a layer's files, or None if the bundle has no layer of that name.

        Raises:
            LayerError: the store has not got it, or has other content under its name.
        """
        layer = self._manifest.layer(name)
        if layer is None:
            return None
        target = self._folder / layer.sha256.removeprefix("sha256:")
        if not target.exists():
            self._folder.mkdir(parents=True, exist_ok=True)
            # Checks and solutions: no other user may come near them.
            self._folder.chmod(0o700)
            draft = self._folder / f".{token_hex(8)}"
            draft.mkdir(mode=0o755)
            try:
                self._fill(layer, draft)
                draft.rename(target)
            except FileExistsError:
                remove_tree(draft)
            except BaseException:
                remove_tree(draft)
                raise
        return target

    def _fill(self, layer: Layer, folder: Path) -> None:
        key = layer_key(layer.sha256)
        try:
            packed = self._store.open(key)
        except NotFound:
            raise LayerError(
                f"layer {layer.name} ({key}) is not in the store: freeze the pack again, or copy "
                "its layers there"
            ) from None
        try:
            with packed, zstandard.ZstdDecompressor().stream_reader(packed) as plain:
                hashing = _Hashing(plain)
                with tarfile.open(fileobj=hashing, mode="r|") as tar:  # type: ignore[call-overload]
                    for member in tar:
                        _unpack(tar, member, folder)
                while hashing.read(1 << 20):
                    pass
        except (tarfile.TarError, zstandard.ZstdError, EOFError) as error:
            raise LayerError(f"layer {layer.name} ({key}) cannot be read: {error}") from error
        found = f"sha256:{hashing.sha.hexdigest()}"
        if found != layer.sha256:
            raise LayerError(
                f"layer {layer.name} ({key}) has the sha256 {found}: it was changed after the "
                "freeze; restore it, or freeze the pack again"
            )


def _unpack(tar: tarfile.TarFile, member: tarfile.TarInfo, folder: Path) -> None:
    path = PurePosixPath(member.name)
    if path.is_absolute() or ".." in path.parts:
        raise LayerError(f"layer file {member.name!r} leads out of the layer")
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    if member.isdir():
        target.mkdir(exist_ok=True)
    elif member.issym():
        target.symlink_to(member.linkname)
    elif member.isreg():
        content = tar.extractfile(member)
        assert content is not None
        with target.open("xb") as stream:
            while chunk := content.read(1 << 20):
                stream.write(chunk)
        target.chmod(0o755 if member.mode & 0o100 else 0o644)
    else:
        raise LayerError(f"layer file {member.name!r} is neither file, folder nor link")
    if os.path.commonpath([folder, target.parent.resolve()]) != str(folder.resolve()):
        raise LayerError(f"layer file {member.name!r} leads out of the layer")
