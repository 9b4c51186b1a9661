"""A campaign as its store holds it before an analysis: protocol, bundle and rows."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.fakes.local_pack import TinyPack, a_stack
from tests.fakes.rows import a_row, an_adjudication

from agentbench.api.campaign import CampaignSpec
from agentbench.app.publishing import Publisher
from agentbench.core.digest import digest
from agentbench.core.keys import adjudication_key, bundle_key, protocol_key, row_key
from agentbench.core.registered import encode_registered
from agentbench.store.port import Put, Store

NAME = "tiny"
STACKS = ("S1", "S2")
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
AMENDMENT = {
    "seq": 1,
    "date": "2026-11-29",
    "change": "The price list is a day newer.",
    "why": "The old one was withdrawn.",
    "anyRunStarted": True,
    "effects": "",
}


@dataclass
class StoredCampaign:
    """One campaign with two stacks, and rows as they come."""

    store: Store
    spec: CampaignSpec

    @classmethod
    def make(cls, kept: Store, folder: Path, **spec: Any) -> "StoredCampaign":
        """Freeze it into a store; further keywords are fields of its spec."""
        stacks = [
            a_stack(id=name, name=f"Stack {name}").model_dump(
                mode="json", by_alias=True, exclude_defaults=True
            )
            for name in STACKS
        ]
        pack = TinyPack(folder=folder, spec={"stacks": stacks, "repeats": 3, **spec})
        drafted, manifest = pack.freeze(kept)
        kept.create_only(bundle_key(manifest.sha256), manifest.encode())
        document = drafted.model_dump(mode="json", by_alias=True, exclude_unset=True)
        document["protocol"] |= {
            "draft": False,
            "bundle": {"url": "s3://b", "sha256": manifest.sha256},
        }
        frozen = CampaignSpec.model_validate(document)
        document["protocol"]["freeze"] = {
            "digest": digest(frozen),
            "frozenAt": "2026-11-30T12:00:00Z",
        }
        return cls(kept, CampaignSpec.model_validate(document))

    def register(self) -> Put:
        """Store the protocol as the operator does."""
        amendments = len(self.spec.protocol.amendments)
        content = encode_registered(NAME, digest(self.spec), self.spec)
        return self.store.create_only(protocol_key(NAME, amendments), content)

    def amend(self) -> None:
        """Append an amendment, as a person may after the freeze."""
        document = self.spec.model_dump(mode="json", by_alias=True, exclude_unset=True)
        document["protocol"]["amendments"] = [AMENDMENT]
        self.spec = CampaignSpec.model_validate(document)

    def row(self, stack: str = "S1", repeat: int = 1, **changes: Any) -> str:
        """Store one row; gives its run's id."""
        run = f"T1-{stack}-A1-r{repeat}"
        row = a_row(
            "T1",
            stack,
            "A1",
            repeat,
            run=run,
            campaign=NAME,
            protocol="TINY-1",
            digest=digest(self.spec),
            order=repeat,
            **changes,
        )
        self.store.create_only(row_key(NAME, run, 1), json.dumps(row).encode())
        return run

    def rows(self) -> None:
        """Store every row of the campaign; one run fails."""
        for stack in STACKS:
            for repeat in (1, 2, 3):
                self.row(stack, repeat, passed=(stack, repeat) != ("S2", 3))

    def adjudicate(self, run: str, cause: str | None = "task", seq: int = 1) -> None:
        """Store a person's word on a run."""
        entry = an_adjudication(run, cause, campaign=NAME, seq=seq)
        self.store.create_only(adjudication_key(NAME, run, seq), json.dumps(entry).encode())

    def publisher(
        self,
        store: Store | None = None,
        version: str = "1",
        clock: Callable[[], datetime] = lambda: NOW,
    ) -> Publisher:
        """What publishes it, through another store if one is given."""
        return Publisher(store or self.store, NAME, version, clock)

    def files(self, number: int) -> set[str]:
        """The names of everything below a number."""
        prefix = f"{NAME}/published/{number}/"
        return {key.removeprefix(prefix) for key in self.store.list(prefix)}
