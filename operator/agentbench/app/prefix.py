"""Who a campaign's part of a store belongs to: one digest for ever, one campaign at a time.

Two marks. `FREEZE.json` is created once and names the digest, so rows of two protocols never lie
together. `OWNER.json` names the campaign object that writes there now, and its cluster. It is given
back when that object is deleted, so that the same campaign, applied anew, goes on where it was.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from agentbench.app.campaign import Campaign, Refused
from agentbench.app.line import Line
from agentbench.core.keys import freeze_key, owner_key
from agentbench.kube.errors import ClusterError, Missing, Retry
from agentbench.store.port import Changed, Conflict, Put, Store

DEFINITION = "benchmarkcampaigns.agentbench.dev"
"""The object whose uid tells clusters apart; every operator may read it."""


class Objects(Protocol):
    """The part of a cluster that is asked here."""

    async def get(self, kind: str, namespace: str, name: str) -> dict[str, Any]:
        """One object; Missing if there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """A campaign object that writes below a prefix."""

    campaign: str
    namespace: str
    uid: str
    cluster: str
    released: bool = False

    def __str__(self) -> str:
        return f"{self.namespace}/{self.campaign} (uid {self.uid}, cluster {self.cluster or '?'})"

    def encoded(self) -> bytes:
        """The mark's content."""
        return _encoded(
            {
                "campaign": self.campaign,
                "namespace": self.namespace,
                "uid": self.uid,
                "cluster": self.cluster,
                "released": self.released,
            }
        )


async def claim(line: Line, cluster: Objects, campaign: Campaign) -> bool:
    """Mark the store's prefix as this campaign's; says whether it is a new one.

    Raises:
        Refused: it is another's: `PrefixTaken`.
        StoreError: the store does not answer.
    """
    new = await line.ask(_freeze, line.store, campaign)
    mine = Owner(
        campaign=campaign.name,
        namespace=campaign.namespace,
        uid=campaign.uid,
        cluster=await _cluster(cluster),
    )
    found, etag = await line.ask(_read, line.store, campaign.name)
    if found is not None and not found.released:
        if found.uid == mine.uid:
            return new
        if not await _gone(cluster, found, mine.cluster):
            raise _taken(found)
    try:
        await line.ask(line.store.compare_and_swap, owner_key(campaign.name), mine.encoded(), etag)
    except Changed:
        there, _ = await line.ask(_read, line.store, campaign.name)
        if there is not None and there.uid != mine.uid:
            raise _taken(there) from None
    return new


async def release(line: Line, campaign: Campaign) -> None:
    """Give the prefix back, if it is this campaign's; nothing else in it changes.

    Raises:
        StoreError: the store does not answer.
    """
    found, etag = await line.ask(_read, line.store, campaign.name)
    if found is None or found.uid != campaign.uid or found.released:
        return
    back = Owner(
        campaign=found.campaign,
        namespace=found.namespace,
        uid=found.uid,
        cluster=found.cluster,
        released=True,
    )
    try:
        key = owner_key(campaign.name)
        await line.ask(line.store.compare_and_swap, key, back.encoded(), etag)
    except Changed:
        return  # another has taken it, or we have given it back before


def _freeze(store: Store, campaign: Campaign) -> bool:
    key = freeze_key(campaign.name)
    mark = {"campaign": campaign.name, "digest": campaign.digest}
    try:
        return store.create_only(key, _encoded(mark)) is Put.CREATED
    except Conflict:
        found = _decoded(store.get(key))
    if found.get("digest") != campaign.digest:
        raise Refused(
            "PrefixTaken",
            f"{key} says that this prefix belongs to digest {found.get('digest')}, and this "
            f"campaign's is {campaign.digest}: use another name, or another prefix in "
            "spec.store.url",
        )
    return False


def _read(store: Store, campaign: str) -> tuple[Owner | None, str | None]:
    entry = store.read(owner_key(campaign))
    if entry is None:
        return None, None
    found = _decoded(entry.content)
    words = {name: str(found.get(name, "")) for name in ("campaign", "namespace", "uid", "cluster")}
    return Owner(**words, released=bool(found.get("released"))), entry.etag


async def _gone(cluster: Objects, owner: Owner, here: str) -> bool:
    """Whether a campaign object is known to be gone; of another cluster nobody can tell."""
    if not here or owner.cluster != here:
        return False
    try:
        found = await cluster.get("BenchmarkCampaign", owner.namespace, owner.campaign)
    except Missing:
        return True
    except Retry:
        raise
    except ClusterError:
        return False  # we may not look there
    return bool(found["metadata"]["uid"] != owner.uid)


async def _cluster(cluster: Objects) -> str:
    """What tells this cluster from others; empty if we may not know."""
    try:
        found = await cluster.get("CustomResourceDefinition", "", DEFINITION)
    except Retry:
        raise
    except ClusterError:
        return ""
    return str(found["metadata"]["uid"])


def _taken(owner: Owner) -> Refused:
    key = owner_key(owner.campaign)
    return Refused(
        "PrefixTaken",
        f"{key} says that campaign {owner} writes here: two campaigns never share a prefix. Use "
        "another name, or another prefix in spec.store.url; if that campaign is gone for good, "
        f"with its cluster, delete {key} from the store",
    )


def _encoded(mark: Mapping[str, object]) -> bytes:
    return json.dumps(mark, sort_keys=True).encode() + b"\n"


def _decoded(content: bytes) -> dict[str, object]:
    try:
        found = json.loads(content)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
