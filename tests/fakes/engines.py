"""An engine of a small campaign, and the rows that it leaves."""

from collections.abc import Callable
from typing import Any

from tests.fakes.local_pack import TinyPack

from agentbench.core.decide import CampaignPhase
from agentbench.core.record import decode_row
from agentbench.local.engine import Engine
from agentbench.local.events import Event
from agentbench.local.preflight import EngineOptions, state_of
from agentbench.store.folder import FolderStore
from agentbench_analysis.rows.model import Row

Steps = list[dict[str, Any]]


def an_engine(
    pack: TinyPack,
    store: FolderStore,
    on_event: Callable[[Event], None] = lambda _: None,
    **options: Any,
) -> Engine:
    spec, manifest = pack.freeze(store)
    return Engine(
        campaign="tiny",
        spec=spec,
        manifest=manifest,
        store=store,
        options=EngineOptions(state=state_of(store), **options),
        on_event=on_event,
    )


async def rows(pack: TinyPack, store: FolderStore, **options: Any) -> list[Row]:
    """Run the campaign to its end and read its rows back."""
    phase = await an_engine(pack, store, **options).run()
    assert phase in (CampaignPhase.COMPLETE, CampaignPhase.OUT_OF_BUDGET)
    return [decode_row(store.get(key), key) for key in store.list("tiny/rows/")]


async def row(pack: TinyPack, store: FolderStore, steps: Steps | str, **options: Any) -> Row:
    """The row of a campaign with one agent's one run."""
    pack.agents = {"A1": steps}
    (found,) = await rows(pack, store, **options)
    return found
