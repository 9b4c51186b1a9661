"""The analysis runs in pods that a strict API server takes, and that may do nothing else."""

from typing import Any

import pytest
from kubernetes.client import V1CronJob, V1Job

from agentbench.api.place import NodeClass, Store
from agentbench.kube.manifests.analysis import AnalysisKey, analysis_cron, last_analysis
from agentbench.kube.settings import AnalysisPlace, Place

PLACE = Place(
    image="pod@sha256:1", gateway="10.0.0.1:3128", forbidden="10.0.0.2:443", pull_secrets=("pull",)
)
HOW = AnalysisPlace(image="operator@sha256:2", node_selector={"tools": "yes"})
KEY = AnalysisKey(
    namespace="bench",
    campaign="tiny",
    campaign_uid="0b9d7d7e-1111-2222-3333-444455556666",
    store=Store(url="s3://bucket/some", endpoint="http://s3.test:9000", secret_ref="keys"),
    store_secret="keys",
    proxy="http://user:word@10.0.0.1:3128",
    node_class=NodeClass(selector={"agentbench.dev/node-class": "pinned"}),
)


def cron(suspend: bool = False) -> dict[str, Any]:
    return analysis_cron(KEY, PLACE, HOW, suspend=suspend)


def job() -> dict[str, Any]:
    return last_analysis(KEY, PLACE, HOW, 100_000)


PODS = {
    "cron": cron()["spec"]["jobTemplate"]["spec"]["template"],
    "last": job()["spec"]["template"],
}


def test_a_strict_model_takes_them() -> None:
    V1CronJob.model_validate(cron())
    V1Job.model_validate(job())


def test_names_fit_what_is_made_of_them() -> None:
    assert len(cron()["metadata"]["name"]) <= 52
    assert len(job()["metadata"]["name"]) <= 63 - len("-abcde")


def test_never_two_by_schedule_and_none_while_suspended() -> None:
    assert cron()["spec"]["concurrencyPolicy"] == "Forbid"
    assert [cron(suspend)["spec"]["suspend"] for suspend in (False, True)] == [False, True]


@pytest.mark.parametrize("kind", list(PODS))
def test_its_pod_is_restricted_and_has_no_token(kind: str) -> None:
    spec = PODS[kind]["spec"]
    (container,) = spec["containers"]
    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    security = container["securityContext"]
    assert security["allowPrivilegeEscalation"] is False
    assert security["readOnlyRootFilesystem"] is True
    assert security["capabilities"] == {"drop": ["ALL"]}
    assert container["resources"]["requests"] == container["resources"]["limits"]


@pytest.mark.parametrize("kind", list(PODS))
def test_its_pod_is_known_by_campaign_and_role_so_that_the_policy_holds_it(kind: str) -> None:
    labels = PODS[kind]["metadata"]["labels"]
    assert labels["agentbench.dev/campaign"] == KEY.campaign_uid
    assert labels["agentbench.dev/role"] == "analysis"


def test_the_stores_keys_come_from_the_secret_and_stand_nowhere() -> None:
    entries = {entry["name"]: entry for entry in PODS["cron"]["spec"]["containers"][0]["env"]}
    for variable, key in (
        ("AWS_ACCESS_KEY_ID", "accessKey"),
        ("AWS_SECRET_ACCESS_KEY", "secretKey"),
    ):
        assert entries[variable]["valueFrom"] == {"secretKeyRef": {"name": "keys", "key": key}}


def test_it_keeps_away_from_the_machines_of_runs_where_it_can() -> None:
    spec = PODS["cron"]["spec"]
    assert spec["nodeSelector"] == {"tools": "yes"}
    (term,) = spec["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    (rule,) = term["preference"]["matchExpressions"]
    assert rule == {"key": "agentbench.dev/node-class", "operator": "NotIn", "values": ["pinned"]}


def test_an_input_that_somebody_must_correct_is_not_tried_again() -> None:
    (rule,) = cron()["spec"]["jobTemplate"]["spec"]["podFailurePolicy"]["rules"]
    assert rule["action"] == "FailJob"
    assert rule["onExitCodes"]["values"] == [1]
