"""What is seen of a campaign from outside, while a benchmark runs."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.cluster.lab.api import Api
from tests.cluster.lab.slot import Slot
from tests.cluster.operator.campaign import Campaign
from tests.cluster.operator.process import OperatorProcess

EXECUTIONS = 2  # of a graded run: one check, and security
PREFIX = "agentbench.dev/"


class Pace:
    """Watches run and grader pods by itself: how many live, and how fast a free slot is used."""

    def __init__(self, slot: Slot, namespace: str, parallelism: int) -> None:
        self.most_live = 0
        self._api, self._path = Api(slot), f"/api/v1/namespaces/{namespace}/pods"
        self._parallelism = parallelism
        self._created: list[float] = []
        self._ended: dict[str, float] = {}
        self._graders: dict[str, set[str]] = {}
        self._live: set[str] = set()
        self._known: set[str] = set()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    @property
    def created(self) -> int:
        """How many run pods were created so far."""
        return len(self._created)

    def __enter__(self) -> Pace:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._stop.set()

    def turnaround(self) -> dict[str, float]:
        """Seconds from an attempt's last pod's end to the creation of the pod that follows it."""
        ends = sorted(self._ended.values())
        waits = sorted(
            begun - end
            for end, begun in zip(ends, self._created[self._parallelism :], strict=False)
        )
        if not waits:
            return {}
        places = {"median": 0.5, "p90": 0.9, "p99": 0.99, "most": 1.0}
        return {
            name: round(waits[min(len(waits) - 1, int(len(waits) * share))], 2)
            for name, share in places.items()
        }

    def _watch(self) -> None:
        version = self._api.get(f"{self._path}?limit=1")["metadata"]["resourceVersion"]
        while not self._stop.is_set():
            try:
                for event in self._api.watch(self._path, version, self._stop, seconds=240):
                    version = event["object"]["metadata"]["resourceVersion"]
                    self._note(event["type"], event["object"])
            except OSError:
                time.sleep(0.1)

    def _note(self, kind: str, pod: dict[str, Any]) -> None:
        meta, now = pod["metadata"], time.monotonic()
        notes = meta.get("annotations", {})
        run = f"{notes.get(PREFIX + 'run')}/{notes.get(PREFIX + 'attempt')}"
        over = kind == "DELETED" or pod["status"].get("phase") in ("Succeeded", "Failed")
        role = meta["labels"].get(PREFIX + "role")
        if role == "grader":
            self._graders.setdefault(run, set())
            if over:
                self._graders[run].add(meta["uid"])
                if len(self._graders[run]) == EXECUTIONS:
                    self._ended.setdefault(run, now)
            return
        if role != "run":  # an analysis
            return
        if meta["uid"] not in self._known:
            self._known.add(meta["uid"])
            self._created.append(now)
        if over:
            self._live.discard(meta["uid"])
            if pod["status"].get("reason") == "Evicted":
                self._ended.setdefault(run, now)
        else:
            self._live.add(meta["uid"])
        self.most_live = max(self.most_live, len(self._live))


class Gauge:
    """Reads an operator's memory, processor time and metrics, and its campaign's object."""

    def __init__(self, operator: OperatorProcess, campaign: Campaign) -> None:
        self.done = 0
        self._operator, self._campaign = operator, campaign
        self._memory: list[float] = []
        self._seconds = 0.0
        self._series = 0
        self._scrape = 0.0
        self._size = 0
        self._next = 0.0

    def read(self) -> None:
        """Take one reading of memory, and now and then of the rest."""
        self._memory.append(rss(self._operator.pid))
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + 10
        body = self._campaign.get()
        self.done = body.get("status", {}).get("counts", {}).get("done", 0)
        self._size = max(self._size, len(json.dumps(body)))
        self._seconds = _processor_seconds(self._operator.pid)
        began = time.monotonic()
        text = self._operator.metrics()
        self._scrape = max(self._scrape, time.monotonic() - began)
        self._series = sum(1 for line in text.splitlines() if line and not line.startswith("#"))

    def found(self) -> dict[str, Any]:
        """All that was read."""
        self._next = 0.0
        self.read()
        half = self._memory[len(self._memory) // 2]
        return {
            "operatorRssMiB": {
                "halfway": round(half, 1),
                "end": round(self._memory[-1], 1),
                "most": round(max(self._memory), 1),
            },
            "operatorProcessorSeconds": round(self._seconds, 1),
            "campaignObjectKiB": round(self._size / 1024, 1),
            "metricsSeries": self._series,
            "metricsSeconds": round(self._scrape, 3),
        }


def rss(pid: int | str = "self") -> float:
    """Resident memory of a process in MiB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def _processor_seconds(pid: int) -> float:
    """User and system time in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100
