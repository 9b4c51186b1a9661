"""What nodes and controllers do to pods and Jobs in memory, one step at a time."""

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tests.fakes.api_objects import Objects, Raw
from tests.fakes.memory_store import MemoryStore

from agentbench.core.keys import artifact_key
from agentbench.core.summary import Ending, StoredFile, Summary

FINAL = StoredFile(name="final.tar.zst", sha256="0" * 64, size=100)
NODE = "node"
GRACE = 60  # seconds that a pod is given to end
SIDECARS = ("service-db", "warden")


@dataclass
class Kubelets:
    """One node that may go out of reach, and the Job controller."""

    objects: Objects
    store: MemoryStore
    campaign: str
    ready: bool = True
    stubborn: bool = False
    """Whether services ignore their signal: a pod goes on when its agent is gone."""
    started: list[tuple[str, int]] = field(default_factory=list)
    """Every start of an agent: run and attempt."""

    def node_is(self, ready: bool) -> None:
        """The node goes out of reach, its pods to be deleted; or it comes back without them."""
        self.ready = ready
        self.objects.of("Node")["", NODE] = {
            "metadata": {"name": NODE, "uid": NODE, "labels": {}},
            "status": {"conditions": [{"type": "Ready", "status": "True" if ready else "Unknown"}]},
        }
        for name, pod in list(self.objects.of("Pod").items()):
            if not pod["spec"].get("nodeName") or _final(pod):
                continue
            if ready:
                self._power_cut(name, pod)
            else:
                pod["metadata"].setdefault("deletionTimestamp", self.objects.text())
                pod["status"]["conditions"] = [
                    {
                        "type": "DisruptionTarget",
                        "status": "True",
                        "reason": "DeletionByTaintManager",
                    }
                ]

    def step(self, pod: Raw) -> None:
        """Bring one pod one step forward."""
        name = (pod["metadata"]["namespace"], pod["metadata"]["name"])
        if not pod["spec"].get("nodeName"):
            if self.ready:
                pod["spec"]["nodeName"] = NODE
                pod["status"]["phase"] = "Pending"
            return
        if not self.ready:
            return
        role = pod["metadata"]["labels"]["agentbench.dev/role"]
        if "deletionTimestamp" in pod["metadata"]:
            if role == "run" and _agent_runs(pod):
                self._summary(pod, interrupted="its pod was deleted while it ran")
            if not (self.stubborn and _service_runs(pod)) or self._grace_is_over(pod):
                self.objects.remove("Pod", name)
        elif role == "grader":
            job = pod["metadata"]["ownerReferences"][0]["name"]
            if _final(pod) or not self._equipped((name[0], job)):
                return
            _end(pod, "check", json.dumps({"verdict": "pass", "exitCode": 0}), self.objects.text())
        elif _agent_runs(pod) and self.stubborn:
            pod["status"]["containerStatuses"] = [_over("agent", "", self.objects.text())]
        elif _agent_runs(pod) or _service_runs(pod):
            message = self._summary(pod)
            if not self.stubborn:
                _end(pod, "agent", "", self.objects.text(), warden=message)
        elif not _final(pod) and self._equipped(name):
            self._start(pod)

    def _grace_is_over(self, pod: Raw) -> bool:
        asked = datetime.fromisoformat(pod["metadata"]["deletionTimestamp"])
        return (self.objects.now - asked).total_seconds() > GRACE

    def controllers(self) -> None:
        """The Job controller makes the pods of Jobs once, and says when all have ended."""
        for job in self.objects.of("Job").values():
            meta, spec = job["metadata"], job["spec"]
            if not job["status"].get("made"):
                if self.objects.pods_are_denied:
                    continue
                for index in range(spec["completions"]):
                    self._grader(job, index)
                job["status"]["made"] = True
            pods = [p for p in self.objects.pods("grader") if _owned(p, meta["uid"])]
            if all(_final(pod) for pod in pods):
                kind = "Complete" if len(pods) == spec["completions"] else "Failed"
                job["status"]["conditions"] = [{"type": kind, "status": "True"}]

    def _grader(self, job: Raw, index: int) -> None:
        template = job["spec"]["template"]["metadata"]
        notes = {"batch.kubernetes.io/job-completion-index": str(index)}
        self.objects.create(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {
                    "namespace": job["metadata"]["namespace"],
                    "name": f"{job['metadata']['name']}-{index}-{job['metadata']['uid']}",
                    "labels": template["labels"],
                    "annotations": {**template["annotations"], **notes},
                    "ownerReferences": [
                        {
                            "uid": job["metadata"]["uid"],
                            "name": job["metadata"]["name"],
                            "controller": True,
                        }
                    ],
                },
                "spec": {"nodeName": NODE if self.ready else ""},
            }
        )

    def _equipped(self, name: tuple[str, str]) -> bool:
        return name in self.objects.of("Secret")

    def _start(self, pod: Raw) -> None:
        """The warden claims the attempt, and starts an agent if none was started before."""
        run, attempt = _attempt(pod)
        key = artifact_key(self.campaign, run, attempt, "started.json")
        now = {"running": {"startedAt": self.objects.text()}}
        pod["status"] |= {
            "phase": "Running",
            "containerStatuses": [{"name": "agent", "state": now}],
            "initContainerStatuses": [{"name": each, "state": now} for each in SIDECARS],
        }
        if key not in self.store.content:
            self.store.content[key] = b"{}"
            self.started.append((run, attempt))

    def _summary(self, pod: Raw, **fields: Any) -> str:
        run, attempt = _attempt(pod)
        ending = Ending.STOPPED if fields else Ending.FINISHED
        said = Summary(
            run=run, attempt=attempt, ending=ending, files={FINAL.name: FINAL}, **fields
        ).model_dump_json(exclude_defaults=True)
        key = artifact_key(self.campaign, run, attempt, "summary.json")
        self.store.content.setdefault(key, said.encode())
        return said

    def _power_cut(self, name: tuple[str, str], pod: Raw) -> None:
        if "deletionTimestamp" in pod["metadata"]:
            self.objects.remove("Pod", name)
        elif pod["status"].get("containerStatuses"):
            main = pod["status"]["containerStatuses"][0]["name"]
            _end(pod, main, "", self.objects.text(), code=137)


