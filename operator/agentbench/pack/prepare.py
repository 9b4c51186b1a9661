"""A pack as it would be frozen: every file hashed, the bundle built, the digest known."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentbench.api.campaign import CampaignSpec
from agentbench.core.bundle import BundleManifest
from agentbench.core.digest import digest
from agentbench.core.keys import bundle_key
from agentbench.pack.atomic import write_whole
from agentbench.pack.files import Member, locate, members, one
from agentbench.pack.layers import Content, hash_layer, write_layer
from agentbench.pack.layout import Named, named_files
from agentbench.pack.load import FREEZE_FILE, GATES_FILE, Pack

BUNDLE_URL = "./bundle"
"""Where a frozen manifest finds its bundle, relative to itself, unless it names a store."""

_OWN = frozenset({FREEZE_FILE, GATES_FILE})


@dataclass(frozen=True, slots=True)
class Prepared:
    """A pack's spec with every hash filled in, and its bundle.

    `digest` is what a freeze of these very files records; a gate's evidence and a draft's rows
    carry it too.
    """

    spec: CampaignSpec
    manifest: BundleManifest
    digest: str


def prepare(pack: Pack, bundle: Path | None = None) -> Prepared:
    """Hash a valid pack; write its bundle below a folder if one is given.

    The folder has a store's layout: `bundles/<sha256>.json` and `layers/<sha256>.tar.zst`.
    """
    named = list(named_files(pack.spec))
    contents = _by_layer(pack.root, named)
    layers = tuple(
        hash_layer(name, contents[name])
        if bundle is None
        else write_layer(name, contents[name], bundle)
        for name in sorted(contents)
    )
    manifest = BundleManifest(layers=layers)
    if bundle is not None:
        write_whole(bundle / bundle_key(manifest.sha256), manifest.encode())
    known = {layer.name: layer.sha256 for layer in layers}
    spec = _with_hashes(pack, named, known, manifest)
    return Prepared(spec, manifest, digest(spec))


def _by_layer(root: Path, named: list[Named]) -> Mapping[str, list[Content]]:
    found: defaultdict[str, dict[str, Content]] = defaultdict(dict)
    for each in named:
        for content in _contents(root, each):
            found[each.layer][content.name] = content
    return {layer: list(files.values()) for layer, files in found.items()}


def _contents(root: Path, named: Named) -> Iterator[Content]:
    path = locate(root, named.path)
    for member in _tree(path):
        name = member.name if named.inside else _joined(named.path, member.name)
        if name not in _OWN:
            yield Content(name, member)


def _tree(path: Path) -> Iterator[Member]:
    if path.is_dir():
        yield from members(path)
    else:
        yield one(path, "")


def _joined(path: str, name: str) -> str:
    plain = Path(path).as_posix()
    return f"{plain}/{name}" if name else plain


def _with_hashes(
    pack: Pack, named: list[Named], layers: Mapping[str, str], manifest: BundleManifest
) -> CampaignSpec:
    document: dict[str, Any] = pack.campaign.model_dump(
        mode="json", by_alias=True, exclude_none=True
    )
    for each in named:
        if each.hashed:
            _parent(document, each)["sha256"] = _hash(pack.root, each, layers)
    document["spec"]["protocol"]["bundle"] = {"url": BUNDLE_URL, "sha256": manifest.sha256}
    return CampaignSpec.model_validate(document["spec"])


def _parent(document: Any, named: Named) -> dict[str, Any]:
    for step in named.loc[:-1]:
        document = document[step]
    parent: dict[str, Any] = document
    return parent


def _hash(root: Path, named: Named, layers: Mapping[str, str]) -> str:
    """A folder's hash is that of its layer, a file's that of its bytes."""
    if named.inside:
        return layers[named.layer]
    path = locate(root, named.path)
    layer = hash_layer("", (Content(each.name or path.name, each) for each in _tree(path)))
    if path.is_dir():
        return layer.sha256
    (file,) = layer.files
    return file.sha256 or ""
