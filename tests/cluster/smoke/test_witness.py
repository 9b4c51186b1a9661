"""The witness on the real cluster: it sees what really happens, in the order it happens."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from tests.cluster.lab.handle import Cluster
from tests.cluster.lab.shell import wait
from tests.cluster.witness.observe import Witness
from tests.cluster.witness.timeline import ATTEMPT, CAMPAIGN, ROLE, RUN, PodSeen, RowSeen

Watching = Callable[..., AbstractContextManager[Witness]]


def _agent(cluster: Cluster, namespace: str, name: str, run: str, **rest: Any) -> None:
    labels = {CAMPAIGN: "c-uid", ROLE: "run"}
    notes = {RUN: run, ATTEMPT: "1"}
    cluster.run(
        namespace, name, ["sleep", "600"], "busybox", labels=labels, annotations=notes, **rest
    )


def _numbers(one: Witness) -> set[int]:
    return {violation.invariant for violation in one.violations()}


def test_a_second_pod_of_an_attempt_is_seen_though_it_lives_for_a_moment(
    real_cluster: Cluster, namespace: str, watching: Watching
) -> None:
    with watching() as one:
        _agent(real_cluster, namespace, "first", "r1")
        assert 3 not in _numbers(one)
        _agent(real_cluster, namespace, "again", "r1")
        real_cluster.api.delete(f"/api/v1/namespaces/{namespace}/pods/again", grace=0)
        wait("the witness to see it", lambda: 3 in _numbers(one), 20)


def test_a_row_that_is_overwritten_for_a_moment_is_seen(
    real_cluster: Cluster, namespace: str, bucket: str, watching: Watching
) -> None:
    store = real_cluster.s3()
    key = "bench/first/rows/r1/1.json"
    content = json.dumps({"run": "r1", "attempt": 1}).encode()
    with watching(prefix="bench/") as one:
        store.put_object(Bucket=bucket, Key=key, Body=content)

        def sightings() -> int:
            return sum(isinstance(seen, RowSeen) for seen in one.timeline().seen)

        wait("the row to be seen", lambda: sightings() == 1, 20)
        assert 1 not in _numbers(one)
        store.put_object(Bucket=bucket, Key=key, Body=content.replace(b"r1", b"r2"))
        wait("the other row to be seen", lambda: sightings() == 2, 20)
        store.put_object(Bucket=bucket, Key=key, Body=content)
        assert 1 in _numbers(one)
        store.delete_object(Bucket=bucket, Key=key)
    texts = [violation.text for violation in one.violations()]
    assert any("was there and then was not" in text for text in texts)


def test_what_is_there_when_it_is_judged_is_judged(
    real_cluster: Cluster, namespace: str, bucket: str, watching: Watching
) -> None:
    store = real_cluster.s3()
    with watching(prefix="bench/") as one:
        for number in range(1, 6):
            content = json.dumps({"run": f"r{number}", "attempt": 1}).encode()
            _agent(real_cluster, namespace, f"pod-{number}", f"r{number}")
            store.put_object(Bucket=bucket, Key=f"bench/first/rows/r{number}/1.json", Body=content)
            one.violations()
            seen = one.timeline()
            assert len({pod.uid for pod in seen.pods("run")}) == number
            assert len(seen.rows()) == number


def test_every_phase_and_the_end_of_a_pod_are_seen(
    real_cluster: Cluster, namespace: str, watching: Watching
) -> None:
    with watching() as one:
        _agent(real_cluster, namespace, "short", "r1")
        real_cluster.wait_phase(namespace, "short", "Running")
        real_cluster.api.delete(f"/api/v1/namespaces/{namespace}/pods/short")
        real_cluster.wait_gone(namespace, "short")

        def pods() -> list[PodSeen]:
            return [seen for seen in one.timeline().seen if isinstance(seen, PodSeen)]

        wait("the end to be seen", lambda: any(seen.gone for seen in pods()), 20)
    phases = list(dict.fromkeys(seen.phase for seen in pods()))
    assert phases[:2] == ["Pending", "Running"]
    assert one.timeline().gaps == ()


def test_an_agent_with_a_token_and_without_a_policy_is_told(
    real_cluster: Cluster, namespace: str, watching: Watching
) -> None:
    with watching() as one:
        spec = {"automountServiceAccountToken": True}
        _agent(real_cluster, namespace, "open", "r1", spec=spec)
        wait("the witness to see it", lambda: 7 in _numbers(one), 20)
    texts = " ".join(violation.text for violation in one.violations())
    assert "open mounts a service account token" in texts
    assert "no NetworkPolicy governs the egress of open" in texts
