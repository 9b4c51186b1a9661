"""The Job that grades one final state: an index per repeat of the check, one for security."""

from agentbench.api.base import seconds
from agentbench.api.campaign import CampaignSpec
from agentbench.api.factors import Stack
from agentbench.kube.manifests.parts import (
    AGENT_UID,
    WARDEN_UID,
    Manifest,
    container_security,
    empty,
    env,
    fence,
    fixed,
    mounts,
    owner,
    pod_security,
    program,
    scheduling,
    secret,
    small,
)
from agentbench.kube.manifests.paths import BIN, CONTROL, TOLD, WORKSPACE
from agentbench.kube.manifests.run_pod import AttemptKey
from agentbench.kube.manifests.run_sidecars import seed_container
from agentbench.kube.manifests.services import service_container, service_env, service_volumes
from agentbench.kube.names import GRADER_ROLE, ROUND_ANNOTATION, grader_name
from agentbench.kube.settings import Place

APP_PORT = 8080
HARNESS_PORT = 8700
CHECKS, DATA, CLOCK = "/pack", "/data", "/agentbench/clock"
SLACK = 1800
"""Seconds for image pulls, restoring and starting, on top of the check's own time limit."""


def grader_job(key: AttemptKey, spec: CampaignSpec, place: Place, round_: int) -> Manifest:
    """One round of grading; its name tells attempt and round, so it is created once."""
    name = grader_name(key.campaign_uid, key.run.id, key.attempt, round_)
    stack = next(stack for stack in spec.stacks if stack.id == key.run.cell.stack)
    task = next(task for task in spec.tasks if task.id == key.run.cell.task)
    executions = spec.checks.repeats + 1
    limit = seconds(task.timeout or spec.checks.timeout) + seconds(stack.start_timeout)
    meta = {
        "labels": key.labels(GRADER_ROLE),
        "annotations": {**key.annotations(), ROUND_ANNOTATION: str(round_)},
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": key.namespace,
            **meta,
            "ownerReferences": owner("BenchmarkRun", key.run_object, key.run_uid),
        },
        "spec": {
            "completionMode": "Indexed",
            "completions": executions,
            "parallelism": executions,
            "backoffLimitPerIndex": 0,
            "maxFailedIndexes": executions,
            "podReplacementPolicy": "Failed",
            "activeDeadlineSeconds": int(limit) + SLACK,
            "template": {"metadata": meta, "spec": _pod(name, stack, spec, place)},
        },
    }


def _pod(name: str, stack: Stack, spec: CampaignSpec, place: Place) -> Manifest:
    disk = spec.node_class.app.disk
    return {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "dnsPolicy": "None",
        "dnsConfig": {"nameservers": ["127.0.0.1"]},
        "terminationGracePeriodSeconds": 10,
        "imagePullSecrets": [{"name": secret_} for secret_ in place.pull_secrets],
        "securityContext": pod_security(),
        **scheduling(spec.node_class),
        "volumes": [
            empty("workspace", disk),
            empty("data", disk),
            empty("home", disk),
            empty("app-tmp", disk),
            empty("control", "1Gi"),
            empty("bin", "16Mi"),
            empty("clock", "1Mi"),
            empty("checks", "1Gi"),
            empty("scratch", "256Mi"),
            secret("told", name),
            *service_volumes(stack, spec.node_class.service, name),
        ],
        "initContainers": [
            fence(place),
            seed_container(place, ("checks", CHECKS)),  # a folder that the app never sees
            *(
                service_container(service, spec.node_class.service, place)
                for service in stack.services
            ),
            _app(stack, spec, place),
            _harness(stack, place),
        ],
        "containers": [_check(stack, place)],
    }


def app_env(stack: Stack) -> dict[str, str]:
    """The variables of the app's commands; PATH is its image's own."""
    return {
        "HOME": "/home/app",
        "TMPDIR": "/tmp",
        "PORT": str(APP_PORT),
        "DATA_DIR": DATA,
        **service_env(stack),
        **stack.env,
    }


def _app(stack: Stack, spec: CampaignSpec, place: Place) -> Manifest:
    """The app under test, in its stack's own image, obeying the harness by a shared folder."""
    shim = ["sh", f"{BIN}/shim.sh", CONTROL]
    return {
        "name": "app",
        "restartPolicy": "Always",
        "image": stack.image,
        "imagePullPolicy": place.pull_policy,
        "command": shim,
        "env": env(app_env(stack)),
        "workingDir": WORKSPACE,
        "securityContext": container_security(AGENT_UID, read_only=False),
        "resources": fixed(spec.node_class.app),
        "volumeMounts": mounts(
            ("workspace", WORKSPACE),
            ("data", DATA),
            ("home", "/home/app"),
            ("app-tmp", "/tmp"),
            ("control", CONTROL),
            ("bin", BIN, True),
            ("clock", CLOCK, True),
        ),
    }


def _harness(stack: Stack, place: Place) -> Manifest:
    """Serves the harness API to the check; main containers start when it does."""
    return {
        "name": "harness",
        "restartPolicy": "Always",
        "image": place.image,
        "imagePullPolicy": place.pull_policy,
        "command": program("agentbench.pod.serve_harness", f"{TOLD}/harness.json"),
        "env": env(service_env(stack)),
        "securityContext": container_security(WARDEN_UID),
        "resources": small(cpu="200m", memory="256Mi"),
        "startupProbe": {
            "tcpSocket": {"port": HARNESS_PORT},
            "periodSeconds": 1,
            "failureThreshold": 600,
        },
        "volumeMounts": mounts(
            ("control", CONTROL),
            ("workspace", WORKSPACE, True),
            ("data", DATA),
            ("clock", CLOCK),
            ("scratch", "/tmp"),
            ("told", TOLD, True),
        ),
    }


def _check(stack: Stack, place: Place) -> Manifest:
    """The check, in a container of its own with its own tools; its exit code is the verdict."""
    return {
        "name": "check",
        "image": place.image,
        "imagePullPolicy": place.pull_policy,
        "command": program("agentbench.pod.check", f"{TOLD}/check.json"),
        "env": [
            *env({"HOME": "/tmp", "TMPDIR": "/tmp", **service_env(stack)}),
            {
                "name": "JOB_COMPLETION_INDEX",
                "valueFrom": {
                    "fieldRef": {
                        "fieldPath": (
                            "metadata.annotations['batch.kubernetes.io/job-completion-index']"
                        )
                    }
                },
            },
        ],
        "securityContext": container_security(WARDEN_UID),
        "resources": small(cpu="250m", memory="512Mi"),
        "volumeMounts": mounts(
            ("checks", CHECKS, True),
            ("scratch", "/tmp"),
            ("told", TOLD, True),
        ),
    }
