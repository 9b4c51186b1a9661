"""A part of a store belongs to one digest, and to one campaign object at a time."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.held_campaign import a_held_campaign

from agentbench.app.campaign import Campaign, Refused
from agentbench.app.line import Line
from agentbench.app.prefix import claim, release
from agentbench.core.keys import owner_key
from agentbench.kube.errors import ClusterError, Denied, Missing
from agentbench.store.folder import FolderStore

MINE, OTHER = a_held_campaign("uid-1"), a_held_campaign("uid-2", "elsewhere")


class Here:
    """A cluster with its definition, and the campaigns that a test says are there."""

    def __init__(self, *campaigns: Campaign, cluster: str = "cluster-1") -> None:
        self.campaigns = {(each.namespace, each.name): each.uid for each in campaigns}
        self.cluster = cluster
        self.error: ClusterError | None = None

    async def get(self, kind: str, namespace: str, name: str) -> dict[str, Any]:
        if kind == "CustomResourceDefinition":
            return {"metadata": {"uid": self.cluster}}
        if self.error is not None:
            raise self.error
        if (namespace, name) not in self.campaigns:
            raise Missing(name)
        return {"metadata": {"uid": self.campaigns[namespace, name]}}


BOTH = Here(MINE, OTHER)


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path)


def claimed(store: FolderStore, campaign: Campaign, here: Here = BOTH) -> bool:
    async def scenario() -> bool:
        return await claim(Line(store), here, campaign)  # type: ignore[arg-type]

    return asyncio.run(scenario())


def given_back(store: FolderStore, campaign: Campaign) -> None:
    async def scenario() -> None:
        await release(Line(store), campaign)  # type: ignore[arg-type]

    asyncio.run(scenario())


def test_the_first_claim_finds_a_new_prefix_and_the_next_of_the_same_campaign_an_old_one(
    store: FolderStore,
) -> None:
    assert claimed(store, MINE)
    assert not claimed(store, MINE)


def test_a_second_campaign_of_the_same_protocol_is_refused_and_told_whose_it_is(
    store: FolderStore,
) -> None:
    claimed(store, MINE)
    with pytest.raises(Refused, match=r"bench/tiny \(uid uid-1") as refused:
        claimed(store, OTHER)
    assert refused.value.reason == "PrefixTaken"
    assert owner_key("tiny") in str(refused.value), "the cure names the key"
    claimed(store, MINE)


def test_another_protocol_never_gets_the_prefix_even_when_it_was_given_back(
    store: FolderStore,
) -> None:
    claimed(store, MINE)
    given_back(store, MINE)
    with pytest.raises(Refused, match="belongs to digest"):
        claimed(store, a_held_campaign("uid-3", repeats=2))


def test_a_prefix_that_was_given_back_goes_to_the_same_campaign_applied_anew(
    store: FolderStore,
) -> None:
    claimed(store, MINE)
    given_back(store, MINE)
    assert not claimed(store, OTHER)
    with pytest.raises(Refused):
        claimed(store, MINE)


def test_a_campaign_that_went_without_giving_back_is_followed_by_the_next_of_its_cluster(
    store: FolderStore,
) -> None:
    claimed(store, MINE)
    assert not claimed(store, OTHER, Here(OTHER))


def test_nobody_can_tell_what_became_of_a_campaign_of_another_cluster(store: FolderStore) -> None:
    claimed(store, MINE)
    with pytest.raises(Refused, match="cluster cluster-1"):
        claimed(store, OTHER, Here(OTHER, cluster="cluster-2"))


def test_a_namespace_that_the_operator_may_not_read_counts_as_one_with_the_owner(
    store: FolderStore,
) -> None:
    claimed(store, MINE)
    here = Here(OTHER)
    here.error = Denied("not your namespace")
    with pytest.raises(Refused):
        claimed(store, OTHER, here)


def test_nobody_gives_back_what_is_anothers(store: FolderStore) -> None:
    claimed(store, MINE)
    given_back(store, OTHER)
    given_back(store, MINE)
    given_back(store, MINE)
    claimed(store, OTHER)
    given_back(store, MINE)
    with pytest.raises(Refused):
        claimed(store, MINE)
