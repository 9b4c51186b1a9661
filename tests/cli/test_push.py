"""A bundle is created once in its store, and is verified by hash on both sides."""

from __future__ import annotations

from pathlib import Path

import pytest
import zstandard
from tests.fakes.packs import a_pack, frozen

from agentbench.cli.pushing import Pushed, State, is_pushed, local_bundle, push
from agentbench.core.keys import bundle_key, layer_key
from agentbench.pack.load import Pack, frozen_pack
from agentbench.pack.problems import PackInvalid
from agentbench.store.folder import FolderStore
from agentbench.store.port import Conflict


@pytest.fixture
def pack(tmp_path: Path) -> Pack:
    folder = a_pack(tmp_path)
    frozen(folder)
    return frozen_pack(folder)


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "store")


def pushed(pack: Pack, store: FolderStore, *, verify: bool = True) -> dict[str, State]:
    told: list[Pushed] = []
    push(pack, store, told.append, verify=verify)
    return {each.layer: each.state for each in told if each.state is not State.SENDING}


def test_every_layer_is_uploaded_once_and_the_manifest_last(pack: Pack, store: FolderStore) -> None:
    assert not is_pushed(pack, store)
    assert set(pushed(pack, store).values()) == {State.UPLOADED}
    assert is_pushed(pack, store)
    assert set(pushed(pack, store).values()) == {State.THERE}
    _, manifest = local_bundle(pack)
    assert set(store.list("")) == {
        bundle_key(manifest.sha256),
        *(layer_key(layer.sha256) for layer in manifest.layers),
    }


def test_a_push_that_was_cut_short_is_taken_up(pack: Pack, store: FolderStore) -> None:
    folder, manifest = local_bundle(pack)
    key = layer_key(manifest.layers[0].sha256)
    store.put_file(key, folder / key)
    assert not is_pushed(pack, store)
    states = pushed(pack, store)
    assert states[manifest.layers[0].name] is State.THERE
    assert list(states.values()).count(State.UPLOADED) == len(states) - 1


def test_a_layer_that_was_changed_here_is_not_sent(pack: Pack, store: FolderStore) -> None:
    folder, manifest = local_bundle(pack)
    layer = manifest.layers[-1]
    (folder / layer_key(layer.sha256)).write_bytes(zstandard.compress(b"other"))
    with pytest.raises(PackInvalid, match=f"layer {layer.name} was changed after the freeze"):
        pushed(pack, store)
    assert not is_pushed(pack, store)
    assert layer_key(layer.sha256) not in list(store.list("layers/"))


def test_other_content_in_the_store_is_found_and_left(pack: Pack, store: FolderStore) -> None:
    _, manifest = local_bundle(pack)
    layer = manifest.layers[0]
    store.create_only(layer_key(layer.sha256), zstandard.compress(b"other"))
    with pytest.raises(Conflict, match=f"holds something else as layer {layer.name}"):
        pushed(pack, store)
    assert store.get(layer_key(layer.sha256)) == zstandard.compress(b"other")
    assert not is_pushed(pack, store)


def test_the_same_layer_of_another_compressor_is_the_same(pack: Pack, store: FolderStore) -> None:
    folder, manifest = local_bundle(pack)
    layer = manifest.layers[0]
    tar = zstandard.decompress((folder / layer_key(layer.sha256)).read_bytes(), 1 << 26)
    store.create_only(layer_key(layer.sha256), zstandard.compress(tar, 1))
    assert pushed(pack, store)[layer.name] is State.THERE


def test_a_bundle_that_is_not_here_is_said(pack: Pack, store: FolderStore) -> None:
    folder, manifest = local_bundle(pack)
    (folder / bundle_key(manifest.sha256)).unlink()
    with pytest.raises(PackInvalid, match="the bundle's manifest cannot be read"):
        pushed(pack, store)
