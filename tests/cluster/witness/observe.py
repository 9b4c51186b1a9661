"""The witness: it watches the API server and the store by itself, beside the operator."""

from __future__ import annotations

import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError
from tests.cluster.lab.api import Api, ApiError, Object
from tests.cluster.lab.slot import Slot
from tests.cluster.witness.judge import Violation, judge
from tests.cluster.witness.timeline import (
    CampaignSeen,
    NodeSeen,
    PodSeen,
    RowSeen,
    RunSeen,
    Seen,
    Timeline,
)

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_GROUP = "/apis/agentbench.dev/v1alpha1"
_POLICIES = "/apis/networking.k8s.io/v1/networkpolicies"


class Witness:
    """Collects a timeline while it runs, and judges it when asked.

    Args:
        slot: the cluster; the witness reaches its API server directly, past any fault proxy.
        namespace: where the campaign's objects are.
        store: a client of the S3 store itself, past any fault proxy; None to watch no rows.
        bucket: the bucket.
        prefix: the campaign's store prefix in it.
        metrics_url: where the operator's metrics are; None to judge none.
    """

    def __init__(
        self,
        slot: Slot,
        namespace: str,
        store: S3Client | None = None,
        bucket: str = "",
        prefix: str = "",
        metrics_url: str | None = None,
    ) -> None:
        self._slot, self._namespace = slot, namespace
        self._store, self._bucket, self._prefix = store, bucket, prefix
        self._metrics_url = metrics_url
        self._began = time.monotonic()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._seen: list[Seen] = []
        self._gaps: list[tuple[float, str]] = []
        self._rows: dict[str, str] = {}
        self._polls = 0
        self._known: dict[str, set[str]] = {}
        self._latest: dict[str, dict[str, int]] = {}
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Begin to watch; returns when the first lists have been read."""
        namespaced = f"namespaces/{self._namespace}"
        watched: list[tuple[str, Callable[[Object, bool], Seen | None]]] = [
            (f"/api/v1/{namespaced}/pods", self._pod),
            ("/api/v1/nodes", self._node),
            (f"{_GROUP}/{namespaced}/benchmarkcampaigns", self._campaign),
            (f"{_GROUP}/{namespaced}/benchmarkruns", self._run),
        ]
        ready = []
        for path, record in watched:
            listed = threading.Event()
            ready.append(listed)
            self._spawn(partial(self._watch, path, record, listed))
        if self._store is not None:
            polled = threading.Event()
            ready.append(polled)
            self._spawn(partial(self._poll_rows, polled))
        for event in ready:
            if not event.wait(30):
                raise TimeoutError("the witness could not read its first lists within 30 s")

    def stop(self) -> None:
        """Stop watching, once everything that is there by now was seen."""
        self._catch_up()
        self._stop.set()

    def timeline(self) -> Timeline:
        """Everything seen so far."""
        policies = Api(self._slot).get(_POLICIES)["items"]
        metrics = ""
        if self._metrics_url is not None:
            with urllib.request.urlopen(self._metrics_url, timeout=10) as answer:
                metrics = answer.read().decode()
        with self._lock:
            return Timeline(tuple(self._seen), tuple(self._gaps), tuple(policies), metrics)

    def violations(self) -> list[Violation]:
        """What was broken so far: of everything that is there by now."""
        self._catch_up()
        return judge(self.timeline())

    def _catch_up(self, seconds: float = 20) -> None:
        """Wait until the witness saw what the API server and the store hold at this moment.

        Watches and polls lag by a moment: whoever waits for the end of a campaign would else have
        it judged without its last row. Not to catch up is a gap in the witness's sight.
        """
        if self._stop.is_set():
            return
        polls, deadline = self._polls, time.monotonic() + seconds
        behind = {path: self._ahead(path) for path in list(self._known)}
        while time.monotonic() < deadline:
            behind = {path: seen for path, seen in behind.items() if not seen()}
            # The poll that ran when this began may have listed before it: the next one did not.
            if not behind and (self._store is None or self._polls >= polls + 2):
                return
            time.sleep(0.02)
        late = ", ".join(sorted(behind) or ["the store"])
        self._gaps.append((self._now(), f"{late}: behind for {seconds:.0f} s"))

    def _ahead(self, path: str) -> Callable[[], bool]:
        """Ask the API server what is there now; the answer says whether the watch has seen it."""
        before = set(self._known[path])
        try:
            items = [item["metadata"] for item in Api(self._slot).get(path)["items"]]
        except ApiError as error:
            if error.code != 404:
                raise
            items = []
        there = {item["uid"]: int(item["resourceVersion"]) for item in items}
        gone = before - set(there)

        def seen() -> bool:
            latest = self._latest[path]
            return not gone & set(self._known[path]) and all(
                latest.get(uid, 0) >= version for uid, version in there.items()
            )

        return seen

    def _spawn(self, work: Callable[[], None]) -> None:
        thread = threading.Thread(target=work, name="witness", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _note(self, one: Seen | None) -> None:
        if one is not None:
            with self._lock:
                self._seen.append(one)

    def _now(self) -> float:
        return time.monotonic() - self._began

    def _watch(
        self, path: str, record: Callable[[Object, bool], Seen | None], listed: threading.Event
    ) -> None:
        api = Api(self._slot)
        self._latest[path], self._known[path] = {}, set()
        version = ""
        while not self._stop.is_set():
            try:
                if not version:
                    version = self._list(api, path, record)
                    listed.set()
                for event in api.watch(path, version, self._stop, seconds=20):
                    version = self._take(path, event, record)
            except ApiError as error:
                if error.code == 404:
                    # The kind is not installed: there is nothing to see, until there is.
                    listed.set()
                    self._stop.wait(0.5)
                elif error.code == 410:
                    version = ""
                else:
                    self._gaps.append((self._now(), f"{path}: {error}"))
                    self._stop.wait(0.5)
            except OSError:
                # A watch is taken up where it broke off: nothing is lost by a broken connection.
                self._stop.wait(0.2)

    def _list(
        self,
        api: Api,
        path: str,
        record: Callable[[Object, bool], Seen | None],
    ) -> str:
        found = api.get(path)
        here = {item["metadata"]["uid"] for item in found["items"]}
        missed = self._known[path] - here
        if missed:
            why = f"{len(missed)} objects went away unseen"
            self._gaps.append((self._now(), f"{path}: {why}"))
            self._known[path] -= missed
        for item in found["items"]:
            self._note(record(item, False))
            self._mark(path, item, gone=False)
        return str(found["metadata"]["resourceVersion"])

    def _take(self, path: str, event: Object, record: Callable[[Object, bool], Seen | None]) -> str:
        item, gone = event["object"], event["type"] == "DELETED"
        self._note(record(item, gone))
        self._mark(path, item, gone=gone)
        return str(item["metadata"]["resourceVersion"])

    def _mark(self, path: str, item: Object, *, gone: bool) -> None:
        uid = item["metadata"]["uid"]
        self._latest[path][uid] = int(item["metadata"]["resourceVersion"])
        (self._known[path].discard if gone else self._known[path].add)(uid)

    def _pod(self, body: Object, gone: bool) -> Seen:
        return PodSeen(self._now(), gone, body)

    def _node(self, body: Object, gone: bool) -> Seen:
        conditions = (body.get("status") or {}).get("conditions") or ()
        ready = any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
        return NodeSeen(self._now(), body["metadata"]["name"], ready and not gone)

    def _campaign(self, body: Object, gone: bool) -> Seen | None:
        meta = body["metadata"]
        if gone:
            return None
        return CampaignSeen(self._now(), meta["uid"], meta["name"], body.get("spec") or {})

    def _run(self, body: Object, gone: bool) -> Seen | None:
        return None if gone else RunSeen(self._now(), body)

    def _poll_rows(self, polled: threading.Event) -> None:
        while not self._stop.is_set():
            try:
                self._read_rows()
                self._polls += 1
                polled.set()
            except (BotoCoreError, ClientError, OSError) as error:
                self._gaps.append((self._now(), f"the store: {error}"))
            self._stop.wait(0.2)

    def _read_rows(self) -> None:
        assert self._store is not None
        here: dict[str, str] = {}
        pages = self._store.get_paginator("list_objects_v2")
        for page in pages.paginate(Bucket=self._bucket, Prefix=self._prefix):
            for entry in page.get("Contents", []):
                if "/rows/" in entry["Key"]:
                    here[entry["Key"]] = f"{entry['ETag']} {entry['LastModified']}"
        for key, mark in here.items():
            if self._rows.get(key) != mark:
                body: Any = self._store.get_object(Bucket=self._bucket, Key=key)["Body"]
                self._note(RowSeen(self._now(), key, body.read()))
        for key in set(self._rows) - set(here):
            self._note(RowSeen(self._now(), key, None))
        self._rows = here


@contextmanager
def witness(slot: Slot, namespace: str, **rest: Any) -> Iterator[Witness]:
    """Watch while the block lasts."""
    one = Witness(slot, namespace, **rest)
    one.start()
    try:
        yield one
    finally:
        one.stop()
