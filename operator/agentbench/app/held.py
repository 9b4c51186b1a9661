"""What the operator keeps of a campaign between ticks; one attempt's trouble kept apart."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from agentbench.app.campaign import Campaign
from agentbench.app.cleanup import Leavings
from agentbench.app.gather import own
from agentbench.app.ledger import Key, Ledger
from agentbench.app.perform import Hands
from agentbench.app.trouble import Trouble, trouble_of
from agentbench.app.world import CampaignPods
from agentbench.core.plan import PlannedRun
from agentbench.core.publication import Latest
from agentbench.core.seen import Left
from agentbench.core.stages import Stage
from agentbench.kube.errors import Retry
from agentbench.kube.names import RUN_ROLE, pod_name
from agentbench.kube.view import JobView, NodeView, PodView
from agentbench.store.port import StoreError

__all__ = ["Held", "Key", "Troubles"]

AT_ONCE = 16
"""Attempts of a campaign that are acted on at the same time."""


@dataclass(slots=True)
class Denial:
    """A quota has no room: since when, how often it was asked, and when to ask again."""

    since: datetime
    again: datetime
    times: int = 0

    def refused(self, now: datetime) -> None:
        """It was asked and has no room: ask again later, at most half a minute."""
        self.again = now + timedelta(seconds=min(30, 2**self.times))
        self.times += 1


@dataclass(slots=True)
class Analysed:
    """What is known of a campaign's analysis; all of it can be learnt again."""

    latest: Latest | None = None
    looked: datetime | None = None  # when `latest` was read last
    finished: frozenset[str] = frozenset()  # uids of analysis pods that had ended by then
    failure: str = ""  # what the newest analysis could not do
    registered: int = -1  # amendments in the protocol that the store holds
    judged: set[tuple[str, int]] = field(default_factory=set)  # adjudications that it holds
    refused: dict[tuple[str, int], str] = field(default_factory=dict)  # and those it must not
    made: str = ""  # digest of the CronJob as it was made last
    asked: set[int] = field(default_factory=set)  # rows after which an analysis was started


@dataclass(slots=True)
class Held:
    """What is kept of a campaign between ticks; all of it can be learnt again.

    `failed` are the runs whose last step went wrong: they are taken up again by themselves.
    `looked` is when all live attempts were looked at last (monotonic seconds); `everything`
    whether this tick is such a look.
    """

    campaign: Campaign
    hands: Hands
    ledger: Ledger
    pods: CampaignPods
    planned: Mapping[str, PlannedRun]
    leavings: Leavings = field(default_factory=Leavings)
    failed: set[str] = field(default_factory=set)
    looked: float = 0.0
    everything: bool = True
    left: dict[Key, Left] = field(default_factory=dict)
    """What the store was found to hold since the pod was seen for the last time."""
    denied: dict[Key, Denial] = field(default_factory=dict)
    made: set[Key] = field(default_factory=set)
    """Attempts whose pod is known to have been created."""
    last: dict[Key, tuple[PodView, NodeView | None]] = field(default_factory=dict)
    """Run pods of live attempts as they were seen last, for the rows of those that vanish."""
    hanging: dict[Key, datetime] = field(default_factory=dict)
    """Since when a pod goes on without its agent."""
    jobs: dict[Key, JobView] = field(default_factory=dict)
    troubles: dict[str, Trouble] = field(default_factory=dict)  # by run; they need a person
    waits: dict[str, str] = field(default_factory=dict)  # by run; they pass by themselves
    equipped: set[Key] = field(default_factory=set)
    """Attempts whose pod is marked in the store and has all that it mounts."""
    remade: set[Key] = field(default_factory=set)
    analysis: Analysed = field(default_factory=Analysed)
    stages: dict[str, Stage] = field(default_factory=dict)  # of live attempts, for the metrics
    no_node: str = ""  # why no pod can be scheduled at all: no node is of the frozen class
    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))

    def name(self, key: Key) -> str:
        """The name of an attempt's run pod."""
        return pod_name(self.campaign.uid, *key)

    def forget(self, run: str, attempt: int) -> None:
        """Drop what was kept of an attempt that has its row."""
        key = (run, attempt)
        for each in (self.left, self.denied, self.last, self.hanging, self.jobs):
            each.pop(key, None)
        for known in (self.made, self.equipped, self.remade):
            known.discard(key)
        self.waits.pop(run, None)
        self.stages.pop(run, None)

    def own(self, key: Key) -> list[PodView]:
        """The pods of an attempt that are ours."""
        entry = self.ledger.runs.get(key[0])
        return own(self.campaign, entry, self.pods.of(key)) if entry else []

    def lingering(self) -> list[tuple[Key, PodView]]:
        """Run pods of ours that may be running, and whose attempt is not under way."""
        live = {(entry.run, attempt.number) for entry, attempt in self.ledger.live()}
        return [
            (key, pod)
            for key in self.pods.running - live
            for pod in self.own(key)
            if pod.role == RUN_ROLE and not pod.final
        ]

    def spoken(self, run: str, now: datetime) -> "Troubles":
        """Keep what goes wrong with one run from the others, and say it in a condition."""
        return Troubles(self, run, now)

    def rests(self, run: str, now: datetime) -> bool:
        """Whether a run waits for a person, and was looked at a moment ago."""
        trouble = self.troubles.get(run)
        return trouble is not None and now < trouble.again


@dataclass(slots=True)
class Troubles:
    """Keeps one attempt's trouble from the others, and says it in a condition."""

    held: Held
    run: str
    now: datetime

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if error is None:
            self.held.failed.discard(self.run)
            self.held.troubles.pop(self.run, None)
            return False
        self.held.failed.add(self.run)
        found = trouble_of(self.run, error, self.now)
        if found is not None:
            self.held.troubles[self.run] = found
            return True
        if isinstance(error, Retry):
            self.held.waits[self.run] = str(error)
            return True
        if isinstance(error, StoreError):  # of the store, not of the run: its line says so
            self.held.waits[self.run] = "its turn comes when the store answers"
            return True
        return False
