"""What the operator needs of a bundle: prompts, price list and scripts, verified by hash."""

import io
import tarfile
from dataclasses import dataclass

import zstandard

from agentbench.api.campaign import CampaignSpec
from agentbench.core.bundle import PROTOCOL_LAYER, SCRIPTS_LAYER, BundleManifest, Layer
from agentbench.core.digest import sha256_of
from agentbench.core.keys import bundle_key, layer_key
from agentbench.store.port import NotFound, Store

MAX_LAYER = 64 << 20
"""Bytes of a layer that the operator itself unpacks."""


class BundleError(ValueError):
    """A bundle is missing, or is not what the protocol froze."""


@dataclass(frozen=True, slots=True)
class Pack:
    """A verified bundle: its manifest, and the files of its protocol and scripts layers."""

    manifest: BundleManifest
    files: dict[tuple[str, str], bytes]  # by layer and path

    def text(self, layer: str, path: str) -> str:
        """A file of a layer; BundleError if it is not there or is no text."""
        try:
            return self.files[layer, path].decode()
        except KeyError:
            raise BundleError(f"the bundle's {layer} layer has no file {path!r}") from None
        except UnicodeDecodeError as error:
            raise BundleError(f"the bundle's file {path!r} is not UTF-8") from error


def load_pack(spec: CampaignSpec, store: Store) -> Pack:
    """Fetch a campaign's bundle from its store, and verify it.

    Raises:
        BundleError: what is there is not what the protocol names.
        StoreError: the store does not answer.
    """
    bundle = spec.protocol.bundle
    if bundle is None:
        raise BundleError(
            "spec.protocol.bundle is missing: apply the manifest that `agent-bench freeze` wrote"
        )
    content = _fetch(store, bundle_key(bundle.sha256), bundle.sha256)
    if sha256_of(content) != bundle.sha256:
        raise BundleError(
            f"spec.protocol.bundle.sha256 is {bundle.sha256}, but the stored manifest hashes to "
            f"{sha256_of(content)}: the bundle was changed; push it again from the frozen pack"
        )
    try:
        manifest = BundleManifest.decode(content)
    except ValueError as error:
        raise BundleError(f"the bundle's manifest {bundle.sha256} is none: {error}") from error
    if manifest.layer(PROTOCOL_LAYER) is None:
        raise BundleError(f"the bundle has no layer {PROTOCOL_LAYER!r}")
    files = {
        (name, path): content
        for name in (PROTOCOL_LAYER, SCRIPTS_LAYER)
        if (layer := manifest.layer(name)) is not None
        for path, content in _unpacked(store, layer).items()
    }
    return Pack(manifest, files)


def _unpacked(store: Store, layer: Layer) -> dict[str, bytes]:
    """The files of a small layer, by path."""
    packed = _fetch(store, layer_key(layer.sha256), layer.sha256)
    try:
        tar = zstandard.ZstdDecompressor().stream_reader(packed).read(MAX_LAYER)
    except zstandard.ZstdError as error:
        raise BundleError(
            f"{layer_key(layer.sha256)} is no zstd file: {error}; push the bundle again"
        ) from error
    if sha256_of(tar) != layer.sha256:
        raise BundleError(
            f"{layer_key(layer.sha256)} does not hash to {layer.sha256}, or has more than "
            f"{MAX_LAYER >> 20} MiB: the bundle was changed; push it again from the frozen pack"
        )
    with tarfile.open(fileobj=io.BytesIO(tar)) as members:
        return {
            member.name: stream.read()
            for member in members
            if member.isfile() and (stream := members.extractfile(member)) is not None
        }


def _fetch(store: Store, key: str, sha256: str) -> bytes:
    try:
        return store.get(key)
    except NotFound:
        raise BundleError(
            f"the store has no {key}: push the bundle ({sha256}) with `agent-bench push`"
        ) from None
