"""What an engine refuses before anything runs, and how it names it."""

import os
from pathlib import Path

import pytest
import zstandard
from tests.fakes.command import a_program
from tests.fakes.engines import an_engine, row
from tests.fakes.local_pack import TinyPack

from agentbench.local.freeze_mark import StoreUsed
from agentbench.local.layers import LayerError
from agentbench.local.lock import EngineBusy, engine_lock
from agentbench.local.preflight import EngineError, state_of
from agentbench.store.folder import PRIVATE, FolderStore


async def test_two_engines_on_one_store_at_once_are_refused(
    pack: TinyPack, store: FolderStore
) -> None:
    engine = an_engine(pack, store)
    lock = store.root / PRIVATE / "engine.lock"
    named = rf"process {os.getpid()} on .*, campaign other"
    with engine_lock(lock, "other", "2026-01-01"), pytest.raises(EngineBusy, match=named):
        await engine.run()
    assert list(store.list("tiny/rows/")) == []


async def test_a_store_that_another_digest_used_is_refused(
    pack: TinyPack, store: FolderStore
) -> None:
    await row(pack, store, "nop")
    pack.spec = {"repeats": 2}
    with pytest.raises(StoreUsed, match="use another store"):
        await an_engine(pack, store).run()
    assert len(list(store.list("tiny/rows/"))) == 1


async def test_a_layer_that_was_changed_by_one_byte_is_refused(
    pack: TinyPack, store: FolderStore
) -> None:
    engine = an_engine(pack, store)
    for path in (store.root / "layers").iterdir():
        content = bytearray(zstandard.decompress(path.read_bytes()))
        if b"nothing works yet" in content:
            content[content.find(b"nothing works yet")] ^= 1
            path.write_bytes(zstandard.compress(bytes(content)))
    with pytest.raises(LayerError, match=r"seed/T1/S1.*changed after the freeze"):
        await engine.run()
    assert not (state_of(store) / "tiny" / "attempts").exists()


async def test_a_missing_key_is_named_before_anything_runs(
    pack: TinyPack, store: FolderStore
) -> None:
    pack.agents = {"A1": [{"say": "hi"}]}
    pack.provider = {"api": "openai", "keyEnv": "NO_SUCH_KEY"}
    with pytest.raises(EngineError, match="A1: the variable NO_SUCH_KEY"):
        await an_engine(pack, store, environment={}).run()


async def test_an_agent_that_is_nowhere_on_the_path_is_named_before_anything_runs(
    pack: TinyPack, store: FolderStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentbench.local.place.STANDARD_PATH", ())
    a_program(tmp_path / "tools/curl")
    pack.agents = {"A1": "codex"}
    with pytest.raises(EngineError, match=r"A1: codex is not on the PATH.*tools.*--show") as said:
        await an_engine(pack, store, show=[tmp_path / "tools"]).run()
    assert "curl is not" not in str(said.value)
    assert list(store.list("tiny/")) == []


async def test_a_service_that_needs_a_cluster_is_named_before_anything_runs(
    pack: TinyPack, store: FolderStore
) -> None:
    pack.stack = {"services": [{"name": "search", "kind": "container"}]}
    with pytest.raises(EngineError, match=r"S1, service search: .*needs a cluster"):
        await an_engine(pack, store).run()
