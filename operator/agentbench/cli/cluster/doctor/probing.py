"""A probe from its first pod to its last trace: whatever happens, nothing of it is left."""

import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import FrameType
from typing import Any

from agentbench.cli.cluster.connection import Connection, Raw
from agentbench.cli.cluster.doctor.pods import (
    DOCTOR_LABEL,
    OPEN,
    PORT,
    SHUT,
    Bench,
    image_pod,
    listener,
    open_pod,
    shut_pod,
    shut_policy,
)
from agentbench.kube.errors import ClusterError, Denied
from agentbench.kube.faults import waiting
from agentbench.kube.view import ContainerView, PodView, message_json, pod_view

API_SERVER = "API server"
OTHER_POD = "another pod"
LEFT_BEHIND = timedelta(minutes=20)
_POLL = 0.5
_PULLING = ("ContainerCreating", "PodInitializing", "")


@dataclass(slots=True)
class Seen:
    """What a probe saw. `opened` and `shut` are None where that pod told nothing."""

    opened: Mapping[str, Any] | None = None
    shut: Mapping[str, Any] | None = None
    images: dict[str, str] = field(default_factory=dict)
    """Trouble by image; empty for one that was pulled."""
    troubles: list[str] = field(default_factory=list)
    node: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a probe looks for.

    `gateway` is the gateway's address by number, empty if it is not known; `asked` are requests
    to it by name: gateway, url and credential. `limit` is how long a policy may take to come into
    force and `patience` how long a pod may take to start, both in seconds.
    """

    gateway: str
    asked: Mapping[str, Mapping[str, str]]
    images: Sequence[str]
    limit: float = 30.0
    patience: float = 180.0


def probe(
    connection: Connection, bench: Bench, wanted: Wanted, note: Callable[[str], None]
) -> Seen:
    """Run a probe, and clean up after it, though it is interrupted.

    Raises:
        ClusterError: the cluster refuses its objects.
    """
    sweep(connection)
    with cleaned(connection, bench, note):
        return _run(connection, bench, wanted)


@contextmanager
def cleaned(connection: Connection, bench: Bench, note: Callable[[str], None]) -> Iterator[None]:
    """Delete a probe's objects when this is left; SIGTERM leaves it as Ctrl-C does."""

    def interrupted(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupted)
    try:
        yield
    finally:
        deaf = signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        try:
            remove(connection, bench.ident, note)
        finally:
            signal.signal(signal.SIGINT, deaf)
            signal.signal(signal.SIGTERM, before)


def remove(connection: Connection, ident: str, note: Callable[[str], None]) -> None:
    """Delete everything of one probe."""
    labels = f"{DOCTOR_LABEL}={ident}"
    for kind in ("pods", "networkpolicies"):
        try:
            for raw in connection.list(kind, labels=labels).items:
                connection.delete(kind, raw["metadata"]["name"], grace=0)
        except ClusterError as error:
            place = f"kubectl -n {connection.namespace} delete {kind} -l {labels}"
            note(f"A probe's {kind} may be left: {error}. Delete them: {place}")


def sweep(connection: Connection) -> None:
    """Delete what a doctor that was killed has left."""
    for kind in ("pods", "networkpolicies"):
        with suppress(Denied):
            for raw in connection.list(kind, labels=DOCTOR_LABEL).items:
                made = datetime.fromisoformat(raw["metadata"]["creationTimestamp"])
                if datetime.now(tz=UTC) - made > LEFT_BEHIND:
                    connection.delete(kind, raw["metadata"]["name"], grace=0)


