"""The containers beside an agent that are ours: what restores, meters and captures."""

from agentbench.api.factors import Agent
from agentbench.kube.manifests.parts import (
    AGENT_UID,
    WARDEN_UID,
    Manifest,
    container_security,
    mounts,
    program,
    small,
)
from agentbench.kube.manifests.paths import (
    BIN,
    CONTROL,
    KEY,
    RECORD,
    SNAPSHOT,
    START,
    TOLD,
    WORKSPACE,
)
from agentbench.kube.settings import Place


def seed_container(place: Place, *targets: tuple[str, str]) -> Manifest:
    """Restores layers into the volumes that are named with their paths, and lays the shim beside.

    Of a run pod these are what the agent may see, of a grader pod the final state and the checks.
    """
    return {
        "name": "seed",
        "image": place.image,
        "imagePullPolicy": place.pull_policy,
        "command": program("agentbench.pod.seed", f"{TOLD}/seed.json"),
        "securityContext": container_security(AGENT_UID),
        "resources": small(memory="256Mi"),
        "volumeMounts": mounts(
            ("workspace", WORKSPACE),
            *targets,
            ("bin", BIN),
            ("scratch", "/tmp"),
            ("told", TOLD, True),
        ),
    }


def warden_container(agent: Agent, place: Place) -> Manifest:
    """Started before capture and agent, and so stopped after them: another uid, the model key."""
    has_key = agent.provider is not None and agent.provider.key_secret is not None
    return {
        "name": "warden",
        "restartPolicy": "Always",
        "image": place.image,
        "imagePullPolicy": place.pull_policy,
        "command": program("agentbench.pod.sidecar", f"{TOLD}/warden.json"),
        "securityContext": container_security(WARDEN_UID),
        "resources": small(cpu="250m", memory="512Mi"),
        "startupProbe": {
            "exec": {"command": ["cat", f"{RECORD}/listening"]},
            "periodSeconds": 1,
            "failureThreshold": 60,
        },
        "volumeMounts": mounts(
            ("control", CONTROL),
            ("snapshot", SNAPSHOT, True),
            ("record", RECORD),
            ("told", TOLD, True),
            ("scratch", "/tmp"),
            *([("key", KEY, True)] if has_key else []),
        ),
    }


def capture_container(place: Place, limit_mib: int) -> Manifest:
    """The agent's uid, since files of mode 000 are only their owner's to open; idle until TERM."""
    return {
        "name": "capture",
        "restartPolicy": "Always",
        "image": place.image,
        "imagePullPolicy": place.pull_policy,
        "command": program(
            "agentbench.pod.capture", WORKSPACE, START, CONTROL, SNAPSHOT, str(limit_mib)
        ),
        "securityContext": container_security(AGENT_UID),
        "resources": small(cpu="250m", memory="256Mi"),
        "volumeMounts": mounts(
            ("workspace", WORKSPACE),
            ("start", START, True),
            ("control", CONTROL),
            ("snapshot", SNAPSHOT),
            ("scratch", "/tmp"),
        ),
    }
