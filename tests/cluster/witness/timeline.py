"""What the witness saw, in order: frozen records, from which alone it is judged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

CAMPAIGN, ROLE = "agentbench.dev/campaign", "agentbench.dev/role"
RUN, ATTEMPT = "agentbench.dev/run", "agentbench.dev/attempt"
FINAL = ("Succeeded", "Failed")


@dataclass(frozen=True, order=True)
class Attempt:
    """One attempt of one run of one campaign (named by its uid)."""

    campaign: str
    run: str
    number: int

    def __str__(self) -> str:
        return f"{self.run} attempt {self.number}"


@dataclass(frozen=True)
class PodSeen:
    """A pod at one moment, as the API server told it.

    Attributes:
        at: seconds on the witness's clock.
        gone: whether the object was deleted.
        body: the whole object.
    """

    at: float
    gone: bool
    body: Mapping[str, Any]

    @property
    def uid(self) -> str:
        """What tells two pods of one name apart."""
        return str(self.body["metadata"]["uid"])

    @property
    def name(self) -> str:
        """The pod's name."""
        return str(self.body["metadata"]["name"])

    @property
    def labels(self) -> Mapping[str, str]:
        """The pod's labels."""
        return self.body["metadata"].get("labels") or {}

    @property
    def role(self) -> str:
        """`run`, `grader`, or another."""
        return self.labels.get(ROLE, "")

    @property
    def campaign(self) -> str:
        """The uid of the campaign it belongs to; empty if it belongs to none."""
        return self.labels.get(CAMPAIGN, "")

    @property
    def attempt(self) -> Attempt | None:
        """The attempt it belongs to."""
        notes = self.body["metadata"].get("annotations") or {}
        if not self.campaign or RUN not in notes:
            return None
        number = str(notes.get(ATTEMPT, ""))
        return Attempt(self.campaign, notes[RUN], int(number) if number.isdigit() else 0)

    @property
    def phase(self) -> str:
        """The pod's phase."""
        return str((self.body.get("status") or {}).get("phase", "Pending"))

    @property
    def node(self) -> str:
        """The node it is on; empty before it is scheduled."""
        return str((self.body.get("spec") or {}).get("nodeName") or "")

    @property
    def live(self) -> bool:
        """Whether it may be running: there, and not at its end."""
        return not self.gone and self.phase not in FINAL


@dataclass(frozen=True)
class NodeSeen:
    """Whether a node was Ready at one moment."""

    at: float
    name: str
    ready: bool


@dataclass(frozen=True)
class CampaignSeen:
    """A campaign's spec at one moment."""

    at: float
    uid: str
    name: str
    spec: Mapping[str, Any]

    @property
    def parallelism(self) -> int:
        """The most live runs it allows."""
        return int(self.spec.get("parallelism", 1))

    @property
    def frozen(self) -> bool:
        """Whether it has a freeze."""
        return bool((self.spec.get("protocol") or {}).get("freeze"))


@dataclass(frozen=True)
class RunSeen:
    """A BenchmarkRun at one moment."""

    at: float
    body: Mapping[str, Any]

    def reasons(self) -> dict[Attempt, str]:
        """The attempts that ended without a row, with the reason that is recorded for it."""
        spec, found = self.body.get("spec") or {}, {}
        for status in (self.body.get("status") or {}).get("attempts") or ():
            if status.get("reason") and not status.get("rowKey"):
                attempt = Attempt(spec["campaignUid"], spec["run"], int(status["number"]))
                found[attempt] = str(status["reason"])
        return found


@dataclass(frozen=True)
class RowSeen:
    """A row object in the store at one moment; `content` is None once it is missing."""

    at: float
    key: str
    content: bytes | None

    @property
    def row(self) -> Mapping[str, Any]:
        """The row, or an empty mapping if it is none."""
        try:
            found = json.loads(self.content or b"{}")
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}

    @property
    def folder(self) -> str:
        """The campaign's folder in the store."""
        return self.key.split("/rows/")[0].rpartition("/")[2]

    @property
    def run(self) -> str:
        """The run id in the key."""
        return self.key.split("/")[-2]

    @property
    def number(self) -> int:
        """The attempt in the key."""
        stem = self.key.rpartition("/")[2].removesuffix(".json")
        return int(stem) if stem.isdigit() else 0


Seen = PodSeen | NodeSeen | CampaignSeen | RunSeen | RowSeen


@dataclass(frozen=True)
class Timeline:
    """Everything that was seen, oldest first.

    Attributes:
        seen: the records.
        gaps: moments at which the witness may have missed something, with the reason.
        policies: the NetworkPolicies at the end.
        metrics: the text of the last scrape of the operator's metrics, if there was one.
    """

    seen: tuple[Seen, ...]
    gaps: tuple[tuple[float, str], ...] = ()
    policies: tuple[Mapping[str, Any], ...] = ()
    metrics: str = ""

    def pods(self, role: str) -> list[PodSeen]:
        """All sightings of pods of a role."""
        return [one for one in self.seen if isinstance(one, PodSeen) and one.role == role]

    def campaigns(self) -> dict[str, list[CampaignSeen]]:
        """The specs of each campaign, by uid."""
        found: dict[str, list[CampaignSeen]] = {}
        for one in self.seen:
            if isinstance(one, CampaignSeen):
                found.setdefault(one.uid, []).append(one)
        return found

    def rows(self) -> dict[str, list[RowSeen]]:
        """The sightings of each row, by key."""
        found: dict[str, list[RowSeen]] = {}
        for one in self.seen:
            if isinstance(one, RowSeen):
                found.setdefault(one.key, []).append(one)
        return found

    def last_rows(self, campaign: CampaignSeen) -> dict[tuple[str, int], RowSeen]:
        """The rows of a campaign as they were seen last, by run and attempt."""
        last = (sightings[-1] for sightings in self.rows().values())
        return {(row.run, row.number): row for row in last if row.folder == campaign.name}
