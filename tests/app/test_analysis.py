"""The operator has every campaign analysed, and says what came of it."""

import dataclasses
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.memory_cluster import MemoryCluster
from tests.fakes.published import NAME, NOW, StoredCampaign

from agentbench.api.run import AdjudicationEntry, AttemptStatus
from agentbench.app.analysis import CREDENTIAL_WINDOW, Analyses
from agentbench.app.campaign import Campaign
from agentbench.app.held import Held
from agentbench.app.ledger import Ledger, RunFacts
from agentbench.app.line import Line
from agentbench.app.perform import Hands
from agentbench.app.settings import Settings
from agentbench.app.world import CampaignPods
from agentbench.core.credentials import read
from agentbench.core.decide import CampaignPhase
from agentbench.core.digest import digest
from agentbench.core.keys import adjudications_prefix, protocol_prefix, row_key
from agentbench.core.plan import plan
from agentbench.core.standing import Standing
from agentbench.kube.settings import AnalysisPlace, Place
from agentbench.kube.view import PodView, pod_view
from agentbench.store.folder import FolderStore
from agentbench_analysis.rows.words import Cause, Outcome

PLACE = Place(image="pod@sha256:1", gateway="10.0.0.1:3128", forbidden="10.0.0.2:443")
HOW = AnalysisPlace(image="operator@sha256:2")
RUNNING, COMPLETE = CampaignPhase.RUNNING, CampaignPhase.COMPLETE


class Scene:
    """A campaign as the operator holds it, with a store in a folder."""

    def __init__(self, folder: Path, how: AnalysisPlace | None = HOW, secret: str | None = "s"):
        where: dict[str, Any] = {"url": "s3://bucket/some", "endpoint": "http://s3.test:9000"}
        where |= {"secretRef": secret} if secret else {}
        self.stored = StoredCampaign.make(
            FolderStore(folder / "store"), folder / "pack", store=where
        )
        self.cluster = MemoryCluster()
        settings = Settings(place=PLACE, gateway_key=b"k" * 32, analysis=how)
        self.analyses = Analyses(self.cluster, settings)  # type: ignore[arg-type]
        spec = self.stored.spec
        campaign = Campaign(
            name=NAME,
            namespace="bench",
            uid="uid-c",
            generation=1,
            spec=spec,
            digest=digest(spec),
            runs=plan(spec),
        )
        line = Line(self.stored.store)  # type: ignore[arg-type]
        hands = Hands(self.cluster, settings, campaign, None, line)  # type: ignore[arg-type]
        ledger = Ledger(Standing(campaign.runs, campaign.limits.cap))
        self.held = Held(campaign, hands, ledger, CampaignPods(), {})
        self.now = NOW

    def row(self, stack: str, repeat: int, *, passed: bool = True) -> RunFacts:
        """Record a run: its row, and what the ledger knows of it."""
        run = self.stored.row(stack, repeat, passed=passed)
        attempt = AttemptStatus(
            number=1,
            phase="Recorded",
            outcome=Outcome.PASS if passed else Outcome.FAIL,
            cause=None if passed else Cause.TASK,
            row_key=row_key(NAME, run, 1),
        )
        entry = RunFacts(run=run, name=run.lower(), uid=f"uid-{run}", attempts=(attempt,))
        self.held.ledger.runs[run] = entry
        self.held.ledger.rows += 1
        return entry

    def judge(self, entry: RunFacts, *said: AdjudicationEntry) -> None:
        """Say something of a run."""
        assert self.held.ledger.judge(entry.run, said)

    async def tick(self, phase: CampaignPhase = RUNNING, *pods: PodView) -> None:
        self.held.pods.analyses = {pod.name: pod for pod in pods}
        self.held.troubles.pop("analysis", None)  # its time to rest is over
        await self.analyses.advance(self.held, phase, self.now)

    def cron(self) -> dict[str, Any]:
        (found,) = self.cluster.kind("CronJob")
        return found

    @property
    def published(self) -> tuple[bool, str, str]:
        """Status, reason and message of the condition."""
        say = self.analyses.said(self.held).published
        return say.status, say.reason, say.message


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def a_pod(name: str = "p1", message: dict[str, Any] | None = None, **state: Any) -> PodView:
    """An analysis pod that has ended, unless told otherwise."""
    code = (message or {}).get("code", 0)
    ended = {"terminated": {"exitCode": code, "message": json.dumps(message) if message else ""}}
    return pod_view(
        {
            "metadata": {
                "name": name,
                "uid": f"uid-{name}",
                "creationTimestamp": "2026-11-30T12:00:00Z",
                "labels": {"agentbench.dev/role": "analysis"},
            },
            "status": {
                "phase": "Failed" if code else "Succeeded",
                "containerStatuses": [{"name": "publish", "state": ended}],
            }
            | state,
        }
    )


