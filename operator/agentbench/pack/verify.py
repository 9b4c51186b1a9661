"""Verifying a freeze: everything is computed again, and what differs is named."""

from collections.abc import Iterator
from pathlib import Path

from agentbench.core.bundle import BundleManifest, Layer
from agentbench.core.digest import digest, sha256_of
from agentbench.core.keys import bundle_key, layer_key
from agentbench.pack.files import FileRefused, is_executable, locate
from agentbench.pack.layers import hash_stored
from agentbench.pack.load import (
    FREEZE_FILE,
    GATES_FILE,
    Pack,
    load_pack,
)
from agentbench.pack.prepare import prepare
from agentbench.pack.problems import PackInvalid, Problem
from agentbench.pack.records import FreezeRecord, FrozenFile, frozen_files, read

_RESTORE = "Restore it from the commit of the freeze, or freeze a new protocol."


def verify(manifest: Pack) -> list[Problem]:
    """Everything about a frozen manifest, its bundle and its pack that is not as it was frozen.

    The pack's own files are compared where `locks/FREEZE` stands beside the manifest; a manifest
    and bundle that were copied elsewhere are verified alone.
    """
    found = list(_digest(manifest))
    bundle = bundle_folder(manifest)
    if bundle is not None:
        found += _bundle(manifest, bundle)
    if manifest.folder != manifest.root and (manifest.root / FREEZE_FILE).exists():
        found += _pack(manifest)
    return found


def bundle_folder(manifest: Pack) -> Path | None:
    """The folder of a frozen manifest's bundle; None where it is in another kind of store."""
    bundle = manifest.spec.protocol.bundle
    if bundle is None or "://" in bundle.url.removeprefix("file://"):
        return None
    url = bundle.url.removeprefix("file://")
    return manifest.folder / url


def _digest(manifest: Pack) -> Iterator[Problem]:
    freeze, found = manifest.spec.protocol.freeze, digest(manifest.spec)
    if freeze is not None and freeze.digest != found:
        yield manifest.source.problem(
            ("spec", "protocol", "freeze", "digest"),
            f"a frozen field was changed after the freeze: they give {found} now",
            _RESTORE,
            value=freeze.digest,
        )
    if manifest.spec.protocol.bundle is None:
        yield manifest.source.problem(
            ("spec", "protocol", "bundle"), "is missing", "Restore the frozen manifest."
        )


def _bundle(manifest: Pack, folder: Path) -> Iterator[Problem]:
    bundle = manifest.spec.protocol.bundle
    if bundle is None:
        return
    path = folder / bundle_key(bundle.sha256)
    try:
        content = path.read_bytes()
    except OSError as error:
        yield _of(path, f"the bundle's manifest cannot be read: {error.strerror}")
        return
    if sha256_of(content) != bundle.sha256:
        yield _of(path, "the bundle's manifest was changed")
        return
    for sha256, name in {layer.sha256: layer.name for layer in _layers(content)}.items():
        stored = folder / layer_key(sha256)
        try:
            if hash_stored(stored) != sha256:
                yield _of(stored, f"layer {name} was changed")
        except OSError as error:
            yield _of(stored, f"layer {name} cannot be read: {error.strerror}")
        except ValueError as error:
            yield _of(stored, f"layer {name} is damaged: {error}")


def _layers(content: bytes) -> Iterator[Layer]:
    yield from BundleManifest.decode(content).layers


def _of(path: Path, message: str) -> Problem:
    return Problem(file=str(path), message=message, cure=_RESTORE)


def _pack(manifest: Pack) -> Iterator[Problem]:
    """Compare the pack's own files with the record of the freeze."""
    record = read(FreezeRecord, manifest.root / FREEZE_FILE, _RESTORE)
    freeze = manifest.spec.protocol.freeze
    if freeze is not None and freeze.digest != record.digest:
        yield Problem(
            file=str(manifest.root / FREEZE_FILE),
            message="is the record of another freeze than frozen/campaign.yaml",
            value=record.digest,
            cure=_RESTORE,
        )
    changed = [problem for file in record.files for problem in _file(manifest.root, file)]
    yield from changed
    gates = manifest.root / GATES_FILE
    if not gates.exists() or sha256_of(gates.read_bytes()) != record.gates:
        yield Problem(file=str(gates), message="is not the evidence of the freeze", cure=_RESTORE)
    if not changed:
        yield from _whole(manifest.root, record)


def _file(root: Path, file: FrozenFile) -> Iterator[Problem]:
    def problem(message: str) -> Problem:
        return Problem(file=str(root / file.path), message=message, cure=_RESTORE)

    if file.link is not None:
        path = root / file.path
        if not path.is_symlink() or str(path.readlink()) != file.link:
            yield problem(f"is no longer a link to {file.link}")
        return
    try:
        path = locate(root, file.path)
        if path.is_symlink() or not path.is_file():
            yield problem("is no longer a file")
        elif sha256_of(path.read_bytes()) != file.sha256:
            yield problem("was changed after the freeze")
        elif is_executable(path) != file.executable and file.path != "campaign.yaml":
            yield problem("its permission to execute was changed after the freeze")
    except FileRefused:
        yield problem("was removed after the freeze")
    except OSError as error:
        yield problem(f"cannot be read: {error.strerror}")


def _whole(root: Path, record: FreezeRecord) -> Iterator[Problem]:
    """Files that a freeze would add now, and the digest that it would give."""
    pack = load_pack(root)
    prepared = prepare(pack)
    known = {file.path for file in record.files}
    extra = [f for f in frozen_files(pack.spec, prepared.manifest) if f.path not in known]
    for file in extra:
        yield Problem(
            file=str(root / file.path),
            message="was added after the freeze",
            cure="Remove it from the pack.",
        )
    if not extra and digest(prepared.spec) != record.digest:
        yield Problem(
            file=str(root / FREEZE_FILE),
            message="the pack's files give another digest",
            value=prepared.digest,
            cure=_RESTORE,
        )


def require_verified(manifest: Pack) -> None:
    """Stop unless a frozen manifest is what was frozen.

    Raises:
        PackInvalid: with everything that differs.
    """
    problems = verify(manifest)
    if problems:
        raise PackInvalid(problems)
