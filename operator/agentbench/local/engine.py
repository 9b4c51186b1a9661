"""Runs a campaign on one machine: decides with `core`, keeps attempts going, stores their rows."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime

from agentbench.api.base import dollars
from agentbench.api.campaign import CampaignSpec
from agentbench.core.admission import Limits
from agentbench.core.attempt import Recorded
from agentbench.core.bundle import BundleManifest
from agentbench.core.decide import CampaignPhase, Decision, Live, Observed, Start, decide
from agentbench.core.digest import digest, require_digest
from agentbench.core.keys import rows_prefix
from agentbench.core.plan import PlannedRun, plan
from agentbench.core.record import decode_row, facts
from agentbench.local.agent import provider_key
from agentbench.local.courier import Courier
from agentbench.local.events import (
    CampaignEnded,
    CampaignStarted,
    Event,
    RunEnded,
    RunProgress,
    RunStarted,
)
from agentbench.local.freeze_mark import claim
from agentbench.local.isolation import Isolation
from agentbench.local.job import AttemptFolder, Job, run_document
from agentbench.local.keeper import holder
from agentbench.local.layers import Layers
from agentbench.local.lock import engine_lock
from agentbench.local.nursery import Nursery
from agentbench.local.preflight import (
    EngineOptions,
    isolation_for,
    open_the_way,
    require_what_runs_need,
)
from agentbench.pod.trees import remove_tree
from agentbench.store.folder import PRIVATE, FolderStore
from agentbench.store.port import Store
from agentbench_analysis.rows.model import Row


def ignore(_: Event) -> None:
    """For whoever does not want to know."""


class Engine:
    """One campaign on one machine. Killed at any instant, a new one goes on with it."""

    def __init__(
        self,
        *,
        campaign: str,
        spec: CampaignSpec,
        manifest: BundleManifest,
        store: Store,
        options: EngineOptions,
        on_event: Callable[[Event], None] = ignore,
    ) -> None:
        self.campaign = campaign
        self.spec = spec
        self.store = store
        self.options = options
        self.runs = plan(spec)
        self._tell = on_event
        self._folder = options.state.absolute() / campaign
        self._layers = Layers(store, manifest, options.state.absolute() / "layers")
        self._layer_names = [layer.name for layer in manifest.layers]
        self._recorded: dict[tuple[str, int], Recorded] = {}
        self._live: dict[tuple[str, int], asyncio.Task[Row]] = {}
        self._couriers: dict[tuple[str, int], Courier] = {}
        self._drain = False
        self._cancel = False

    def drain(self) -> None:
        """Start nothing more; live runs go on to their rows."""
        self._drain = True

    def cancel(self) -> None:
        """Start nothing more, and end live runs: their rows say `aborted`."""
        self._cancel = True
        for courier in self._couriers.values():
            courier.stop()

    async def run(self) -> CampaignPhase:
        """Run until nothing is left to do, and return where the campaign stands then.

        Raises:
            EngineBusy: another engine works on this store.
            StoreUsed: the store holds rows of another digest.
            DigestMismatch: a frozen field was changed after the freeze.
            EngineError, LayerError: something that the runs need is missing.
            KeeperFailed: an attempt came to no row.
            StoreError: the store refused.
        """
        found = digest(self.spec) if self.spec.protocol.draft else require_digest(self.spec)
        require_what_runs_need(self.spec, self.options)
        home = self.store.root / PRIVATE if isinstance(self.store, FolderStore) else None
        lock = (home or self.options.state.absolute()) / "engine.lock"
        with engine_lock(lock, self.campaign, _now()):
            claim(self.store, self.campaign, self.spec, found)
            isolation = await isolation_for(self.options.isolation)
            if isolation is Isolation.PROCESS_GROUP:
                open_the_way(self.options.state.absolute())
            job = self._job_maker(found, isolation)
            nursery = await Nursery.start()
            try:
                return await self._run(job, nursery, isolation)
            finally:
                await self._let_go()
                await nursery.close()

    async def _run(
        self, job: Callable[[PlannedRun, int], Job], nursery: Nursery, isolation: Isolation
    ) -> CampaignPhase:
        for row in self._stored_rows():
            self._recorded[row.run, row.attempt] = facts(row)
        self._clear_recorded()
        for run, attempt in self._left_behind():
            self._start(Start(run=run, attempt=attempt), job, nursery, resumed=True)
        tally = self._decide().tally
        parallel = self.options.parallel or self.spec.parallelism
        self._tell(
            CampaignStarted(
                runs=self.runs, tally=tally, parallel=parallel, isolation=isolation.value
            )
        )
        while True:
            decision = self._decide()
            for start in decision.start:
                self._start(start, job, nursery, resumed=False)
            if not self._live:
                self._tell(CampaignEnded(phase=decision.phase, tally=decision.tally))
                return decision.phase
            await asyncio.wait(self._live.values(), return_when=asyncio.FIRST_COMPLETED)
            self._collect()

    def _decide(self) -> Decision:
        limits = Limits(
            parallelism=self.options.parallel or self.spec.parallelism,
            cap=dollars(self.spec.caps.cost_usd),
            budget=dollars(self.spec.budget.total_usd) if self.spec.budget else None,
        )
        seen = Observed(
            recorded=tuple(self._recorded.values()),
            live=tuple(Live(run=run, attempt=attempt) for run, attempt in self._live),
            suspend=self._drain or self.spec.suspend,
            cancel=self._cancel or self.spec.cancel,
        )
        return decide(self.runs, limits, seen)

    def _start(
        self,
        start: Start,
        job: Callable[[PlannedRun, int], Job],
        nursery: Nursery,
        *,
        resumed: bool,
    ) -> None:
        run, attempt = start.run, start.attempt
        agent = next(agent for agent in self.spec.agents if agent.id == run.cell.agent)
        courier = Courier(
            folder=self._attempt_folder(run.id, attempt),
            job=job(run, attempt),
            key=provider_key(agent, self.options.environment) or "",
            store=self.store,
            nursery=nursery,
            keep_work=self.options.keep_work,
        )

        def told(step: str, seconds: float) -> None:
            self._tell(RunProgress(run=run, attempt=attempt, step=step, seconds=seconds))

        self._couriers[run.id, attempt] = courier
        self._live[run.id, attempt] = asyncio.create_task(courier.deliver(told))
        self._tell(RunStarted(run=run, attempt=attempt, resumed=resumed))

    def _collect(self) -> None:
        """Take in the rows of attempts that have ended; the first failure is raised."""
        for key in [key for key, task in self._live.items() if task.done()]:
            task = self._live.pop(key)
            del self._couriers[key]
            row = task.result()
            recorded = self._recorded[key] = facts(row)
            run = next(run for run in self.runs if run.id == row.run)
            self._tell(
                RunEnded(
                    run=run,
                    attempt=row.attempt,
                    row=row,
                    cost=recorded.cost,
                    tally=self._decide().tally,
                )
            )

    async def _let_go(self) -> None:
        """Stop following; keepers of live attempts go on and are found again."""
        for task in self._live.values():
            task.cancel()
        await asyncio.gather(*self._live.values(), return_exceptions=True)

    def _left_behind(self) -> list[tuple[PlannedRun, int]]:
        """Attempts that an earlier engine began and that have no row yet, in order."""
        found = []
        for run in self.runs:
            for attempt in (1, 2):
                folder = self._attempt_folder(run.id, attempt)
                if folder.job.exists() and (run.id, attempt) not in self._recorded:
                    found.append((run, attempt))
        return found

    def _clear_recorded(self) -> None:
        """Remove what is left of attempts whose rows are stored."""
        for run, attempt in self._recorded:
            folder = self._attempt_folder(run, attempt)
            if folder.root.exists() and not self.options.keep_work and holder(folder) is None:
                remove_tree(folder.root)

    def _stored_rows(self) -> list[Row]:
        keys = self.store.list(rows_prefix(self.campaign))
        return [decode_row(self.store.get(key), key) for key in keys]

    def _attempt_folder(self, run: str, attempt: int) -> AttemptFolder:
        return AttemptFolder(self._folder / "attempts" / f"{run}.{attempt}")

    def _job_maker(self, found: str, isolation: Isolation) -> Callable[[PlannedRun, int], Job]:
        layers = {}
        for name in self._layer_names:
            folder = self._layers.unpack(name)
            if folder is not None:
                layers[name] = str(folder)
        # Defaults are left out: some of them would not pass their own bounds when read again.
        spec = self.spec.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        state = self.options.state.absolute()
        hide = [state, *(folder.absolute() for folder in self.options.hide)]

        def job(run: PlannedRun, attempt: int) -> Job:
            return Job(
                campaign=self.campaign,
                digest=found,
                spec=spec,
                run=run_document(run),
                attempt=attempt,
                isolation=isolation,
                show=tuple(str(folder.absolute()) for folder in self.options.show),
                hide=tuple(str(folder) for folder in hide),
                layers=layers,
                templates=str(state / "templates"),
            )

        return job


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
