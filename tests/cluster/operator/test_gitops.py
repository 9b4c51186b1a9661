"""A frozen campaign that is committed to git applies by server-side apply, and never drifts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.cluster.lab.api import Object
from tests.cluster.lab.shell import CommandError, wait
from tests.cluster.operator.campaign import Campaign
from tests.cluster.operator.installed import Chart
from tests.cluster.operator.process import OperatorProcess
from tests.fakes.kstatus import kstatus

from agentbench.api.campaign import CampaignSpec
from agentbench.store.s3 import S3Store

Frozen = Callable[..., tuple[Object, S3Store]]
AS = ("--server-side", "--field-manager=gitops", "-f")


class Committed:
    """A manifest in a repository, and the object that it became."""

    def __init__(self, chart: Chart, path: Path, body: Object, store: S3Store) -> None:
        meta = body["metadata"]
        self.kubectl = chart.cluster.kubectl
        self.path, self.body = path, body
        self.campaign = Campaign(chart.cluster, meta["namespace"], meta["name"], store)

    def commit(self, **spec: Any) -> None:
        """Write the manifest, with changes."""
        self.body["spec"] |= spec
        self.path.write_text(yaml.safe_dump(self.body))

    def apply(self) -> Object:
        """What a GitOps tool does, and what it then reads."""
        self.kubectl("apply", "--validate=strict", *AS, self.path)
        return self.campaign.get()

    def drift(self) -> str:
        """What a GitOps tool would change: nothing, or a diff."""
        try:
            return self.kubectl("diff", *AS, self.path)
        except CommandError as error:
            if error.code != 1:  # 1 is a diff, anything else no answer
                raise
            return error.output

    def looked_at(self) -> bool:
        """Whether the operator has seen the manifest as it is."""
        found = self.campaign.get()
        return bool(found["status"]["observedGeneration"] == found["metadata"]["generation"])


def least(spec: Object) -> Object:
    """The same protocol with every field left out that has its default."""
    document: Object = CampaignSpec.model_validate(spec).model_dump(
        mode="json", by_alias=True, exclude_none=True, exclude_defaults=True
    )
    return document


def test_what_is_committed_is_what_is_there(
    chart: Chart, frozen: Frozen, operating: OperatorProcess, tmp_path: Path
) -> None:
    operating.stop()
    committed = []
    for name in ("whole", "least"):
        body, store = frozen(name=name, suspend=True)
        if name == "least":
            body["spec"] = least(body["spec"])
        one = Committed(chart, tmp_path / f"{name}.yaml", body, store)
        one.commit()
        committed.append(one)
    assert len(yaml.safe_dump(committed[1].body)) < len(yaml.safe_dump(committed[0].body)) / 1.5
    for one in committed:
        made = one.apply()
        assert kstatus(made) == "InProgress"  # nobody has looked at it yet
        assert one.drift() == ""
        # The API server writes the status's default down with the first change after creation.
        settled = one.apply()
        assert settled["metadata"]["generation"] == 1
        again = one.apply()
        assert again["metadata"]["resourceVersion"] == settled["metadata"]["resourceVersion"]
    operating.start()
    for one in committed:
        wait("the operator to look at it", one.looked_at, 30)
        assert one.campaign.condition("Stalled")["status"] == "False"
        assert one.drift() == ""
        there = one.apply()
        assert there["metadata"]["generation"] == 1
        assert there["spec"] == one.body["spec"]
        assert kstatus(there) == "InProgress"  # suspended: it has not ended
        one.commit(parallelism=7)
        assert "parallelism: 7" in one.drift()
        assert one.apply()["metadata"]["generation"] == 2
        wait("the operator to look again", one.looked_at, 30)
        assert one.drift() == ""
        one.commit(caps={**one.body["spec"].get("caps", {}), "toolCalls": 21})
        with pytest.raises(CommandError, match="caps of a frozen campaign cannot change"):
            one.apply()


def test_a_campaign_that_cannot_run_is_failed_and_named(
    chart: Chart, frozen: Frozen, operating: OperatorProcess, tmp_path: Path
) -> None:
    body, store = frozen(name="wrong")
    body["spec"]["store"]["secretRef"] = "nowhere"
    one = Committed(chart, tmp_path / "wrong.yaml", body, store)
    one.commit()
    one.apply()
    wait("the operator to look at it", one.looked_at, 30)
    assert kstatus(one.campaign.get()) == "Failed"
    assert one.campaign.condition("Stalled")["reason"] in ("DigestMismatch", "SecretMissing")
    assert one.drift() == ""
