"""The CRDs on a real API server: it takes them, and refuses what the rules say it should."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.cluster.lab.api import Api, ApiError
from tests.cluster.lab.handle import Cluster
from tests.cluster.lab.shell import wait
from tests.fakes.resources import (
    a_draft_campaign,
    a_frozen_campaign,
    a_run_object,
    adjudication,
    amendment,
)

CRDS = Path(__file__).parents[2] / "crds"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GROUP = "/apis/agentbench.dev/v1alpha1/namespaces/{}"

Object = dict[str, Any]
Edit = Callable[[Object], None]


@pytest.fixture(scope="session")
def with_crds(real_cluster: Cluster) -> Api:
    """The API server with both CRDs in force."""
    real_cluster.kubectl("apply", "--server-side", "--force-conflicts", "-f", CRDS)
    for path in CRDS.glob("*.yaml"):
        name = yaml.safe_load(path.read_text())["metadata"]["name"]

        def established(name: str = name) -> bool:
            found = real_cluster.api.get(f"{DEFINITIONS}/{name}").get("status", {})
            conditions = {c["type"]: c["status"] for c in found.get("conditions", ())}
            assert conditions.get("NonStructuralSchema", "False") == "False"
            return conditions.get("Established") == "True"

        wait(f"{name} in force", established, 30)
    # The judge's name, since a policy of the chart lets people sign with their own alone.
    return Api(real_cluster.slot, user="judge@example.org", groups=("system:masters",))


class Resource:
    """One custom resource on the server."""

    def __init__(self, api: Api, namespace: str, body: Object) -> None:
        self.api = api
        plural = {"BenchmarkCampaign": "benchmarkcampaigns", "BenchmarkRun": "benchmarkruns"}
        self.place = f"{GROUP.format(namespace)}/{plural[body['kind']]}"
        self.path = f"{self.place}/{body['metadata']['name']}"
        self.api.create(f"{self.place}?fieldValidation=Strict", body)

    def update(self, edit: Edit) -> None:
        """Change the whole object, as kubectl replace does."""
        body = self.api.get(self.path)
        edit(body)
        self.api.request("PUT", f"{self.path}?fieldValidation=Strict", body)

    def refused(self, edit: Edit) -> str:
        """What the server says to a change that it must refuse."""
        with pytest.raises(ApiError) as caught:
            self.update(edit)
        assert caught.value.code == 422
        return str(caught.value)


def put(*path: str, value: Any) -> Edit:
    def edit(body: Object) -> None:
        for step in path[:-1]:
            body = body[step]
        body[path[-1]] = value

    return edit


def drop(*path: str) -> Edit:
    def edit(body: Object) -> None:
        for step in path[:-1]:
            body = body[step]
        del body[path[-1]]

    return edit


PROTOCOL = ("spec", "protocol")


def test_a_frozen_campaign_keeps_its_frozen_fields(with_crds: Api, namespace: str) -> None:
    campaign = Resource(with_crds, namespace, a_frozen_campaign())
    said = campaign.refused(put("spec", "caps", "costUSD", value="9"))
    assert "caps of a frozen campaign cannot change" in said
    assert "tasks of a frozen" in campaign.refused(lambda body: body["spec"]["tasks"].reverse())
    assert "budget of a frozen campaign cannot change" in campaign.refused(drop("spec", "budget"))
    assert "title of a frozen" in campaign.refused(put(*PROTOCOL, "title", value="Another"))
    assert "freeze is never set, removed" in campaign.refused(drop(*PROTOCOL, "freeze"))
    campaign.update(put("spec", "parallelism", value=9))
    campaign.update(drop("spec", "suspend"))


def test_a_field_that_was_absent_at_the_freeze_stays_absent(with_crds: Api, namespace: str) -> None:
    body = a_frozen_campaign()
    budget = body["spec"].pop("budget")
    campaign = Resource(with_crds, namespace, body)
    said = campaign.refused(put("spec", "budget", value=budget))
    assert "budget of a frozen campaign cannot change" in said


def test_amendments_and_adjudications_only_grow(with_crds: Api, namespace: str) -> None:
    lists = [
        (Resource(with_crds, namespace, a_frozen_campaign()), (*PROTOCOL, "amendments"), amendment),
        (Resource(with_crds, namespace, a_run_object()), ("spec", "adjudications"), adjudication),
    ]
    for resource, path, entry in lists:
        old = resource.api.get(resource.path)
        for step in path:
            old = old[step]
        resource.update(put(*path, value=[*old, entry(3)]))
        for bad in ([], [old[0]], [old[1], old[0], entry(3)], [old[0], entry(2), entry(3)]):
            assert "is append only" in resource.refused(put(*path, value=bad))
        assert "is append only" in resource.refused(drop(*path))
        grown = [*old, entry(3)]
        for bad in ([*grown, entry(5)], [*grown, entry(3)]):
            assert "seq must run 1, 2, 3" in resource.refused(put(*path, value=bad))


def test_a_draft_may_be_edited_and_never_becomes_frozen_in_place(
    with_crds: Api, namespace: str
) -> None:
    draft = Resource(with_crds, namespace, a_draft_campaign())
    draft.update(put("spec", "repeats", value=7))
    protocol = a_frozen_campaign()["spec"]["protocol"]
    assert "freeze is never set" in draft.refused(put(*PROTOCOL, value=protocol))


def test_what_a_run_is_never_changes(with_crds: Api, namespace: str) -> None:
    run = Resource(with_crds, namespace, a_run_object())
    assert "repeat of a run never changes" in run.refused(put("spec", "repeat", value=2))
    assert "phase of a run never changes" in run.refused(drop("spec", "phase"))


def test_what_cannot_be_is_refused_at_once(with_crds: Api, namespace: str) -> None:
    for edit, said in [
        (put("spec", "protocol", "draft", value=True), "a frozen protocol is no draft"),
        (put("spec", "analysis", "referenceStack", value="S9"), "referenceStack must be the id"),
        (lambda body: body["spec"]["stacks"].append(body["spec"]["stacks"][0]), "must be unique"),
        (put("spec", "caps", "costUSD", value=5), "must be of type string"),
        (put("spec", "capz", value={}), "unknown field"),
        (put("metadata", "name", value="a.b"), "metadata.name"),
    ]:
        body = a_frozen_campaign()
        edit(body)
        with pytest.raises(ApiError) as caught:
            Resource(with_crds, namespace, body)
        assert said in str(caught.value)


def test_the_columns_are_shown(with_crds: Api, real_cluster: Cluster, namespace: str) -> None:
    campaign = Resource(with_crds, namespace, a_frozen_campaign())
    status = {"phase": "Running", "counts": {"done": 3, "total": 40}, "spend": {"spentUSD": "1.25"}}
    with_crds.patch(f"{campaign.path}/status", {"status": status})
    printed = real_cluster.kubectl("get", "bc", "-n", namespace).splitlines()
    columns = ["NAME", "PHASE", "DONE", "TOTAL", "LIVE", "PASS", "INFRA", "SPENT", "VERDICT", "AGE"]
    assert printed[0].split() == columns
    assert printed[1].split()[:4] == ["demo", "Running", "3", "40"]
