"""The pod of one attempt: a bare Pod, for a Job would start a second paid agent when it is gone."""

from dataclasses import dataclass

from agentbench.api.base import seconds
from agentbench.api.campaign import CampaignSpec
from agentbench.api.factors import Agent, Stack
from agentbench.core.plan import PlannedRun
from agentbench.kube.manifests.parts import (
    AGENT_UID,
    Manifest,
    container_security,
    empty,
    env,
    fence,
    fixed,
    mounts,
    owner,
    pod_security,
    scheduling,
    secret,
)
from agentbench.kube.manifests.paths import BIN, CONTROL, DATA, HOME, PORT, START, TMP, WORKSPACE
from agentbench.kube.manifests.run_sidecars import (
    capture_container,
    seed_container,
    warden_container,
)
from agentbench.kube.manifests.services import service_container, service_env, service_volumes
from agentbench.kube.names import (
    AGENT_LABEL,
    ATTEMPT_ANNOTATION,
    CAMPAIGN_LABEL,
    DIGEST_ANNOTATION,
    ROLE_LABEL,
    RUN_ANNOTATION,
    RUN_ROLE,
    STACK_LABEL,
    TASK_LABEL,
    pod_name,
)
from agentbench.kube.settings import Place

STOP_GRACE = 600
"""Seconds that the sidecars have to pack and upload when the agent is gone."""

SET_UP_LIMIT = 3600
"""Seconds for image pulls, seed and set-up, on top of the wall cap, before kubelet ends a pod."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptKey:
    """Which attempt of which run of which campaign, and the objects that own it."""

    namespace: str
    campaign: str
    campaign_uid: str
    run_object: str
    run_uid: str
    run: PlannedRun
    attempt: int
    digest: str

    @property
    def pod(self) -> str:
        """Name of the run pod and of its Secret."""
        return pod_name(self.campaign_uid, self.run.id, self.attempt)

    def labels(self, role: str) -> dict[str, str]:
        """Labels of a pod: none of them takes more values as runs are added."""
        return {
            "app.kubernetes.io/managed-by": "agent-bench",
            CAMPAIGN_LABEL: self.campaign_uid,
            ROLE_LABEL: role,
            TASK_LABEL: self.run.cell.task,
            STACK_LABEL: self.run.cell.stack,
            AGENT_LABEL: self.run.cell.agent,
        }

    def annotations(self) -> dict[str, str]:
        """What would be a label if there were not one value per run."""
        return {
            RUN_ANNOTATION: self.run.id,
            ATTEMPT_ANNOTATION: str(self.attempt),
            DIGEST_ANNOTATION: self.digest,
        }


def run_pod(
    key: AttemptKey,
    spec: CampaignSpec,
    place: Place,
    *,
    gateway: str,
    root_files: dict[str, str],
    settings: str = "",
) -> Manifest:
    """The run pod of an attempt.

    `gateway` is the proxy's address with the agent's own credential; `root_files` maps absolute
    paths to keys of the ConfigMap `settings`: managed settings that the agent can only read.
    """
    stack = next(stack for stack in spec.stacks if stack.id == key.run.cell.stack)
    agent = next(agent for agent in spec.agents if agent.id == key.run.cell.agent)
    variables = agent_env(stack, gateway)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": key.pod,
            "namespace": key.namespace,
            "labels": key.labels(RUN_ROLE),
            "annotations": key.annotations(),
            "ownerReferences": owner("BenchmarkRun", key.run_object, key.run_uid),
        },
        "spec": {
            "restartPolicy": "Never",
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "dnsPolicy": "None",
            "dnsConfig": {"nameservers": ["127.0.0.1"]},
            "terminationGracePeriodSeconds": STOP_GRACE,
            "activeDeadlineSeconds": int(seconds(spec.caps.wall)) + SET_UP_LIMIT,
            "imagePullSecrets": [{"name": name} for name in place.pull_secrets],
            "securityContext": pod_security(),
            **scheduling(spec.node_class),
            "volumes": [
                *_volumes(key, spec, agent, settings if root_files else ""),
                *service_volumes(stack, spec.node_class.service, key.pod),
            ],
            "initContainers": [
                fence(place),
                seed_container(place, ("home", HOME), ("start", START)),
                # Sidecars stop in the opposite order, one after another: a service that ignores
                # its signal must not use up the time that capture and warden have.
                *(
                    service_container(service, spec.node_class.service, place)
                    for service in stack.services
                ),
                warden_container(agent, place),
                capture_container(place, spec.checks.snapshot_limit_mi_b),
            ],
            "containers": [_agent(agent.images[stack.id], spec, place, variables, root_files)],
        },
    }


def agent_env(stack: Stack, gateway: str) -> dict[str, str]:
    """The variables of the agent and of set-up; `gateway` has the credential of their class."""
    return {
        "HOME": HOME,
        "TMPDIR": TMP,
        **stack.env,
        **service_env(stack),
        "PORT": PORT,
        "DATA_DIR": DATA,
        "HTTP_PROXY": gateway,
        "HTTPS_PROXY": gateway,
        "http_proxy": gateway,
        "https_proxy": gateway,
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
    }


def _volumes(key: AttemptKey, spec: CampaignSpec, agent: Agent, settings: str) -> list[Manifest]:
    disk = spec.node_class.agent.disk
    key_secret = agent.provider.key_secret if agent.provider else None
    shared = {"name": "settings", "configMap": {"name": settings, "defaultMode": 0o444}}
    return [
        empty("workspace", disk),
        empty("home", disk),
        empty("tmp", disk),
        empty("data", disk),
        empty("control", "1Gi"),
        empty("bin", "16Mi"),
        empty("start", disk),
        empty("snapshot", f"{2 * spec.checks.snapshot_limit_mi_b}Mi"),
        empty("record", f"{2 * spec.checks.snapshot_limit_mi_b}Mi"),
        empty("scratch", "256Mi"),
        secret("told", key.pod),
        *([secret("key", key_secret)] if key_secret else []),
        *([shared] if settings else []),
    ]


def _agent(
    image: str,
    spec: CampaignSpec,
    place: Place,
    variables: dict[str, str],
    root_files: dict[str, str],
) -> Manifest:
    shim = ["sh", f"{BIN}/shim.sh", CONTROL]
    settings = [
        {"name": "settings", "mountPath": path, "subPath": entry, "readOnly": True}
        for path, entry in root_files.items()
    ]
    return {
        "name": "agent",
        "image": image,
        "imagePullPolicy": place.pull_policy,
        "command": shim,
        "env": env(variables),
        "workingDir": WORKSPACE,
        "securityContext": container_security(AGENT_UID, read_only=False),
        "resources": fixed(spec.node_class.agent),
        "lifecycle": {"preStop": {"exec": {"command": [*shim, "stop"]}}},
        "volumeMounts": [
            *mounts(
                ("workspace", WORKSPACE),
                ("home", HOME),
                ("tmp", TMP),
                ("data", DATA),
                ("control", CONTROL),
                ("bin", BIN, True),
            ),
            *settings,
        ],
    }
