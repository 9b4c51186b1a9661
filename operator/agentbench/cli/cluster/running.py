"""`agent-bench run --cluster`: push, apply, follow."""

from collections.abc import Callable
from typing import Any

from agentbench.app.campaign import Refused, read_campaign
from agentbench.cli.cluster.access import store_of
from agentbench.cli.cluster.connection import Connection, Raw
from agentbench.cli.cluster.errors import BadCluster, FieldConflict
from agentbench.cli.cluster.following import Follower
from agentbench.cli.cluster.options import Reach
from agentbench.cli.cluster.paths import CAMPAIGNS
from agentbench.cli.cluster.pushing import Pushing
from agentbench.cli.exits import Exit
from agentbench.cli.options import S3Wishes
from agentbench.cli.progress import JsonLines, Progress
from agentbench.cli.pushing import is_pushed, push
from agentbench.cli.remote import Remote
from agentbench.cli.screen import Screen, count
from agentbench.core.decide import CampaignPhase
from agentbench.core.plan import plan
from agentbench.pack.load import Pack, frozen_pack
from agentbench.pack.problems import PackInvalid
from agentbench.pack.verify import require_verified

STEERED = ("suspend", "cancel")
"""Fields that have commands of their own: applying a manifest again must not undo those."""


def run_on_cluster(
    path: Any, reach: Reach, s3: S3Wishes, *, dry_run: bool, push_bundle: bool, as_json: bool
) -> Exit:
    """Carry a frozen campaign to its end on a cluster.

    Raises:
        PackInvalid: the manifest is not what was frozen; nothing was written.
        BadCluster: the cluster or the manifest cannot be used.
        ClusterError, StoreError: one of them refuses, or does not answer.
    """
    pack = frozen_pack(path)
    require_verified(pack)
    named = pack.campaign.metadata.get("namespace")
    connection = Reach(reach.kubeconfig, reach.context, reach.namespace or named).connect()
    manifest = manifest_of(pack, connection.namespace)
    _require_fit(pack, manifest)
    _require_same(connection, pack)
    screen = Screen(as_json=as_json)
    where = f"namespace {connection.namespace}, context {connection.context}"
    if dry_run:
        screen.say(f"{count(len(plan(pack.spec)), 'run')} would start in {where}.")
        return Exit.OK
    store = store_of(connection, pack.spec.store, s3.remote(""))
    if push_bundle:
        _push(pack, store, screen)
    apply(connection, manifest, screen.note)
    screen.note(f"Applied {pack.name} in {where}.")
    return follow(connection, pack, store, screen)


def follow(connection: Connection, pack: Pack, store: Remote, screen: Screen) -> Exit:
    """Tell a campaign's progress; Ctrl-C ends the telling and not the campaign."""
    tell = JsonLines() if screen.as_json else Progress(screen, pack.spec, store)
    on = f"--cluster -n {connection.namespace}"
    follower = Follower(
        connection=connection, name=pack.name, spec=pack.spec, tell=tell, note=screen.note
    )
    try:
        with tell:
            phase = follower.follow()
    except KeyboardInterrupt:
        screen.note(
            f"The campaign goes on in the cluster. The same command watches it again; "
            f"agent-bench suspend {pack.name} {on} starts no more runs, "
            f"agent-bench cancel {pack.name} {on} ends it."
        )
        return Exit.INTERRUPTED
    return _ended(phase, pack.name, on, screen)


def manifest_of(pack: Pack, namespace: str) -> Raw:
    """The manifest as it is applied: what people wrote, without what commands steer."""
    document = pack.source.data
    spec = {name: value for name, value in document["spec"].items() if name not in STEERED}
    spec |= {name: True for name in STEERED if document["spec"].get(name)}
    return {
        "apiVersion": document["apiVersion"],
        "kind": document["kind"],
        "metadata": {**document["metadata"], "namespace": namespace},
        "spec": spec,
    }


def apply(connection: Connection, manifest: Raw, note: Callable[[str], None]) -> Raw:
    """Apply a manifest; what others have set of how it is carried out stays as they set it.

    Raises:
        Invalid: the API server refuses it, such as a change of a frozen field.
    """
    try:
        return connection.apply(CAMPAIGNS, manifest)
    except FieldConflict as conflict:
        fields = [name.removeprefix(".spec.") for name in conflict.fields]
        if any(field not in manifest["spec"] for field in fields):
            raise
        for field in fields:
            note(
                f"spec.{field} stays as somebody else has set it ({manifest['spec'][field]} here)."
            )
        rest = {name: value for name, value in manifest["spec"].items() if name not in fields}
        return connection.apply(CAMPAIGNS, {**manifest, "spec": rest})


def _require_fit(pack: Pack, manifest: Raw) -> None:
    """What the operator would refuse is refused here, before anything is written."""
    meta = {**manifest["metadata"], "uid": ""}
    try:
        read_campaign({**manifest, "metadata": meta})
    except Refused as error:
        raise BadCluster(f"{pack.source.file}: {error} ({error.reason})") from error


def _require_same(connection: Connection, pack: Pack) -> None:
    """A campaign's name belongs to one digest."""
    there = connection.find(CAMPAIGNS, pack.name)
    freeze = pack.spec.protocol.freeze
    found = ((there or {}).get("spec", {}).get("protocol", {}).get("freeze") or {}).get("digest")
    if there is not None and freeze is not None and found != freeze.digest:
        raise BadCluster(
            f"namespace {connection.namespace} has a campaign {pack.name} of another protocol "
            f"({found or 'a draft'}; here {freeze.digest}): use another namespace, or another "
            "metadata.name in a new freeze"
        )


def _push(pack: Pack, store: Remote, screen: Screen) -> None:
    opened = store.open()
    if is_pushed(pack, opened):
        return
    screen.note(f"Pushing the bundle to {store}.")
    try:
        with Pushing(screen) as tell:
            push(pack, opened, tell, verify=False)
    except PackInvalid as error:
        raise BadCluster(
            f"{store} has no bundle of this campaign, and there is none here to push: {error}"
        ) from error


def _ended(phase: CampaignPhase, name: str, on: str, screen: Screen) -> Exit:
    match phase:
        case CampaignPhase.COMPLETE:
            screen.note(f"Complete. Next: agent-bench report {name} {on}")
            return Exit.OK
        case CampaignPhase.SUSPENDED:
            screen.note(f"Suspended, and no run is live; agent-bench resume {name} {on} goes on.")
            return Exit.INTERRUPTED
        case CampaignPhase.OUT_OF_BUDGET:
            screen.note(
                f"{name}: spec.budget.totalUSD: the budget has no room for another run's cap. "
                "What was run stays; a larger budget is an amendment."
            )
            return Exit.NEGATIVE
    screen.note(f"{phase}: what was recorded stays.")
    return Exit.NEGATIVE
