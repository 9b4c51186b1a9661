"""What is told as Kubernetes Events: transitions, never ticks; a run is never hurt by one.

Events are for people who look now. They are not kept (an hour, usually), and nothing is decided
by them. A campaign of many runs would drown them and the API server, so each campaign has an
allowance, and one for warnings beside it.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from agentbench.app.campaign import Campaign
from agentbench.app.ledger import RunFacts
from agentbench.kube.cluster import Cluster
from agentbench.kube.errors import ClusterError
from agentbench.kube.events import About, event
from agentbench.kube.manifests.parts import Manifest

BURST = 30
"""Events that a campaign may tell at once, of each kind: normal and warning."""

REFILL = 1 / 20
"""Events a second that it may tell in the long run, of each kind."""

PATIENCE = 5.0  # seconds that a tick gives to telling


@dataclass(slots=True)
class Allowance:
    """A bucket of events that fills again slowly."""

    left: float = BURST
    at: datetime | None = None

    def take(self, now: datetime) -> bool:
        """Whether one more may be told now."""
        if self.at is not None:
            waited = max(0.0, (now - self.at).total_seconds())
            self.left = min(float(BURST), self.left + waited * REFILL)
        self.at = now
        if self.left < 1:
            return False
        self.left -= 1
        return True


@dataclass(slots=True)
class Teller:
    """Collects events during a tick, and tells them at its end."""

    cluster: Cluster
    clock: Callable[[], datetime]
    _allowances: dict[tuple[str, bool], Allowance] = field(default_factory=dict)
    _waiting: dict[str, list[Manifest]] = field(default_factory=dict)

    def of_run(
        self,
        campaign: Campaign,
        entry: RunFacts,
        reason: str,
        message: str,
        *,
        warning: bool = False,
    ) -> None:
        """Tell something of a run."""
        about = About(
            kind="BenchmarkRun", namespace=campaign.namespace, name=entry.name, uid=entry.uid
        )
        self._add(campaign.uid, about, reason, message, warning=warning)

    def of_campaign(self, body: Mapping[str, Any], notes: Sequence["Note"]) -> None:
        """Tell something of a campaign."""
        meta = body["metadata"]
        about = About(
            kind="BenchmarkCampaign",
            namespace=meta["namespace"],
            name=meta["name"],
            uid=meta["uid"],
        )
        for note in notes:
            self._add(
                meta["uid"],
                about,
                note.reason,
                note.message,
                warning=note.warning,
                since=note.since,
            )

    async def flush(self, uid: str) -> None:
        """Write what was told of one campaign; what cannot be written is dropped."""
        waiting = self._waiting.pop(uid, [])
        if not waiting:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await asyncio.gather(*(self._write(manifest) for manifest in waiting))

    def forget(self, uid: str) -> None:
        """A campaign is gone."""
        self._waiting.pop(uid, None)
        for warning in (True, False):
            self._allowances.pop((uid, warning), None)

    def _add(
        self,
        uid: str,
        about: About,
        reason: str,
        message: str,
        *,
        warning: bool,
        since: str = "",
    ) -> None:
        now = self.clock()
        allowance = self._allowances.setdefault((uid, warning), Allowance())
        if allowance.take(now):
            told = event(about, reason, message, warning=warning, at=now, since=since)
            self._waiting.setdefault(uid, []).append(told)

    async def _write(self, manifest: Manifest) -> None:
        with suppress(ClusterError):  # told before, or forbidden, or no answer: never a run's harm
            await self.cluster.create(manifest)


@dataclass(frozen=True, slots=True)
class Note:
    """One thing to tell of a campaign."""

    reason: str
    message: str
    warning: bool = False
    since: str = ""


def transitions(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[Note, ...]:
    """What changed between two statuses of a campaign that people want to be told."""
    found = []
    counts = new.get("counts") or {}
    if new.get("phase") != old.get("phase") and new.get("phase") != "Stalled":
        done, total = counts.get("done", 0), counts.get("total", 0)
        said = f"{new.get('phase')}: {done} of {total} runs are recorded"
        generation = new.get("observedGeneration", 0)
        found.append(Note(str(new.get("phase")), f"{said} (generation {generation})"))
    before, after = _stalled(old), _stalled(new)
    if after[:3] != before[:3] and after[0] == "True":
        found.append(Note(after[1], after[2], warning=True, since=after[3]))
    if after[0] != before[0] and before[0] == "True":
        found.append(Note("Resumed", f"no longer stalled: {before[1]}", since=before[3]))
    return tuple(found)


def _stalled(status: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """Its condition: status, reason, message, and since when."""
    for condition in status.get("conditions") or ():
        if condition["type"] == "Stalled":
            if condition["status"] != "True":
                break
            message = condition.get("message", "")
            return ("True", condition["reason"], message, condition["lastTransitionTime"])
    return ("False", "", "", "")
