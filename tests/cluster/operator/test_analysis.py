"""A finished campaign's verdict is published into its store, and stands in its status."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.cluster.lab.shell import wait
from tests.cluster.operator.campaign import RUNS, Campaign
from tests.cluster.operator.installed import KEPT, SYSTEM, Chart
from tests.cluster.operator.process import OperatorProcess
from tests.fakes.local_pack import TinyPack

from agentbench.kube.settings import AnalysisPlace


def told(chart: Chart) -> AnalysisPlace:
    """How the chart has campaigns analysed."""
    found = chart.cluster.api.get(f"/apis/apps/v1/namespaces/{SYSTEM}/deployments/agent-bench")
    env = found["spec"]["template"]["spec"]["containers"][0]["env"]
    (text,) = [each["value"] for each in env if each["name"] == "AGENTBENCH_ANALYSIS"]
    return AnalysisPlace.model_validate_json(text)


def published(campaign: Campaign, number: int) -> dict[str, Any]:
    """Wait until the status names a published result; gives its verdict."""

    def there() -> bool:
        verdict = campaign.get().get("status", {}).get("verdict", {})
        return bool(verdict.get("published") == number)

    wait(f"published/{number} of {campaign.name}", there, 120)
    found: dict[str, Any] = campaign.get()["status"]["verdict"]
    return found


def test_the_verdict_follows_the_last_row_and_a_word_on_a_run_makes_a_new_one(
    chart: Chart, operating: OperatorProcess, apply: Callable[..., Campaign], tmp_path: Path
) -> None:
    how = AnalysisPlace(image=chart.images["operator"]) if KEPT else told(chart)
    assert how.image == chart.images["operator"]
    never = how.model_copy(update={"schedule": "0 0 1 1 *"})  # the test says when
    operating.stop()
    operating.start({"AGENTBENCH_ANALYSIS": never.model_dump_json(by_alias=True)})
    campaign = apply(TinyPack(folder=tmp_path / "pack", agents={"A1": "nop"}))
    campaign.wait("Complete")

    verdict = published(campaign, 1)
    latest = json.loads(campaign.store.get("tiny/published/latest.json"))
    assert (latest["number"], latest["scored"], latest["rows"]) == (1, 1, 1)
    assert verdict["hypotheses"] == latest["hypotheses"]
    names = {key.split("/published/1/")[-1] for key in campaign.store.list("tiny/published/1/")}
    assert {"results.json", "verdict.json", "index.html", "tables/runs.csv"} <= names
    assert campaign.condition("Published")["status"] == "True"

    kubectl = chart.cluster.kubectl
    here = ("-n", campaign.namespace)
    cron = kubectl(*here, "get", "cronjob", "-o", "name").strip().removesuffix("\n")

    def suspended() -> str:
        return kubectl(*here, "get", cron, "-o", "jsonpath={.spec.suspend}")

    wait("the settled campaign's analysis to rest", lambda: suspended() == "true", 30)

    (run,) = campaign.runs()
    me = kubectl("auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")
    word = {
        "seq": 1,
        "attempt": 1,
        "cause": "task",
        "by": me,
        "at": "2026-11-30T12:00:00Z",
        "reason": "It did nothing at all.",
    }
    path = f"{RUNS.format(campaign.namespace)}/{run['metadata']['name']}"
    chart.cluster.api.patch(path, {"spec": {"adjudications": [word]}})
    wait("the analysis to be wanted again", lambda: suspended() == "false", 30)
    kubectl(*here, "create", "job", "now", f"--from={cron.replace('.batch', '')}")

    assert published(campaign, 2)["published"] == 2
    results = json.loads(campaign.store.get("tiny/published/2/results.json"))
    assert results["attempts"][0]["judgement"]["by"] == me
    wait("the analysis to rest again", lambda: suspended() == "true", 30)

    # What of the status only this version's definitions know.
    assert verdict["url"].endswith("/tiny/published/1/index.html")
    assert verdict["headline"] == latest["headline"]
    assert set(verdict["claims"]) == set(latest["claims"])
