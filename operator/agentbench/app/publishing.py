"""One publication of a campaign: read, analyse, write everything, and only then point at it.

Whoever is killed on the way leaves a folder that nothing points at. The next one, if it reads the
same, writes the same bytes into it and goes on; if it reads more, it takes the next number. Two at
once do no harm: the pointer moves by compare-and-swap, to ever higher numbers, and who loses the
swap looks again.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import TypeVar

import orjson

from agentbench.app.pack import Pack, load_pack
from agentbench.core.bundle import PROTOCOL_LAYER
from agentbench.core.digest import sha256_of
from agentbench.core.keys import (
    adjudications_prefix,
    latest_key,
    protocol_prefix,
    published_key,
    rows_prefix,
)
from agentbench.core.publication import (
    Latest,
    claim_of,
    decode_latest,
    inputs_of,
    latest_of,
)
from agentbench.core.registered import Registered, RegisteredError, decode_registered
from agentbench.store.port import Changed, Conflict, Store, Unreachable
from agentbench.store.stream import chunks
from agentbench_analysis.errors import NoRowsError
from agentbench_analysis.facade import analyse, files, spec_from_campaign
from agentbench_analysis.results.files import RESULTS_FILE
from agentbench_analysis.results.model import Results
from agentbench_analysis.site.build import SiteOptions, build_site
from agentbench_analysis.site.content import ProtocolPage
from agentbench_analysis.site.protocol import protocol_page
from agentbench_analysis.spec import AnalysisSpec

CLAIM_FILE = "publication.json"
AT_ONCE = 8
"""Requests to the store at the same time."""
TRIES = 5
"""How often a publication begins anew because another one was quicker."""
NUMBERS = 1000
"""How many numbers beyond the newest may have been left by publishers that were killed."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Published:
    """What became of it: the newest result, and whether this publisher pointed at it."""

    latest: Latest
    new: bool


@dataclass(frozen=True, slots=True)
class _Inputs:
    """Everything that an analysis reads, by key."""

    protocol: bytes
    registered: Registered
    rows: Sequence[str]
    adjudications: Sequence[str]
    digest: str


class Publisher:
    """Publishes one campaign's results in its store."""

    def __init__(
        self, store: Store, campaign: str, version: str, clock: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._campaign = campaign
        self._version = version
        self._clock = clock

    def publish(self) -> Published:
        """Publish what the store holds, unless the newest result says it already.

        Raises:
            NoRowsError: there is no row yet.
            AnalysisError: a row or adjudication cannot be used; nothing was changed.
            RegisteredError, PublicationError, BundleError: a document of the harness is missing
                or damaged.
            StoreError: the store does not answer, or refuses.
        """
        key = latest_key(self._campaign)
        for _ in range(TRIES):
            entry = self._store.read(key)
            before = decode_latest(entry.content, key) if entry else None
            inputs = self._inputs()
            if before is not None and before.inputs == inputs.digest:
                return Published(before, new=False)
            latest = self._write(inputs, before)
            try:
                self._store.compare_and_swap(key, latest.encode(), entry.etag if entry else None)
            except Changed:
                continue  # another publisher was quicker: look at what it has published
            return Published(latest, new=before is None or latest.number != before.number)
        raise Unreachable(
            f"{key} was changed by others {TRIES} times in a row; the next analysis tries again"
        )

    def _inputs(self) -> _Inputs:
        """What there is to analyse now."""
        prefix = protocol_prefix(self._campaign)
        numbers = [
            int(name)
            for found in self._store.list(prefix)
            if (name := found.removeprefix(prefix).removesuffix(".json")).isdecimal()
        ]
        if not numbers:
            raise RegisteredError(
                f"{prefix} is empty: the operator has not registered this campaign's protocol; "
                "look at the campaign's conditions"
            )
        key = f"{prefix}{max(numbers)}.json"
        protocol = self._store.get(key)
        rows = tuple(self._store.list(rows_prefix(self._campaign)))
        adjudications = tuple(self._store.list(adjudications_prefix(self._campaign)))
        return _Inputs(
            protocol,
            decode_registered(protocol, key),
            rows,
            adjudications,
            inputs_of(self._version, protocol, (*rows, *adjudications)),
        )

    def _write(self, inputs: _Inputs, before: Latest | None) -> Latest:
        """Write a whole publication; give the pointer to it."""
        if not inputs.rows:
            raise NoRowsError(
                "no rows yet", file=self._campaign, cure="A row is written when a run has ended."
            )
        document = inputs.registered.spec.model_dump(mode="json", by_alias=True, exclude_none=True)
        spec = spec_from_campaign(document, campaign=self._campaign, file=self._campaign)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            rows = self._documents(pool, inputs.rows)
            words = self._documents(pool, inputs.adjudications)
            results = analyse(spec, rows, words, read=orjson.loads)
            beside = files(results)
            sha256 = sha256_of(beside[RESULTS_FILE])
            if before is not None and before.results == sha256:
                number = before.number  # nothing that was added changes a number
            else:
                number = self._claim(before, inputs.digest, sha256)
                pack = load_pack(inputs.registered.spec, self._store)
                page = _page(document, spec, inputs.registered, pack)
                self._store_all(pool, number, beside.items())
                self._store_all(pool, number, self._site(page, results))
        return latest_of(
            results,
            number=number,
            inputs=inputs.digest,
            results_sha256=sha256,
            at=self._clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            rows=len(inputs.rows),
            adjudications=len(inputs.adjudications),
        )

    def _claim(self, before: Latest | None, inputs: str, results: str) -> int:
        """Take the next number; one that a killed publisher took for the same is taken over."""
        content = claim_of(self._version, inputs, results)
        first = before.number + 1 if before else 1
        for number in range(first, first + NUMBERS):
            try:
                self._store.create_only(published_key(self._campaign, number, CLAIM_FILE), content)
            except Conflict:
                continue
            return number
        raise Conflict(
            f"{NUMBERS} numbers from {published_key(self._campaign, first, '')} on are taken, and "
            "nothing points at them: remove the folders above the number in latest.json"
        )

    def _site(self, page: ProtocolPage, results: Results) -> Iterator[tuple[str, bytes]]:
        options = SiteOptions(artifact_root="../../..", table_root="tables/")
        return build_site(page, results, lambda key: chunks(self._store, key), options)

    def _documents(
        self, pool: ThreadPoolExecutor, keys: Sequence[str]
    ) -> Iterator[tuple[str, bytes]]:
        """Key and content, in the order of the keys, some of them read ahead."""
        for batch in _batches(keys):
            yield from zip(batch, pool.map(self._store.get, batch), strict=True)

    def _store_all(
        self, pool: ThreadPoolExecutor, number: int, found: Iterable[tuple[str, bytes]]
    ) -> None:
        """Store files of a publication, the same again being success."""

        def put(one: tuple[str, bytes]) -> None:
            self._store.create_only(published_key(self._campaign, number, one[0]), one[1])

        for batch in _batches(found):
            for _ in pool.map(put, batch):
                pass


def _page(
    document: dict[str, object], spec: AnalysisSpec, registered: Registered, pack: Pack
) -> ProtocolPage:
    """The protocol page, with the texts that the bundle holds."""

    def read(path: str | None) -> str:
        return pack.files.get((PROTOCOL_LAYER, path or ""), b"").decode("utf-8", "replace")

    return protocol_page(
        document,
        spec,
        text=read(registered.spec.protocol.text),
        prompts={task.id: read(task.prompt.path) for task in registered.spec.tasks},
    )


def _batches(items: Iterable[T], size: int = 4 * AT_ONCE) -> Iterator[list[T]]:
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
