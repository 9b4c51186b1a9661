"""A campaign's analysis as the operator sees to it: what it reads, when it runs, what it said."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from agentbench.api.campaign import VerdictSummary
from agentbench.app.adjudications import keep_adjudications
from agentbench.app.campaign import Campaign
from agentbench.app.held import Held
from agentbench.app.passes import Passes
from agentbench.app.settings import Settings
from agentbench.app.status import AnalysisSays, Say
from agentbench.app.trouble import RowConflict
from agentbench.core.decide import CampaignPhase
from agentbench.core.digest import canonical, sha256_of
from agentbench.core.keys import latest_key, protocol_key, published_key
from agentbench.core.publication import (
    LATEST_LIMIT,
    Latest,
    decode_latest,
)
from agentbench.core.registered import RegisteredError, decode_registered, encode_registered
from agentbench.kube.cluster import Cluster
from agentbench.kube.manifests.analysis import (
    CONTAINER,
    AnalysisKey,
    analysis_cron,
    last_analysis,
)
from agentbench.kube.manifests.network import policy
from agentbench.kube.names import ANALYSIS_ROLE, MANIFEST_ANNOTATION, analysis_name
from agentbench.kube.settings import AnalysisPlace
from agentbench.kube.view import PodView, message_json
from agentbench.store.port import Conflict, NotFound, Store

LOOK_AGAIN = timedelta(minutes=10)
"""How long the newest result may go unread while no analysis of ours has ended."""

CREDENTIAL_WINDOW = 7 * 24 * 3600
"""Seconds after which the gateway credential is made anew; it holds for one to two of these."""

LOG_SHOWN = 1000
"""Characters of the end of a log, where a program ended without words of its own."""

_PASSING = ("ContainerCreating", "PodInitializing", "")


SUBJECT = "analysis"
"""The name under which its troubles and waits are kept, beside those of runs."""


class Analyses:
    """Keeps every campaign's analysis in step with it."""

    def __init__(self, cluster: Cluster, settings: Settings) -> None:
        self._cluster = cluster
        self._settings = settings

    async def advance(self, held: Held, phase: CampaignPhase, now: datetime) -> None:
        """Store what an analysis reads, see what it has published, and have it run when due.

        Trouble is named in a condition, and stops nothing else.
        """
        if held.rests(SUBJECT, now):
            return
        held.waits.pop(SUBJECT, None)
        with held.spoken(SUBJECT, now):
            await self._register(held)
            await keep_adjudications(held, now)
            await self._look(held, list(held.pods.analyses.values()), now)
            await self._have_run(held, phase, now)

    def said(self, held: Held) -> AnalysisSays:
        """What the campaign's status says of its analysis."""
        latest, failure = held.analysis.latest, held.analysis.failure
        verdict = summary_of(held.campaign, latest) if latest else None
        if self._settings.analysis is None:
            message = "this installation runs no analysis: set analysis.enabled in the chart"
            return AnalysisSays(Say("Published", False, "AnalysisOff", message), verdict)
        if not has_keys(held.campaign):
            return AnalysisSays(
                Say(
                    "Published",
                    False,
                    "NoStoreKeys",
                    "spec.store.secretRef is missing: an analysis pod has no identity of its own "
                    "and needs the Secret's keys; rows are stored, analyse them where keys are",
                ),
                verdict,
            )
        if failure:
            return AnalysisSays(Say("Published", False, "AnalysisFailed", failure), verdict)
        if latest is None:
            return AnalysisSays(Say("Published", False, "NotYet"))
        message = f"{latest.scored} of {latest.planned} runs: {verdict.url if verdict else ''}"
        return AnalysisSays(Say("Published", True, "Published", message), verdict)

    async def _register(self, held: Held) -> None:
        """Store the protocol, with its amendments so far."""
        campaign = held.campaign
        count = len(campaign.spec.protocol.amendments)
        if held.analysis.registered != count:
            await held.hands.line.ask(_register, campaign, held.hands.line.store)
            held.analysis.registered = count

    async def _look(self, held: Held, pods: Sequence[PodView], now: datetime) -> None:
        """Read the newest result when an analysis has ended, and now and then."""
        analysis = held.analysis
        finished = frozenset(pod.uid for pod in pods if pod.ended)
        due = analysis.looked is None or now - analysis.looked >= LOOK_AGAIN
        if due or not finished <= analysis.finished:
            line = held.hands.line
            analysis.latest = await line.ask(_latest, line.store, held.campaign.name)
            analysis.looked = now
        analysis.finished = finished
        if pods:
            analysis.failure = failure_of(max(pods, key=lambda pod: (pod.created, pod.name)))

    async def _have_run(self, held: Held, phase: CampaignPhase, now: datetime) -> None:
        """Make the CronJob what it should be, and start an analysis after the last row."""
        how, analysis, campaign = self._settings.analysis, held.analysis, held.campaign
        if how is None or not has_keys(campaign):
            return
        rows = held.ledger.rows
        settled = phase.ended and is_settled(held, rows)
        key = self._key(campaign, now)
        await self._make(held, key, how, suspend=settled)
        behind = analysis.latest is None or analysis.latest.rows < rows
        if phase.ended and not settled and behind and rows not in analysis.asked:
            job = last_analysis(key, self._settings.place, how, rows)
            await held.hands.maker.ensure(job, campaign.uid)
            analysis.asked.add(rows)

    async def _make(
        self, held: Held, key: AnalysisKey, how: AnalysisPlace, *, suspend: bool
    ) -> None:
        campaign, place = held.campaign, self._settings.place
        manifest = analysis_cron(key, place, how, suspend=suspend)
        digest = sha256_of(canonical(manifest["spec"]))
        if held.analysis.made == digest:
            return
        manifest["metadata"]["annotations"] = {MANIFEST_ANNOTATION: digest}
        if not held.analysis.made:
            shut = policy(campaign.namespace, campaign.name, campaign.uid, ANALYSIS_ROLE, place)
            await held.hands.maker.ensure(shut, campaign.uid)
        found = await held.hands.maker.ensure(manifest, campaign.uid)
        notes = found["metadata"].get("annotations") or {}
        if notes.get(MANIFEST_ANNOTATION) != digest:
            await self._cluster.replace(manifest)
        held.analysis.made = digest

    def _key(self, campaign: Campaign, now: datetime) -> AnalysisKey:
        store = campaign.spec.store
        assert store is not None  # a campaign without one was refused
        window = int(now.timestamp()) // CREDENTIAL_WINDOW
        passes = Passes(
            campaign,
            self._settings,
            analysis_name(campaign.uid),
            (window + 2) * CREDENTIAL_WINDOW,
        )
        return AnalysisKey(
            namespace=campaign.namespace,
            campaign=campaign.name,
            campaign_uid=campaign.uid,
            store=store,
            store_secret=store.secret_ref or "",
            proxy=passes.url("store"),
            node_class=campaign.spec.node_class,
        )