def _attempt(pod: Raw) -> tuple[str, int]:
    notes = pod["metadata"]["annotations"]
    return notes["agentbench.dev/run"], int(notes["agentbench.dev/attempt"])


def _owned(pod: Raw, uid: str) -> bool:
    return any(owner["uid"] == uid for owner in pod["metadata"]["ownerReferences"])


def _final(pod: Raw) -> bool:
    return pod["status"].get("phase") in ("Succeeded", "Failed")


def _agent_runs(pod: Raw) -> bool:
    return _runs(pod, "containerStatuses", "agent")


def _service_runs(pod: Raw) -> bool:
    return _runs(pod, "initContainerStatuses", SIDECARS[0])


def _runs(pod: Raw, kind: str, name: str) -> bool:
    return any(
        each["name"] == name and "running" in each["state"] for each in pod["status"].get(kind, ())
    )


def _over(name: str, text: str, now: str, code: int = 0) -> Raw:
    state = {"exitCode": code, "reason": "Completed", "message": text}
    return {"name": name, "state": {"terminated": state | {"startedAt": now, "finishedAt": now}}}


def _end(
    pod: Raw, main: str, message: str, now: str, warden: str | None = None, code: int = 0
) -> None:
    pod["status"] |= {
        "phase": "Failed" if code else "Succeeded",
        "containerStatuses": [_over(main, message, now, code)],
        "initContainerStatuses": [_over("warden", warden or "", now, code)]
        if main == "agent"
        else [],
    }
