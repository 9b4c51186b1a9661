"""The analysis of a campaign: a CronJob, and the Job that follows the last row at once."""

from dataclasses import dataclass

from agentbench.api.base import seconds
from agentbench.api.place import NodeClass, Resources, Store
from agentbench.kube.manifests.parts import (
    WARDEN_UID,
    Manifest,
    container_security,
    empty,
    env,
    fixed,
    owner,
    pod_security,
    program,
    scheduling,
)
from agentbench.kube.names import (
    ANALYSIS_ROLE,
    CAMPAIGN_LABEL,
    ROLE_LABEL,
    analysis_name,
    last_analysis_name,
)
from agentbench.kube.settings import AnalysisPlace, Place

TRIES_AGAIN = 2
"""Times that a failed analysis is tried again before the schedule's next one."""

JOB_LIFETIME = 3600
"""Seconds that a finished Job of the last row is kept; then a new one may take its name."""

CONTAINER = "publish"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisKey:
    """Whose analysis it is, and what its pods are told.

    `proxy` is the gateway's address with a credential for the store's host and no other.
    """

    namespace: str
    campaign: str
    campaign_uid: str
    store: Store
    store_secret: str
    proxy: str
    node_class: NodeClass


def analysis_cron(
    key: AnalysisKey, place: Place, analysis: AnalysisPlace, *, suspend: bool
) -> Manifest:
    """The CronJob: one analysis at a time, none while nothing can have changed."""
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": _meta(key, analysis_name(key.campaign_uid)),
        "spec": {
            "schedule": analysis.schedule,
            "timeZone": "Etc/UTC",
            "suspend": suspend,
            "concurrencyPolicy": "Forbid",
            "successfulJobsHistoryLimit": 1,
            "failedJobsHistoryLimit": 1,
            "jobTemplate": {
                "metadata": {"labels": _labels(key)},
                "spec": _job(key, place, analysis),
            },
        },
    }


def last_analysis(key: AnalysisKey, place: Place, analysis: AnalysisPlace, rows: int) -> Manifest:
    """The Job that publishes as soon as the last row is there, and not when the hour comes."""
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": _meta(key, last_analysis_name(key.campaign_uid, rows)),
        "spec": {**_job(key, place, analysis), "ttlSecondsAfterFinished": JOB_LIFETIME},
    }


def _labels(key: AnalysisKey) -> dict[str, str]:
    return {
        "app.kubernetes.io/managed-by": "agent-bench",
        CAMPAIGN_LABEL: key.campaign_uid,
        ROLE_LABEL: ANALYSIS_ROLE,
    }


def _meta(key: AnalysisKey, name: str) -> Manifest:
    return {
        "name": name,
        "namespace": key.namespace,
        "labels": _labels(key),
        "ownerReferences": owner("BenchmarkCampaign", key.campaign, key.campaign_uid),
    }


def _job(key: AnalysisKey, place: Place, analysis: AnalysisPlace) -> Manifest:
    return {
        "backoffLimit": TRIES_AGAIN,
        "podFailurePolicy": {
            "rules": [
                # A row that cannot be used is not better a minute later.
                {
                    "action": "FailJob",
                    "onExitCodes": {"containerName": CONTAINER, "operator": "In", "values": [1]},
                }
            ]
        },
        "activeDeadlineSeconds": int(seconds(analysis.deadline)),
        "template": {
            "metadata": {"labels": _labels(key)},
            "spec": {
                "restartPolicy": "Never",
                "automountServiceAccountToken": False,
                "enableServiceLinks": False,
                "dnsPolicy": "None",  # the gateway looks names up
                "dnsConfig": {"nameservers": ["127.0.0.1"]},
                "imagePullSecrets": [{"name": name} for name in place.pull_secrets],
                "securityContext": pod_security(),
                **scheduling(
                    NodeClass(selector=analysis.node_selector, tolerations=analysis.tolerations)
                ),
                **_apart(key.node_class),
                "volumes": [empty("tmp", "256Mi")],
                "containers": [_container(key, place, analysis)],
            },
        },
    }


def _container(key: AnalysisKey, place: Place, analysis: AnalysisPlace) -> Manifest:
    said = {
        "AGENTBENCH_CAMPAIGN": key.campaign,
        "AGENTBENCH_STORE_URL": key.store.url,
        "AGENTBENCH_STORE_ENDPOINT": key.store.endpoint or "",
        "AGENTBENCH_STORE_REGION": key.store.region or "",
        "HTTP_PROXY": key.proxy,
        "HTTPS_PROXY": key.proxy,
        "HOME": "/tmp",
        # As many threads as it has cores: a library that counts the node's would be slower.
        "OPENBLAS_NUM_THREADS": "1",
    }
    return {
        "name": CONTAINER,
        "image": analysis.image,
        "imagePullPolicy": place.pull_policy,
        "command": program("agentbench.app.publish"),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "env": [
            *env(said),
            _from_secret("AWS_ACCESS_KEY_ID", key.store_secret, "accessKey"),
            _from_secret("AWS_SECRET_ACCESS_KEY", key.store_secret, "secretKey"),
        ],
        "securityContext": container_security(WARDEN_UID),
        "resources": fixed(Resources(cpu=analysis.cpu, memory=analysis.memory)),
        "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],
    }


def _from_secret(variable: str, name: str, key: str) -> Manifest:
    return {"name": variable, "valueFrom": {"secretKeyRef": {"name": name, "key": key}}}


def _apart(node_class: NodeClass) -> Manifest:
    """Away from the machines of runs wherever there are others: it would slow a run down."""
    if not node_class.selector:
        return {}
    terms = [
        {
            "weight": 100,
            "preference": {
                "matchExpressions": [{"key": key, "operator": "NotIn", "values": [value]}]
            },
        }
        for key, value in sorted(node_class.selector.items())
    ]
    return {
        "affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}}
    }