def is_settled(held: Held, rows: int) -> bool:
    """Whether the newest result counts everything that there is; `rows` of them are stored."""
    latest = held.analysis.latest
    if latest is None:
        return not rows
    amendments = len(held.campaign.spec.protocol.amendments)
    return latest.covers(rows, len(held.analysis.judged), amendments)


def has_keys(campaign: Campaign) -> bool:
    """Whether an analysis pod can be given keys for the campaign's store."""
    store = campaign.spec.store
    return store is not None and store.secret_ref is not None


def summary_of(campaign: Campaign, latest: Latest) -> VerdictSummary:
    """The verdict in a campaign's status."""
    store = campaign.spec.store
    prefix = store.url.rstrip("/") if store else ""
    return VerdictSummary(
        published=latest.number,
        headline=latest.headline,
        hypotheses=dict(latest.hypotheses),
        claims=dict(latest.claims),
        scored=latest.scored,
        planned=latest.planned,
        complete=latest.complete,
        digest=latest.results,
        at=latest.at,
        url=f"{prefix}/{published_key(campaign.name, latest.number, 'index.html')}",
    )


def failure_of(pod: PodView) -> str:
    """What the newest analysis pod could not do; empty if it did, or may still do it."""
    container = pod.container(CONTAINER)
    if pod.unschedulable:
        return f"pod {pod.name} is not scheduled: {pod.unschedulable}"
    if container is not None and container.waiting_reason not in _PASSING:
        return f"pod {pod.name}: {container.waiting_reason}: {container.waiting_message}"
    if pod.phase != "Failed":
        return ""
    said = message_json(container)
    if said is not None and said.get("message"):
        return str(said["message"])
    why = pod.reason or (container.ended_reason if container else "") or "look at its log"
    words = pod.message or (container.message.strip()[-LOG_SHOWN:] if container else "")
    return f"pod {pod.name} failed: {why}{': ' if words else ''}{words}"


def _register(campaign: Campaign, store: Store) -> None:
    """Store a protocol; one that says the same in other words is left as it is."""
    key = protocol_key(campaign.name, len(campaign.spec.protocol.amendments))
    try:
        store.create_only(key, encode_registered(campaign.name, campaign.digest, campaign.spec))
    except Conflict:
        try:
            there = decode_registered(store.get(key), key)
        except RegisteredError as error:
            raise RowConflict(str(error)) from error
        same = there.spec.protocol.amendments == campaign.spec.protocol.amendments
        if there.digest != campaign.digest or not same:
            raise RowConflict(
                f"{key} holds another protocol (digest {there.digest}); it was not changed: use "
                "another name or another prefix"
            ) from None


def _latest(store: Store, campaign: str) -> Latest | None:
    """The newest result, read within bounds; None if nothing is published."""
    key = latest_key(campaign)
    try:
        with store.open(key) as stream:
            content = stream.read(LATEST_LIMIT + 1)
    except NotFound:
        return None
    return decode_latest(content, key)
