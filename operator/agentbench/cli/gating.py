"""Trying a pack's gates on this machine, and keeping the evidence."""

import asyncio
import os
from pathlib import Path

from agentbench.cli.clock import now
from agentbench.cli.place import OWN_FOLDER
from agentbench.cli.screen import Screen
from agentbench.core.bundle import CHECKS_LAYER, GATE_LAYER, SCRIPTS_LAYER
from agentbench.local.gates import GateKeeper
from agentbench.local.layers import Layers
from agentbench.local.place import Machine
from agentbench.local.probe import best_isolation
from agentbench.local.services.templates import Templates
from agentbench.pack.atomic import write_whole
from agentbench.pack.freeze import missing
from agentbench.pack.load import GATES_FILE, Pack
from agentbench.pack.prepare import Prepared, prepare
from agentbench.pack.problems import PackInvalid
from agentbench.pack.records import GateResult, Gates, encode
from agentbench.pod.trees import remove_tree
from agentbench.store.folder import FolderStore


def try_gates(pack: Pack, parallel: int, screen: Screen) -> Gates:
    """Try every gate, tell each result as it comes, and write the evidence.

    Raises:
        PackInvalid: something that the gates need is missing; nothing was run.
    """
    wanting = [
        problem
        for problem in missing(pack)
        if "openItems" not in problem.field and not problem.field.endswith("protocol.draft")
    ]
    if wanting:
        raise PackInvalid(wanting)
    folder = (pack.root / OWN_FOLDER / f"gate-{os.getpid()}").resolve()
    try:
        folder.mkdir(parents=True, mode=0o711)
        prepared = prepare(pack, folder / "store")
        results = asyncio.run(_try(pack, prepared, folder, parallel, screen))
    finally:
        remove_tree(folder)
    order = {(r.task, r.stack, r.subject): r for r in results}
    evidence = Gates(
        digest=prepared.digest, at=now(), results=tuple(order[k] for k in sorted(order))
    )
    write_whole(pack.root / GATES_FILE, encode(evidence))
    return evidence


async def _try(
    pack: Pack, prepared: Prepared, folder: Path, parallel: int, screen: Screen
) -> list[GateResult]:
    isolation = await best_isolation()
    machine = Machine(isolation=isolation, hide=[pack.root.resolve()])
    layers = Layers(FolderStore(folder / "store"), prepared.manifest, folder / "layers")
    unpacked = {
        layer.name: path
        for layer in prepared.manifest.layers
        if layer.name in (CHECKS_LAYER, GATE_LAYER, SCRIPTS_LAYER) or "/" in layer.name
        if (path := layers.unpack(layer.name)) is not None
    }
    keeper = GateKeeper(
        spec=prepared.spec,
        machine=machine,
        layers=unpacked,
        templates=Templates(folder / "templates", machine),
        folder=folder / "work",
    )
    results = []
    async for result in keeper.try_all(parallel):
        results.append(result)
        word = "ok  " if result.ok else "FAIL"
        screen.say(f"{word}  {result.task}  {result.stack}  {result.subject}: {result.found}")
    return results
