"""Takes hold of a campaign: its pack, its objects and its rows, read once and then kept."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

from agentbench.app.adopt import adopt_rows
from agentbench.app.campaign import Campaign, Refused, read_campaign
from agentbench.app.held import Held
from agentbench.app.ledger import Ledger, run_facts
from agentbench.app.line import Line
from agentbench.app.metrics import Metrics, totals_of
from agentbench.app.pack import load_pack
from agentbench.app.perform import Hands
from agentbench.app.prefix import claim
from agentbench.app.settings import Settings
from agentbench.app.stores import Stores
from agentbench.app.totals import Totals, of_row
from agentbench.app.world import World
from agentbench.core.keys import freeze_key
from agentbench.kube.cluster import Cluster, Raw
from agentbench.kube.names import CAMPAIGN_LABEL
from agentbench.store.port import StoreError

Body = Mapping[str, Any]


class Holder:
    """Keeps what is known of each campaign, by its uid."""

    def __init__(
        self, cluster: Cluster, settings: Settings, stores: Stores, world: World, metrics: Metrics
    ) -> None:
        self.held: dict[str, Held] = {}
        self._cluster = cluster
        self._settings = settings
        self._stores = stores
        self._world = world
        self._metrics = metrics

    async def hold(self, body: Body, *, ending: bool = False) -> Held:
        """What is kept of a campaign, brought up to its generation."""
        uid = body["metadata"]["uid"]
        held = self.held.get(uid)
        generation = body["metadata"].get("generation", 0)
        if held is not None and held.campaign.generation == generation:
            await self.look_at_store(held)
            return held
        campaign = read_campaign(body)
        store = await self._stores.open(campaign)
        if held is None or held.campaign.digest != campaign.digest:
            pack = await asyncio.to_thread(load_pack, campaign.spec, store)
            hands = Hands(self._cluster, self._settings, campaign, pack, Line(store))
            hands.new_prefix = await claim(hands.line, self._cluster, campaign)
            if not ending:
                await self._stores.require_model_keys(campaign)
                await hands.close_off()
            await self._world.ready()
            totals = totals_of(campaign)
            ledger = await self._ledger(campaign, totals)
            changed = await hands.line.ask(
                adopt_rows, ledger, campaign, store, lambda row: totals.add(of_row(row))
            )
            self._metrics.adopt(campaign, totals)
            planned = {run.id: run for run in campaign.runs}
            held = Held(campaign, hands, ledger, self._world.pods(uid), planned)
            for run in changed:
                await hands.write_status(ledger.runs[run], ledger.runs[run].attempts)
            self.held[uid] = held
        else:
            held.campaign = held.hands.campaign = campaign
            held.hands.line.store = store
            await self.look_at_store(held)
        held.pods.everything = True
        return held

    async def look_at_store(self, held: Held) -> None:
        """Look whether a store that was down is well again, with the keys that are valid now."""
        line = held.hands.line
        if line.down is None:
            return
        try:
            line.store = await self._stores.open(held.campaign)
        except Refused:
            pass  # its Secret is gone: the keys that we have may still do
        except StoreError:
            return  # as down as before
        await line.look_again(freeze_key(held.campaign.name))

    async def live(self, namespace: str, uid: str) -> list[str]:
        """The live attempts of a campaign that cannot be held, from its run objects alone."""
        entries = [run_facts(raw) async for raw in self._runs(namespace, uid)]
        return [entry.run for entry in entries if entry.current is not None]

    async def _ledger(self, campaign: Campaign, totals: Totals) -> Ledger:
        objects = self._runs(campaign.namespace, campaign.uid)
        return await Ledger.load(campaign, totals.reading(objects))

    def _runs(self, namespace: str, uid: str) -> AsyncIterator[Raw]:
        return self._cluster.list("BenchmarkRun", namespace, labels=f"{CAMPAIGN_LABEL}={uid}")