def _run(connection: Connection, bench: Bench, wanted: Wanted) -> Seen:
    seen = Seen()
    connection.create("networkpolicies", shut_policy(bench))
    connection.create("pods", listener(bench))
    if wanted.images:
        connection.create("pods", image_pod(bench, wanted.images))
    heard = _await(connection, bench.name("listener"), wanted.patience, _has_address)
    address = str(heard.get("status", {}).get("podIP", ""))
    seen.node = heard["spec"].get("nodeName", "")
    if not address or heard["status"].get("phase") != "Running":
        seen.troubles.append(trouble(pod_view(heard), "listener"))
    else:
        host = f"[{address}]" if ":" in address else address
        others = {OTHER_POD: f"{host}:{PORT}", API_SERVER: "kubernetes"}
        connection.create("pods", open_pod(bench, others, wanted.limit))
        connection.create(
            "pods", shut_pod(bench, others, wanted.gateway, wanted.asked, wanted.limit)
        )
        patience = wanted.patience + 2 * wanted.limit
        for part in (OPEN, SHUT):
            ended = pod_view(_await(connection, bench.name(part), patience, _has_ended))
            said = message_json(ended.container("probe"))
            if said is None:
                seen.troubles.append(trouble(ended, part))
            elif part == OPEN:
                seen.opened = said
            else:
                seen.shut = said
    if wanted.images:
        found = _await(connection, bench.name("images"), wanted.patience, _has_pulled)
        seen.images = pulled(pod_view(found), wanted.images)
    return seen


def trouble(pod: PodView, part: str) -> str:
    """Why a probe pod told nothing."""
    container = pod.container("probe")
    if container is not None and container.ended:
        why = container.message.strip().splitlines()[-1:] or [container.ended_reason]
        return f"the {part} pod ended with {container.exit_code}: {why[0]}"
    found = waiting(pod, datetime.now(tz=UTC))
    why_not = f"{found.reason}: {found.detail}" if found else pod.message or pod.phase
    return f"the {part} pod did not start: {why_not}"


def pulled(pod: PodView, images: Sequence[str]) -> dict[str, str]:
    """Trouble by image, empty for one that is on the node."""
    if pod.unschedulable:
        return dict.fromkeys(images, f"no node takes the pod: {pod.unschedulable}")
    found = {}
    for number, image in enumerate(images):
        view = pod.container(f"image-{number}")
        found[image] = _pull_trouble(view)
    return found


def _pull_trouble(view: ContainerView | None) -> str:
    if view is None:
        return "was not begun"
    if view.started or view.image_id:
        return ""
    if view.waiting_reason in _PULLING:
        return "is still being pulled"
    if view.waiting_reason in _NOT_PULLED:
        return f"{view.waiting_reason}: {view.waiting_message}".rstrip(": ")
    return ""  # it was pulled, and its container fails for another reason: no matter here


_NOT_PULLED = (
    "ErrImagePull",
    "ImagePullBackOff",
    "InvalidImageName",
    "ErrImageNeverPull",
    "RegistryUnavailable",
    "ImageInspectError",
)


def _await(
    connection: Connection, name: str, seconds: float, enough: Callable[[PodView, Raw], bool]
) -> Raw:
    """A pod as soon as enough is known of it, or as it is when patience ends."""
    end = time.monotonic() + seconds
    while True:
        raw = connection.get("pods", name)
        if enough(pod_view(raw), raw) or time.monotonic() > end:
            return raw
        time.sleep(_POLL)


def _has_address(pod: PodView, raw: Raw) -> bool:
    running = pod.phase == "Running" and bool(raw["status"].get("podIP"))
    return running or _hopeless(pod)


def _has_ended(pod: PodView, _raw: Raw) -> bool:
    return pod.ended or _hopeless(pod)


def _has_pulled(pod: PodView, _raw: Raw) -> bool:
    views = [view for name, view in pod.containers.items() if name.startswith("image-")]
    settled = [view for view in views if not _pull_trouble(view) or _refused(view)]
    return pod.ended or (bool(views) and len(settled) == len(views))


def _hopeless(pod: PodView) -> bool:
    return pod.ended or any(_refused(view) for view in pod.containers.values())


def _refused(view: ContainerView) -> bool:
    """Whether an image will not come: a first refusal may pass, a back-off is the second."""
    return view.waiting_reason in _NOT_PULLED and view.waiting_reason != "ErrImagePull"
