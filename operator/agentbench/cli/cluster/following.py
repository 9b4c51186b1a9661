"""A campaign on a cluster, told as it goes: the same events as on one machine."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from typing import Protocol, TypeVar

from agentbench.api.campaign import CampaignSpec
from agentbench.cli.cluster.connection import Connection
from agentbench.cli.cluster.errors import BadCluster
from agentbench.cli.cluster.paths import CAMPAIGNS, RUNS
from agentbench.cli.cluster.views import CampaignView, RunView, campaign_view, money, run_view
from agentbench.cli.cluster.waiting import waits_of
from agentbench.cli.progress import AttemptEnded, Event, RunWaits
from agentbench.core.admission import Limits
from agentbench.core.attempt import Recorded
from agentbench.core.decide import CampaignPhase, Observed, Tally, decide
from agentbench.core.plan import PlannedRun, plan
from agentbench.kube.errors import Missing, Retry, Stale
from agentbench.kube.names import CAMPAIGN_LABEL
from agentbench.local.events import CampaignEnded, CampaignStarted, RunProgress, RunStarted

T = TypeVar("T")

WINDOW = 2
"""Seconds of one watch; between two the campaign itself is looked at."""
PODS_EVERY = 5.0
"""Seconds between two looks at what pods wait for."""
NOBODY = 20.0
"""Seconds after which a campaign that no operator has looked at is worth a remark."""
PATIENCE = 600.0
"""Seconds for which the API server may be away before following ends."""
STALLED = 15.0
"""Seconds that a campaign may stand still for a person: the operator looks again every ten."""
_ENDS: Mapping[str, CampaignPhase] = {
    str(phase): phase
    for phase in (CampaignPhase.COMPLETE, CampaignPhase.CANCELLED, CampaignPhase.OUT_OF_BUDGET)
}


class Clock(Protocol):
    """Time that passes, and waiting."""

    def monotonic(self) -> float:
        """Seconds that only grow."""

    def sleep(self, seconds: float, /) -> None:
        """Wait."""


class Stands(BadCluster):
    """A campaign cannot go on before a person mends something."""


@dataclass(slots=True, kw_only=True)
class Follower:
    """Follows one campaign to its end. `note` takes remarks for people."""

    connection: Connection
    name: str
    spec: CampaignSpec
    tell: Callable[[Event], None]
    note: Callable[[str], None]
    clock: Clock = time
    _runs: dict[str, RunView] = field(default_factory=dict)
    _version: str = ""
    _steps: dict[tuple[str, int], str] = field(default_factory=dict)
    _waiting: dict[tuple[str, int], str] = field(default_factory=dict)
    _planned: Mapping[str, PlannedRun] = field(default_factory=dict)
    _away_since: float | None = None
    _looked_at_pods: float = float("-inf")
    _said: set[str] = field(default_factory=set)
    _stalled_since: float | None = None

    def follow(self) -> CampaignPhase:
        """Tell what happens until the campaign ends, or is suspended and nothing lives.

        Raises:
            Stands: a person must mend something.
            BadCluster: somebody deleted the campaign.
            Retry: the API server has been away for too long.
        """
        self._planned = {run.id: run for run in plan(self.spec)}
        campaign = self._patiently(self._first)
        began = self.clock.monotonic()
        while True:
            phase = self._over(campaign, began)
            if phase is not None:
                self._patiently(self._relist)
                self.tell(CampaignEnded(phase=phase, tally=self._tally(campaign)))
                return phase
            campaign = self._patiently(partial(self._look, campaign))

    def _first(self) -> CampaignView:
        campaign = self._campaign()
        self._relist(quiet=True)
        self.tell(
            CampaignStarted(
                runs=tuple(self._planned.values()),
                tally=self._tally(campaign),
                parallel=campaign.parallelism,
                isolation=f"pods ({self.spec.node_class.runtime_class_name})"
                if self.spec.node_class.runtime_class_name
                else "pods",
            )
        )
        for run in self._runs.values():
            if not run.last.row:
                self._step(run, resumed=True)
        return campaign

    def _look(self, before: CampaignView) -> CampaignView:
        """One window of the watch, then the campaign, then what pods wait for."""
        try:
            labels = f"{CAMPAIGN_LABEL}={before.uid}"
            events = self.connection.watch(RUNS, self._version, labels=labels, seconds=WINDOW)
            for kind, raw in events:
                self._version = raw["metadata"]["resourceVersion"]
                if kind in ("ADDED", "MODIFIED"):
                    self._saw(run_view(raw))
        except Stale:
            self._relist()
        campaign = self._campaign()
        now = self.clock.monotonic()
        if campaign.tally.live and now - self._looked_at_pods >= PODS_EVERY:
            self._looked_at_pods = now
            self._waits(campaign)
        return campaign

    def _over(self, campaign: CampaignView, began: float) -> CampaignPhase | None:
        """How the campaign ended, None while it goes on."""
        if campaign.observed < campaign.generation:
            if self.clock.monotonic() - began > NOBODY:
                self._once(
                    f"No operator has looked at {campaign.name} yet: agent-bench doctor --cluster "
                    "says whether one runs and watches this namespace."
                )
            return None
        stalled = campaign.stalled
        if stalled is None:
            self._stalled_since = None
        elif campaign.phase == "Stalled":
            since = self._stalled_since or self.clock.monotonic()
            self._stalled_since = since
            if self.clock.monotonic() - since >= STALLED:
                raise Stands(
                    f"campaign {campaign.name} stands: {stalled.reason}: {stalled.message}"
                )
            return None
        else:
            self._once(f"{stalled.reason}: {stalled.message}")
        if campaign.phase == CampaignPhase.SUSPENDED and campaign.suspend:
            return None if campaign.tally.live else CampaignPhase.SUSPENDED
        return _ENDS.get(campaign.phase)

    def _saw(self, run: RunView, *, quiet: bool = False) -> None:
        """Take in a run as it is now, and tell what is new."""
        old = self._runs.get(run.run)
        self._runs[run.run] = run
        planned = self._planned.get(run.run)
        if planned is None:
            return
        known = {each.number for each in old.attempts if each.row} if old else set()
        for attempt in run.attempts:
            if attempt.row and attempt.number not in known and not quiet:
                self.tell(
                    AttemptEnded(
                        run=planned,
                        attempt=attempt.number,
                        outcome=attempt.outcome,
                        cause=attempt.cause or None,
                        reasons=(attempt.reason,) if attempt.reason else (),
                        seconds=attempt.seconds,
                        cost=money(attempt.cost),
                        tally=self._counted(),
                    )
                )
        if not run.last.row and not quiet:
            self._step(run, resumed=False)

    def _step(self, run: RunView, *, resumed: bool) -> None:
        """Tell that an attempt began, and how far it is."""
        planned, attempt = self._planned.get(run.run), run.last
        if planned is None:
            return
        key = (run.run, attempt.number)
        if key not in self._steps:
            self.tell(RunStarted(run=planned, attempt=attempt.number, resumed=resumed))
        elif self._steps[key] != attempt.phase:
            self.tell(
                RunProgress(
                    run=planned,
                    attempt=attempt.number,
                    step="agent" if attempt.phase == "Running" else attempt.phase.lower(),
                    seconds=0,
                )
            )
        self._steps[key] = attempt.phase

    def _waits(self, campaign: CampaignView) -> None:
        for run, attempt, why in waits_of(self.connection, campaign.uid):
            planned = self._planned.get(run)
            if planned is not None and self._waiting.get((run, attempt)) != why:
                self._waiting[run, attempt] = why
                self.tell(RunWaits(run=planned, attempt=attempt, why=why))

    def _relist(self, *, quiet: bool = False) -> None:
        labels = f"{CAMPAIGN_LABEL}={self._campaign().uid}"
        page = self.connection.list(RUNS, labels=labels)
        self._version = page.version
        for raw in page.items:
            self._saw(run_view(raw), quiet=quiet)

    def _campaign(self) -> CampaignView:
        try:
            return campaign_view(self.connection.get(CAMPAIGNS, self.name))
        except Missing:
            raise BadCluster(
                f"campaign {self.name} is gone from namespace {self.connection.namespace}: "
                "somebody deleted it; its rows stay in its store"
            ) from None

    def _tally(self, campaign: CampaignView) -> Tally:
        """What the operator counts, once it has."""
        return campaign.tally if campaign.tally.total else self._counted()

    def _counted(self) -> Tally:
        """What the runs that were seen add up to, by the rules of the operator."""
        recorded: Sequence[Recorded] = [r for run in self._runs.values() for r in run.recorded]
        limits = Limits(parallelism=1, cap=Decimal(self.spec.caps.cost_usd), budget=None)
        runs = tuple(self._planned.values())
        tally = decide(runs, limits, Observed(recorded=recorded, suspend=True)).tally
        live = sum(not run.last.row for run in self._runs.values())
        return replace(tally, live=live)

    def _once(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self.note(text)

    def _patiently(self, ask: Callable[[], T]) -> T:
        """Ask again while the API server is away."""
        while True:
            try:
                found = ask()
            except Retry as error:
                now = self.clock.monotonic()
                self._away_since = self._away_since or now
                if now - self._away_since > PATIENCE:
                    raise
                self._once(f"{error}. The campaign goes on without us; asking again.")
                self.clock.sleep(min(error.after, 5))
            else:
                self._away_since = None
                return found
