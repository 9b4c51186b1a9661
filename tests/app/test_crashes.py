"""The operator may die at any write, and pods, nodes and quotas do what they like meanwhile.

Whatever happens: at most `parallelism` run pods live, one pod and one agent per attempt, and in
the end exactly one row for every attempt that there was.
"""

import json
from collections import Counter

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from tests.fakes.api_objects import Death, How, Raw
from tests.fakes.operator_world import NAME, World

from agentbench.core.keys import artifact_key

HOWS: tuple[How, ...] = ("before", "after", "late")


def attempt_of(pod: Raw) -> tuple[str, int]:
    notes = pod["metadata"]["annotations"]
    return notes["agentbench.dev/run"], int(notes["agentbench.dev/attempt"])


def broken(world: World) -> list[str]:
    """What must never be, and is."""
    found = []
    if len(world.live()) > world.parallelism:
        found.append(f"{len(world.live())} live run pods of {world.parallelism}")
    pods = Counter(attempt_of(pod) for pod in world.objects.made)
    agents = Counter(world.kubelets.started)
    found += [f"{each} had {n} pods" for each, n in pods.items() if n > 1]
    found += [f"{each} had {n} agents" for each, n in agents.items() if n > 1]
    return found


def settled(world: World) -> list[str]:
    """What must be in the end, and is not."""
    world.settle()
    rows = {name.removesuffix(".json"): json.loads(row) for name, row in world.rows().items()}
    found = broken(world)
    for run, attempt in {attempt_of(pod) for pod in world.objects.made}:
        if f"{run}/{attempt}" not in rows:
            found.append(f"{run} attempt {attempt} had a pod and has no row")
    for raw in world.objects.of("BenchmarkRun").values():
        run = raw["spec"]["run"]
        attempts = raw.get("status", {}).get("attempts", [])
        numbers = [each["number"] for each in attempts]
        mine = sorted(int(name.split("/")[1]) for name in rows if name.startswith(f"{run}/"))
        if numbers != mine or any(not each.get("rowKey") for each in attempts):
            found.append(f"{run} says {attempts} and has rows {mine}")
        causes = [rows[f"{run}/{number}"]["cause"] for number in mine]
        if mine not in ([1], [1, 2]) or (mine == [1, 2] and causes[0] != "infra"):
            found.append(f"{run} has rows {mine} with causes {causes}")
        if mine == [1] and causes == ["infra"]:
            found.append(f"{run} failed for the infrastructure and was not run again")
    return found


class Crashes(RuleBasedStateMachine):
    """Everything that can happen to a campaign of three runs, two at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.seen: dict[str, bytes] = {}

    @rule()
    def tick(self) -> None:
        self.world.tick()

    @rule()
    def tick_with_watches_that_lag(self) -> None:
        self.world.tick(late=True)

    @rule(at=st.integers(0, 12), how=st.sampled_from(HOWS), late=st.booleans())
    def dies(self, at: int, how: How, late: bool) -> None:
        self.world.tick(Death(at, how), late=late)

    @rule()
    def dies_between_ticks(self) -> None:
        self.world.restart()

    @rule(which=st.integers(0, 20), steps=st.integers(1, 3))
    def a_pod_goes_on(self, which: int, steps: int) -> None:
        pods = list(self.world.objects.of("Pod").values())
        for _ in range(steps if pods else 0):
            self.world.kubelets.step(pods[which % len(pods)])

    @rule()
    def all_go_on(self) -> None:
        self.world.kubelets.controllers()
        for pod in list(self.world.objects.of("Pod").values()):
            self.world.kubelets.step(pod)

    @rule(which=st.integers(0, 20))
    def a_pod_is_deleted_from_outside(self, which: int) -> None:
        # One that is deleted before the operator could know of it is a case of its own, below.
        pods = [pod for pod in self.world.objects.of("Pod").items() if self._known(pod[1])]
        if pods:
            name, pod = pods[which % len(pods)]
            self.world.objects.delete("Pod", name, pod["metadata"]["uid"])

    @rule(which=st.integers(0, 20))
    def a_job_is_deleted_from_outside(self, which: int) -> None:
        jobs = list(self.world.objects.of("Job"))
        if jobs:
            self.world.objects.delete("Job", jobs[which % len(jobs)])

    @rule(ready=st.booleans())
    def the_node_goes_or_comes(self, ready: bool) -> None:
        if ready != self.world.kubelets.ready:
            self.world.kubelets.node_is(ready)

    @rule(stubborn=st.booleans())
    def services_ignore_their_signal(self, stubborn: bool) -> None:
        self.world.kubelets.stubborn = stubborn

    @rule(denied=st.booleans())
    def a_quota(self, denied: bool) -> None:
        self.world.objects.pods_are_denied = denied

    @rule(seconds=st.sampled_from([5, 60, 200, 4000]))
    def time_passes(self, seconds: int) -> None:
        self.world.objects.passes(seconds)

    @invariant()
    def nothing_is_broken(self) -> None:
        assert broken(self.world) == []

    @invariant()
    def no_row_changes(self) -> None:
        rows = self.world.rows()
        assert self.seen.items() <= rows.items()
        self.seen = rows

    def teardown(self) -> None:
        try:
            assert settled(self.world) == []
        finally:
            self.world.close()

    def _known(self, pod: Raw) -> bool:
        run, attempt = attempt_of(pod)
        return artifact_key(NAME, run, attempt, "pod.json") in self.world.store.content


TestCrashes = Crashes.TestCase
TestCrashes.settings = settings(
    max_examples=25,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
