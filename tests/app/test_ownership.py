"""What is ours, and what only looks like it: pods by their controller, marks by their run."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.held_campaign import a_held_campaign

from agentbench.api.run import AttemptStatus
from agentbench.app.gather import look, own, seen_of
from agentbench.app.ledger import RunFacts
from agentbench.core.keys import artifact_key
from agentbench.kube.names import grader_name, pod_name
from agentbench.kube.view import PodView, instant, pod_view
from agentbench.store.folder import FolderStore

CAMPAIGN = a_held_campaign()
(RUN,) = CAMPAIGN.runs
ENTRY = RunFacts(run=RUN.id, name="r", uid="run-uid")
POD = pod_name(CAMPAIGN.uid, RUN.id, 1)


def pod(role: str, owner: dict[str, Any] | None, name: str = "p") -> PodView:
    return pod_view(
        {
            "metadata": {
                "name": name,
                "uid": f"uid-of-{name}",
                "creationTimestamp": "2026-11-30T12:00:00Z",
                "labels": {"agentbench.dev/role": role},
                "annotations": {"agentbench.dev/run": RUN.id, "agentbench.dev/attempt": "1"},
                "ownerReferences": [owner] if owner else [],
            },
            "status": {"phase": "Running"},
        }
    )


def held_by(uid: str, name: str = "", *, controller: bool = True) -> dict[str, Any]:
    return {"uid": uid, "name": name, "controller": controller}


def test_a_pod_is_ours_by_its_controller_and_not_by_its_labels() -> None:
    job = grader_name(CAMPAIGN.uid, RUN.id, 1, 1)
    ours = [pod("run", held_by("run-uid")), pod("grader", held_by("job-uid", job))]
    foreign = [
        pod("run", None),
        pod("run", held_by("another-run")),
        pod("run", held_by("run-uid", controller=False)),
        pod("grader", None),
        pod("grader", held_by("job-uid", "another-job")),
        pod("helper", held_by("run-uid")),
    ]
    assert own(CAMPAIGN, ENTRY, [*foreign, *ours]) == ours


def test_two_pods_of_one_run_are_seen_as_twins_and_stay_a_taint_when_one_is_gone() -> None:
    pods = [pod("run", held_by("run-uid"), name) for name in ("b", "a")]
    attempt = AttemptStatus(number=1, phase="Running")
    now = instant("2026-11-30T12:00:00Z")
    assert seen_of(CAMPAIGN, attempt, pods, {}, None, now).twins == ("a", "b")
    left = seen_of(CAMPAIGN, attempt, pods[:1], {}, None, now, tainted=True)
    assert (left.twins, left.tainted) == ((), True)


@pytest.mark.parametrize(
    ("mark", "disowned"),
    [
        ({"pod": POD, "uid": "u", "run": "run-uid"}, False),
        ({"pod": POD, "uid": "u", "run": "a-run-object-before-this-one"}, True),
        ({"pod": "of-a-campaign-object-before-this-one", "uid": "u", "run": "another"}, False),
        ({"pod": POD, "uid": "u"}, False),
    ],
)
def test_a_mark_tells_whether_somebody_deleted_the_run_that_it_was_made_for(
    tmp_path: Path, mark: dict[str, str], disowned: bool
) -> None:
    store = FolderStore(tmp_path)
    store.create_only(artifact_key("tiny", RUN.id, 1, "pod.json"), json.dumps(mark).encode())
    left = look(CAMPAIGN, store, ENTRY, 1)
    assert (left.created, left.disowned) == (True, disowned)
