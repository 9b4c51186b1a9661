"""Running a campaign on this machine: verify, bring its bundle to the store, drive the engine."""

import asyncio
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agentbench.cli.exits import Exit
from agentbench.cli.place import current, folder_to_run
from agentbench.cli.progress import JsonLines, Progress
from agentbench.cli.screen import Screen, count
from agentbench.core.bundle import BundleManifest
from agentbench.core.decide import CampaignPhase
from agentbench.core.keys import bundle_key, layer_key
from agentbench.core.plan import plan
from agentbench.local.engine import Engine
from agentbench.local.isolation import Isolation
from agentbench.local.preflight import EngineOptions
from agentbench.pack.check import require_valid
from agentbench.pack.load import Pack
from agentbench.pack.prepare import Prepared, prepare
from agentbench.pack.problems import PackInvalid, Problem
from agentbench.pack.verify import bundle_folder, require_verified
from agentbench.store.folder import PRIVATE, FolderStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What the command line asked for."""

    store: Path | None
    parallel: int | None
    draft: bool
    isolation: str | None
    show: tuple[Path, ...]
    keep_work: bool
    dry_run: bool
    as_json: bool


def run_campaign(path: Path, wishes: Wishes) -> Exit:
    """Run a pack's campaign to its end.

    Raises:
        PackInvalid: the pack is not valid, or not what was frozen; nothing was written.
    """
    pack = current(path, draft=wishes.draft)
    if pack.frozen:
        require_verified(pack)
        prepared, bundle = _frozen(pack)
    else:
        _require_draft(pack)
        require_valid(pack, ready=True)
        prepared, bundle = prepare(pack), None
    folder = folder_to_run(pack, prepared.digest, wishes.store)
    screen = Screen(as_json=wishes.as_json)
    if wishes.dry_run:
        screen.say(f"{count(len(plan(prepared.spec)), 'run')} would go to {folder}.")
        return Exit.OK
    store = FolderStore(folder)
    bring_bundle(pack, prepared, bundle, folder)
    state = folder / PRIVATE / "engine"
    tell = JsonLines() if wishes.as_json else Progress(screen, prepared.spec, folder)
    engine = Engine(
        campaign=pack.name,
        spec=prepared.spec,
        manifest=prepared.manifest,
        store=store,
        options=EngineOptions(
            state=state,
            parallel=wishes.parallel,
            isolation=Isolation(wishes.isolation) if wishes.isolation else None,
            show=wishes.show,
            hide=_hidden(pack, folder),
            keep_work=wishes.keep_work,
        ),
        on_event=tell,
    )
    with tell:
        phase = asyncio.run(_drive(engine, screen.note))
    return _ended(phase, pack, screen)


def bring_bundle(pack: Pack, prepared: Prepared, bundle: Path | None, store: Path) -> None:
    """Put a campaign's bundle into a store; layers that are there already stay as they are."""
    target = FolderStore(store)
    if bundle is None:
        prepare(pack, store)
        return
    if bundle.resolve() == store.resolve():
        return
    for sha256 in {layer.sha256 for layer in prepared.manifest.layers}:
        key = layer_key(sha256)
        if not (store / key).exists():
            target.put_file(key, bundle / key)
    target.create_only(bundle_key(prepared.manifest.sha256), prepared.manifest.encode())


def _frozen(pack: Pack) -> tuple[Prepared, Path]:
    bundle, folder = pack.spec.protocol.bundle, bundle_folder(pack)
    freeze = pack.spec.protocol.freeze
    if bundle is None or freeze is None or folder is None:
        raise PackInvalid(
            [
                pack.source.problem(
                    ("spec", "protocol", "bundle", "url"),
                    "the bundle is not on this machine",
                    "Copy it into a folder and name that, or run the campaign on a cluster.",
                    value=repr(bundle.url) if bundle else "",
                )
            ]
        )
    manifest = BundleManifest.decode((folder / bundle_key(bundle.sha256)).read_bytes())
    return Prepared(pack.spec, manifest, freeze.digest), folder


def _require_draft(pack: Pack) -> None:
    if not pack.spec.protocol.draft:
        raise PackInvalid(
            [
                pack.source.problem(
                    ("spec", "protocol", "draft"),
                    "the pack is neither frozen nor a draft",
                    "Freeze it, or set draft: true to try it out.",
                )
            ]
        )


def _hidden(pack: Pack, store: Path) -> list[Path]:
    """The pack and the store, unless the very tools of a run lie in them."""
    tools = Path(sys.prefix).resolve()
    folders = [pack.root.resolve(), store.resolve()]
    return [folder for folder in folders if not tools.is_relative_to(folder)]


async def _drive(engine: Engine, note: Callable[[str], None]) -> CampaignPhase:
    """Run the engine; the first signal drains it, the second stops following."""
    loop, working = asyncio.get_running_loop(), asyncio.ensure_future(engine.run())
    asked = 0

    def stop() -> None:
        nonlocal asked
        asked += 1
        if asked == 1:
            note("Stopping: live runs go on to their rows. Once more leaves them to the next run.")
            engine.drain()
        else:
            working.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    try:
        return await working
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def _ended(phase: CampaignPhase, pack: Pack, screen: Screen) -> Exit:
    where = "" if pack.root == Path() else f" {pack.root}"
    again = f"agent-bench run{where} goes on."
    match phase:
        case CampaignPhase.COMPLETE:
            screen.note(f"Complete. Next: agent-bench report{where}")
            return Exit.OK
        case CampaignPhase.SUSPENDED:
            screen.note(f"Stopped before its end; {again}")
            return Exit.INTERRUPTED
        case CampaignPhase.OUT_OF_BUDGET:
            problem = Problem(
                file=pack.source.file,
                field="spec.budget.totalUSD",
                message="the budget has no room for another run's cap",
                cure="What was run stays; a larger budget is an amendment.",
            )
            screen.note(str(problem))
            return Exit.NEGATIVE
    screen.note(f"{phase}; {again}")
    return Exit.NEGATIVE