async def test_what_an_analysis_reads_is_in_the_store_and_its_cronjob_is_made_once(
    scene: Scene,
) -> None:
    await scene.tick()
    await scene.tick()
    assert list(scene.stored.store.list(protocol_prefix(NAME))) == [f"{NAME}/protocol/0.json"]
    assert scene.cron()["spec"]["suspend"] is False
    assert [found["kind"] for found in scene.cluster.objects.values()] == [
        "NetworkPolicy",
        "CronJob",
    ]
    assert scene.cluster.requests == {"create": 2}
    assert scene.published == (False, "NotYet", "")


async def test_the_verdict_comes_into_the_status_when_an_analysis_has_ended(scene: Scene) -> None:
    scene.row("S1", 1)
    scene.row("S2", 1)
    await scene.tick()
    scene.stored.publisher().publish()
    await scene.tick()
    assert scene.analyses.said(scene.held).verdict is None, "nobody told it to look"
    await scene.tick(RUNNING, a_pod())
    verdict = scene.analyses.said(scene.held).verdict
    assert verdict is not None
    assert (verdict.published, verdict.scored, verdict.planned) == (1, 2, 6)
    assert verdict.hypotheses["AB-H4"] == "not computable"
    assert set(verdict.claims) == {"AB-C1", "AB-C2", "AB-C3"}
    assert verdict.url == f"s3://bucket/some/{NAME}/published/1/index.html"
    assert scene.published[:2] == (True, "Published")


async def test_a_result_that_somebody_else_published_is_found_in_time(scene: Scene) -> None:
    scene.row("S1", 1)
    scene.row("S2", 1)
    await scene.tick()
    scene.stored.publisher().publish()
    scene.now += timedelta(minutes=11)
    await scene.tick()
    assert scene.published[:2] == (True, "Published")


async def test_the_last_row_is_followed_by_one_analysis_at_once(scene: Scene) -> None:
    scene.row("S1", 1)
    scene.row("S2", 1)
    await scene.tick(COMPLETE)
    await scene.tick(COMPLETE)
    (job,) = scene.cluster.kind("Job")
    assert job["metadata"]["name"].endswith("-2")
    assert job["metadata"]["ownerReferences"][0]["uid"] == "uid-c"
    assert scene.cron()["spec"]["suspend"] is False, "until its result is out"


async def test_a_settled_campaign_is_analysed_no_more_until_somebody_adds_a_word(
    scene: Scene,
) -> None:
    entry = scene.row("S1", 1, passed=False)
    scene.row("S2", 1)
    await scene.tick(COMPLETE)
    scene.stored.publisher().publish()
    await scene.tick(COMPLETE, a_pod())
    assert scene.cron()["spec"]["suspend"] is True
    scene.judge(entry, an_entry())
    await scene.tick(COMPLETE, a_pod())
    assert scene.cron()["spec"]["suspend"] is False
    assert len(scene.cluster.kind("Job")) == 1, "the schedule sees to it"
    assert scene.stored.publisher().publish().latest.adjudications == 1
    await scene.tick(COMPLETE, a_pod("p2"))
    assert scene.cron()["spec"]["suspend"] is True


