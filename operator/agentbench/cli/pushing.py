"""A frozen pack's bundle, brought to a store: created once, and verified by hash."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from agentbench.core.bundle import BundleManifest, Layer
from agentbench.core.digest import sha256_of
from agentbench.core.keys import bundle_key, layer_key
from agentbench.pack.layers import hash_packed, hash_stored
from agentbench.pack.load import Pack
from agentbench.pack.problems import PackInvalid, Problem
from agentbench.pack.verify import bundle_folder
from agentbench.store.port import Conflict, Put, Store
from agentbench.store.s3 import S3Store

_RESTORE = "Restore frozen/bundle from the commit of the freeze."


class State(StrEnum):
    """What became of a layer."""

    SENDING = "sending"
    UPLOADED = "uploaded"
    THERE = "there already"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pushed:
    """One layer on its way. Sizes in bytes, compressed."""

    layer: str
    sha256: str
    size: int
    state: State
    sent: int = 0


Tell = Callable[[Pushed], None]


def push(pack: Pack, store: Store, tell: Tell, *, verify: bool) -> BundleManifest:
    """Bring a frozen pack's bundle to a store; its manifest comes last, and says it is whole.

    Args:
        pack: the frozen manifest; its bundle lies beside it.
        store: where to.
        tell: is told of every layer.
        verify: whether what is there already is read and hashed, too. What is uploaded always is.

    Raises:
        PackInvalid: the bundle on this machine is not what was frozen.
        Conflict: the store holds something else under a layer's key; it is left as it is.
        StoreError: the store does not answer.
    """
    folder, manifest = local_bundle(pack)
    layers = {layer.sha256: layer for layer in manifest.layers}
    for layer in layers.values():
        key = layer_key(layer.sha256)
        path = folder / key
        there = _holds(store, key)
        size = path.stat().st_size if path.exists() else layer.size
        step = Pushed(layer=layer.name, sha256=layer.sha256, size=size, state=State.THERE)
        if not there:
            _require_whole(path, layer)
            _send(store, key, path, step, tell)
        if verify or not there:
            _require_stored(store, key, layer)
        tell(replace(step, state=State.THERE if there else State.UPLOADED, sent=size))
    store.create_only(bundle_key(manifest.sha256), manifest.encode())
    return manifest


def is_pushed(pack: Pack, store: Store) -> bool:
    """Whether the store has the whole bundle; its manifest is the last that is stored."""
    bundle = pack.spec.protocol.bundle
    return bundle is not None and _holds(store, bundle_key(bundle.sha256))


def local_bundle(pack: Pack) -> tuple[Path, BundleManifest]:
    """The folder of a frozen pack's bundle on this machine, and its manifest.

    Raises:
        PackInvalid: it is not there, or not what was frozen.
    """
    folder = bundle_folder(pack) or pack.folder / "bundle"
    bundle = pack.spec.protocol.bundle
    if bundle is None:
        where = ("spec", "protocol", "bundle")
        raise PackInvalid([pack.source.problem(where, "is missing", "Freeze the pack first.")])
    path = folder / bundle_key(bundle.sha256)
    try:
        content = path.read_bytes()
    except OSError as error:
        message = f"the bundle's manifest cannot be read: {error.strerror}"
        raise PackInvalid([Problem(file=str(path), message=message, cure=_RESTORE)]) from error
    if sha256_of(content) != bundle.sha256:
        message = "the bundle's manifest is not the frozen one"
        raise PackInvalid([Problem(file=str(path), message=message, cure=_RESTORE)])
    return folder, BundleManifest.decode(content)


def _send(store: Store, key: str, path: Path, step: Pushed, tell: Tell) -> None:
    tell(replace(step, state=State.SENDING))
    if not isinstance(store, S3Store):
        store.put_file(key, path)
        return

    def sent(so_far: int) -> None:
        tell(replace(step, state=State.SENDING, sent=so_far))

    if store.put_file(key, path, sent) is Put.SAME:
        tell(replace(step, state=State.SENDING, sent=step.size))


def _holds(store: Store, key: str) -> bool:
    return next(iter(store.list(key)), None) == key


def _require_whole(path: Path, layer: Layer) -> None:
    try:
        wrong = None if hash_stored(path) == layer.sha256 else "was changed after the freeze"
    except OSError as error:
        wrong = f"cannot be read: {error.strerror}"
    except ValueError as error:
        wrong = f"is damaged: {error}"
    if wrong is not None:
        problem = Problem(file=str(path), message=f"layer {layer.name} {wrong}", cure=_RESTORE)
        raise PackInvalid([problem])


def _require_stored(store: Store, key: str, layer: Layer) -> None:
    """Another version of the compressor writes other bytes of the same layer: that is fine."""
    with store.open(key) as stream:
        try:
            found = hash_packed(stream)
        except ValueError as error:
            found = str(error)
    if found != layer.sha256:
        raise Conflict(
            f"the store holds something else as layer {layer.name} ({key}: {found}): it was left "
            "as it is; use another prefix, or have it removed by whoever owns the bucket"
        )
