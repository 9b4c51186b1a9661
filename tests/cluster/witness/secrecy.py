"""What pods may hold and reach, and what labels may say: invariants 7 and 8."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from tests.cluster.witness.timeline import PodSeen, Timeline

AGENT = "agent"
ENOUGH_RUNS = 8
"""With fewer runs a label that grows with them cannot be told from one that does not."""
MOST_VALUES = 32
"""More values than a label has without naming a run: tasks, stacks, agents, phases, codes."""
# Kubernetes itself labels the pods of a Job with the Job.
_KUBERNETES = re.compile(r"^(batch\.kubernetes\.io/|controller-uid$|job-name$|pod-template-hash$)")
_SAMPLE = re.compile(r"^[a-zA-Z_:][\w:]*\{(?P<labels>.*)\} ")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_ANYONE: Mapping[str, Any] = {}
# What a histogram and a handler count by: bounded by the program, whatever it runs.
_BOUNDED = {"le", "quantile"}


def agents_hold_nothing(timeline: Timeline) -> list[str]:
    """7, first half: the agent's container holds no key, no token, and no one else's files."""
    found = []
    for pod in _firsts(timeline.pods("run")):
        spec = pod.body.get("spec") or {}
        if spec.get("automountServiceAccountToken") is not False:
            found.append(f"{pod.name} mounts a service account token")
        volumes = {volume["name"]: volume for volume in spec.get("volumes") or ()}
        for volume in volumes.values():
            for kind in ("hostPath", "persistentVolumeClaim", "nfs"):
                if kind in volume:
                    found.append(f"{pod.name} has a volume that outlives it: {kind}")
        for container in spec.get("containers") or ():
            if container["name"] == AGENT:
                found += [f"{pod.name}: {text}" for text in _secrets(container, volumes)]
    return found


def _secrets(container: Mapping[str, Any], volumes: Mapping[str, Mapping[str, Any]]) -> list[str]:
    found = []
    for variable in container.get("env") or ():
        if "secretKeyRef" in (variable.get("valueFrom") or {}):
            found.append(f"the agent's variable {variable['name']} comes from a Secret")
    for source in container.get("envFrom") or ():
        if "secretRef" in source:
            found.append("the agent's variables come from a Secret")
    for mount in container.get("volumeMounts") or ():
        volume = volumes.get(mount["name"]) or {}
        sources = (volume.get("projected") or {}).get("sources") or ()
        if "secret" in volume or any({"secret", "serviceAccountToken"} & set(s) for s in sources):
            found.append(f"the agent mounts the Secret of volume {mount['name']}")
    return found


def agents_reach_nothing(timeline: Timeline) -> list[str]:
    """7, second half: a policy governs the egress of every run pod, and leaves no address open."""
    found = []
    for pod in _firsts(timeline.pods("run")):
        namespace = pod.body["metadata"].get("namespace")
        chosen = [
            policy
            for policy in timeline.policies
            if policy["metadata"].get("namespace") == namespace
            and "Egress" in (policy["spec"].get("policyTypes") or ())
            and _selects(policy["spec"].get("podSelector") or {}, pod.labels)
        ]
        if not chosen:
            found.append(f"no NetworkPolicy governs the egress of {pod.name}")
        for policy in chosen:
            for rule in policy["spec"].get("egress") or ():
                wide = [to for to in rule.get("to") or [_ANYONE] if not to or _everyone(to)]
                if wide:
                    name = policy["metadata"]["name"]
                    found.append(f"NetworkPolicy {name} lets {pod.name} reach any address")
    return found


def _everyone(peer: Mapping[str, Any]) -> bool:
    cidr = (peer.get("ipBlock") or {}).get("cidr", "")
    return str(cidr).endswith("/0")


def _selects(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    wanted = selector.get("matchLabels") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    for need in selector.get("matchExpressions") or ():
        key, values = need["key"], need.get("values") or ()
        has = {
            "In": labels.get(key) in values,
            "NotIn": labels.get(key) not in values,
            "Exists": key in labels,
            "DoesNotExist": key not in labels,
        }
        if not has[need["operator"]]:
            return False
    return True


def labels_do_not_grow(timeline: Timeline) -> list[str]:
    """8, first half: no label of pods has a value for every run."""
    values: dict[tuple[str, str], set[str]] = {}
    runs: dict[str, set[str]] = {}
    for role in ("run", "grader"):
        for pod in _firsts(timeline.pods(role)):
            if pod.attempt is None:
                continue
            runs.setdefault(pod.campaign, set()).add(pod.attempt.run)
            for key, value in pod.labels.items():
                if not _KUBERNETES.match(key):
                    values.setdefault((pod.campaign, key), set()).add(value)
    return [
        f"label {key} has {len(seen)} values for {len(runs[campaign])} runs"
        for (campaign, key), seen in sorted(values.items())
        if _grows(len(seen), len(runs[campaign]))
    ]


def metric_labels_do_not_grow(timeline: Timeline) -> list[str]:
    """8, second half: no label of the operator's metrics has a value for every run."""
    runs = {pod.attempt for pod in timeline.pods("run") if pod.attempt is not None}
    names = {attempt.run for attempt in runs}
    values: dict[str, set[str]] = {}
    for line in timeline.metrics.splitlines():
        sample = _SAMPLE.match(line)
        for key, value in _LABEL.findall(sample["labels"]) if sample else ():
            if key not in _BOUNDED:
                values.setdefault(key, set()).add(value)
    found = [
        f"metric label {key} has {len(seen)} values for {len(names)} runs"
        for key, seen in sorted(values.items())
        if _grows(len(seen), len(names))
    ]
    return found + [
        f"metric label {key} names the run {sorted(seen & names)[0]}"
        for key, seen in sorted(values.items())
        if seen & names
    ]


def _grows(values: int, runs: int) -> bool:
    return runs >= ENOUGH_RUNS and (values >= runs or values > MOST_VALUES)


def _firsts(pods: Iterable[PodSeen]) -> list[PodSeen]:
    """The first sighting of each pod."""
    found: dict[str, PodSeen] = {}
    for pod in pods:
        found.setdefault(pod.uid, pod)
    return list(found.values())