async def test_an_amendment_is_registered_and_asks_for_a_new_result(scene: Scene) -> None:
    scene.row("S1", 1)
    scene.row("S2", 1)
    await scene.tick(COMPLETE)
    scene.stored.publisher().publish()
    await scene.tick(COMPLETE, a_pod())
    assert scene.cron()["spec"]["suspend"] is True
    scene.stored.amend()
    campaign = dataclasses.replace(scene.held.campaign, spec=scene.stored.spec, generation=2)
    scene.held.campaign = campaign
    await scene.tick(COMPLETE)
    assert scene.cron()["spec"]["suspend"] is False
    done = scene.stored.publisher().publish().latest
    assert (done.number, done.amendments) == (2, 1)


async def test_a_campaign_cancelled_before_its_first_row_is_settled(scene: Scene) -> None:
    await scene.tick(CampaignPhase.CANCELLED)
    assert scene.cron()["spec"]["suspend"] is True
    assert scene.cluster.kind("Job") == []


async def test_a_restarted_operator_finds_what_it_made_and_mends_what_differs(
    scene: Scene, tmp_path: Path
) -> None:
    await scene.tick()
    again = Analyses(
        scene.cluster,  # type: ignore[arg-type]
        Settings(
            place=PLACE,
            gateway_key=b"k" * 32,
            analysis=HOW.model_copy(update={"image": "operator@sha256:3"}),
        ),
    )
    scene.held.analysis = type(scene.held.analysis)()
    await again.advance(scene.held, RUNNING, scene.now)
    pod = scene.cron()["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    assert pod["containers"][0]["image"] == "operator@sha256:3"
    assert scene.cluster.requests["replace"] == 1


async def test_its_credential_reaches_the_store_alone_and_is_renewed_before_its_end(
    scene: Scene,
) -> None:
    def proxy() -> str:
        pod = scene.cron()["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        variables = {entry["name"]: entry.get("value", "") for entry in pod["containers"][0]["env"]}
        return str(variables["HTTPS_PROXY"])

    seen = set()
    for _ in range(40):
        await scene.tick()
        entry = read(proxy().removeprefix("http://").split(":")[0])
        assert (entry.kind, entry.hosts) == ("store", ("s3.test:9000",))
        assert entry.expires - scene.now.timestamp() >= CREDENTIAL_WINDOW
        seen.add(entry.expires)
        scene.now += timedelta(days=1)
    assert 6 <= len(seen) <= 7


async def test_what_an_analysis_could_not_do_is_said_in_its_words(scene: Scene) -> None:
    said = {"code": 1, "message": "tiny/rows/x/1.json: schema: is not a document. Remove it."}
    await scene.tick(RUNNING, a_pod(message=said))
    assert scene.published == (False, "AnalysisFailed", said["message"])
    later = a_pod("p2", {"code": 0, "message": "published"})
    await scene.tick(RUNNING, a_pod(message=said), later)
    assert scene.published[1] == "NotYet"


async def test_of_a_program_that_broke_the_end_of_its_log_is_said(scene: Scene) -> None:
    ended = {"exitCode": 1, "reason": "Error", "message": "Traceback\nImportError: no numpy\n"}
    statuses = [{"name": "publish", "state": {"terminated": ended}}]
    await scene.tick(RUNNING, a_pod(phase="Failed", containerStatuses=statuses))
    assert scene.published[1] == "AnalysisFailed"
    assert scene.published[2].endswith("ImportError: no numpy")


async def test_an_analysis_pod_that_cannot_start_is_named(scene: Scene) -> None:
    waiting = {"waiting": {"reason": "CreateContainerConfigError", "message": 'secret "s" missing'}}
    pod = a_pod(phase="Pending", containerStatuses=[{"name": "publish", "state": waiting}])
    await scene.tick(RUNNING, pod)
    assert scene.published[1] == "AnalysisFailed"
    assert 'secret "s" missing' in scene.published[2]


async def test_without_keys_or_where_it_is_off_nothing_is_made_and_it_is_said(
    tmp_path: Path,
) -> None:
    keyless = Scene(tmp_path / "a", secret=None)
    await keyless.tick(COMPLETE)
    assert keyless.cluster.objects == {}
    assert keyless.published[1] == "NoStoreKeys"
    off = Scene(tmp_path / "b", how=None)
    await off.tick(COMPLETE)
    assert off.cluster.objects == {}
    assert off.published[1] == "AnalysisOff"


async def test_a_foreign_cronjob_of_its_name_is_left_alone_and_named(scene: Scene) -> None:
    await scene.tick()
    foreign = scene.cron()
    foreign["metadata"]["ownerReferences"] = []
    scene.held.analysis = type(scene.held.analysis)()
    await scene.tick()
    assert "is not ours" in scene.held.troubles["analysis"].message
    assert scene.cluster.requests["replace"] == 0


async def test_a_spoilt_pointer_is_named(scene: Scene) -> None:
    scene.stored.store.compare_and_swap(f"{NAME}/published/latest.json", b"{}", None)
    await scene.tick()
    assert "tiny/published/latest.json" in scene.held.troubles["analysis"].message


def an_entry(**fields: Any) -> AdjudicationEntry:
    return AdjudicationEntry.model_validate(
        {
            "seq": 1,
            "attempt": 1,
            "cause": "task",
            "by": "reader",
            "at": "2026-11-30T12:00:00Z",
            "reason": "read the trace",
        }
        | fields
    )


def adjudications(scene: Scene) -> list[str]:
    return list(scene.stored.store.list(adjudications_prefix(NAME)))


async def test_an_adjudication_waits_for_its_row(scene: Scene) -> None:
    run = "T1-S1-A1-r1"
    entry = RunFacts(run=run, name="n", uid="u", attempts=(AttemptStatus(number=1, phase="Run"),))
    scene.held.ledger.runs[run] = entry
    scene.judge(entry, an_entry())
    await scene.tick()
    assert adjudications(scene) == []
    assert "waits for the row" in scene.held.waits[f"{run} adjudication"]
    recorded = scene.row("S1", 1, passed=False)
    recorded.adjudications = entry.adjudications
    await scene.tick()
    assert adjudications(scene) == [f"{NAME}/adjudications/{run}/1.json"]


@pytest.mark.parametrize(
    ("passed", "fields", "said"),
    [
        (True, {"cause": "task"}, "gives a cause to a passing attempt"),
        (False, {"security": ["never-flagged"]}, "confirms a flag that the row"),
    ],
)
async def test_a_word_that_no_analysis_could_use_is_named_and_not_stored_for_ever(
    scene: Scene, passed: bool, fields: dict[str, Any], said: str
) -> None:
    entry = scene.row("S1", 1, passed=passed)
    scene.row("S2", 1)
    scene.judge(entry, an_entry(**fields))
    await scene.tick()
    key = f"{entry.run} adjudication"
    assert said in scene.held.troubles[key].message
    assert adjudications(scene) == []
    better = an_entry(seq=2, cause=None if passed else "task", security=[])
    scene.judge(entry, *entry.adjudications, better)
    await scene.tick()
    assert key not in scene.held.troubles
    assert adjudications(scene) == [f"{NAME}/adjudications/{entry.run}/2.json"]
    assert scene.stored.publisher().publish().latest.adjudications == 1


async def test_a_harness_author_does_not_adjudicate(scene: Scene) -> None:
    entry = scene.row("S1", 1, passed=False)
    scene.judge(entry, an_entry(by="author"))
    spec = scene.held.campaign.spec
    protocol = spec.protocol.model_copy(update={"harness_authors": ("author",)})
    scene.held.campaign = dataclasses.replace(
        scene.held.campaign, spec=spec.model_copy(update={"protocol": protocol})
    )
    await scene.tick()
    assert "harness author" in scene.held.troubles[f"{entry.run} adjudication"].message
    assert adjudications(scene) == []
