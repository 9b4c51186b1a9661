"""What the operator last saw of pods, nodes and runs: kept by watching, so that no tick lists.

Why a cache is safe here. That a pod has ended, and that it is gone once it was there, never
becomes untrue again: a slot is freed by nothing else, and a late cache frees it late. That a pod
is not there *yet* leads to a creation, whose name is a function of the attempt: the API server
knows better, and says so. Whatever else would end an attempt is asked again first (`refresh`).
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from agentbench.app.ledger import Key
from agentbench.kube.cluster import Cluster
from agentbench.kube.errors import Retry
from agentbench.kube.names import ANALYSIS_ROLE, CAMPAIGN_LABEL, RUN_ROLE
from agentbench.kube.view import NodeView, PodView, RunView, node_view, pod_view, run_view
from agentbench.kube.watched import Watched

FIRST_LIST = 10.0  # seconds to wait for the first lists before a tick is put off


def _silent(resource: str) -> None:
    return None


@dataclass(slots=True)
class CampaignPods:
    """The pods of one campaign, by attempt, and which attempts changed since they were taken."""

    _by_key: dict[Key, dict[str, PodView]] = field(default_factory=dict)
    _changed: set[str] = field(default_factory=set)
    analyses: dict[str, PodView] = field(default_factory=dict)
    """The pods of the campaign's analysis, by name."""
    running: set[Key] = field(default_factory=set)
    """The attempts whose run pod may be running."""
    everything: bool = True
    """Whether something happened that may concern every attempt."""

    def of(self, key: Key) -> list[PodView]:
        """The pods of an attempt."""
        return list(self._by_key.get(key, {}).values())

    def lasting(self) -> list[Key]:
        """The attempts that have pods which nobody has deleted yet."""
        return [
            key
            for key, pods in self._by_key.items()
            if any(not pod.deleting for pod in pods.values())
        ]

    def on_node(self, node: str) -> bool:
        """Whether a pod of this campaign is on a node."""
        return any(pod.node == node for pods in self._by_key.values() for pod in pods.values())

    def take_changed(self) -> set[str]:
        """The runs whose pods changed; asking takes them away."""
        changed, self._changed = self._changed, set()
        return changed

    def put(self, old: PodView | None, new: PodView | None) -> None:
        """Take in a change."""
        either = new or old
        if either is not None and either.role == ANALYSIS_ROLE:
            self.analyses.pop(either.name, None)
            if new is not None:
                self.analyses[new.name] = new
            return
        if old is not None:
            pods = self._by_key.get((old.run, old.attempt), {})
            pods.pop(old.name, None)
            if not pods:
                self._by_key.pop((old.run, old.attempt), None)
            self._note(old)
        if new is not None:
            self._by_key.setdefault((new.run, new.attempt), {})[new.name] = new
            self._note(new)

    def _note(self, pod: PodView) -> None:
        self._changed.add(pod.run)
        key = (pod.run, pod.attempt)
        live = any(each.role == RUN_ROLE and not each.final for each in self.of(key))
        (self.running.add if live else self.running.discard)(key)


class World:
    """Caches of all campaigns; `rang` is told the uid of a campaign that has something new."""

    def __init__(
        self,
        cluster: Cluster,
        namespaces: Sequence[str] = (),
        heard: Callable[[str], None] = _silent,
    ) -> None:
        self.nodes: dict[str, NodeView] = {}
        self.rang: Callable[[str], None] = lambda _: None
        self.run_deleted: Callable[[str, str], None] = lambda *_: None
        self.run_judged: Callable[[RunView], bool] = lambda _: False
        self._pods: dict[str, CampaignPods] = {}
        self._nodes = Watched(
            cluster, "Node", node_view, self._node_changed, heard=partial(heard, "nodes")
        )
        self._watched = {
            namespace: (
                Watched(
                    cluster, "Pod", pod_view, self._pod_changed,
                    namespace=namespace, labels=CAMPAIGN_LABEL, heard=partial(heard, "pods"),
                ),
                Watched(
                    cluster, "BenchmarkRun", run_view, self._run_changed,
                    namespace=namespace, heard=partial(heard, "benchmarkruns"),
                ),
            )
            for namespace in (namespaces or ("",))
        }  # fmt: skip
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin to watch."""
        every = [self._nodes, *(each for pair in self._watched.values() for each in pair)]
        self._tasks = [asyncio.create_task(each.run()) for each in every]

    async def stop(self) -> None:
        """Stop watching."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def ready(self) -> None:
        """Wait until everything was listed once.

        Raises:
            Retry: the API server does not answer, or the operator may not list.
        """
        waiting = [self._nodes.ready, *(pods.ready for pods, _ in self._watched.values())]
        if all(event.is_set() for event in waiting):
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(FIRST_LIST):
                for event in waiting:
                    await event.wait()
                return
        raise Retry("pods and nodes were not listed yet: the API server does not answer", after=2)

    def pods(self, campaign: str) -> CampaignPods:
        """The pods of a campaign, by its uid."""
        return self._pods.setdefault(campaign, CampaignPods())

    def forget(self, campaign: str) -> None:
        """A campaign is gone."""
        self._pods.pop(campaign, None)

    def note(self, raw: Mapping[str, Any]) -> PodView:
        """Take in a pod that was just created, before its event arrives."""
        return self._of(raw["metadata"]["namespace"]).note(raw)

    async def refresh(self, namespace: str, pod: str) -> PodView | None:
        """Ask the API server for a pod, and take in what it says."""
        return await self._of(namespace).refresh(namespace, pod)

    def _of(self, namespace: str) -> Watched[PodView]:
        pair = self._watched.get(namespace) or self._watched[""]
        return pair[0]

    def _pod_changed(self, old: PodView | None, new: PodView | None) -> None:
        view = new or old
        assert view is not None
        self.pods(view.campaign).put(old, new)
        self.rang(view.campaign)

    def _node_changed(self, old: NodeView | None, new: NodeView | None) -> None:
        view = new or old
        assert view is not None
        if new is None:
            self.nodes.pop(view.name, None)
        else:
            self.nodes[view.name] = new
        for uid, pods in self._pods.items():
            if pods.on_node(view.name):
                pods.everything = True
                self.rang(uid)

    def _run_changed(self, old: RunView | None, new: RunView | None) -> None:
        if new is None and old is not None:
            self.run_deleted(old.campaign, old.run)
            self.rang(old.campaign)
        elif new is not None and new.adjudications and self.run_judged(new):
            self.rang(new.campaign)
