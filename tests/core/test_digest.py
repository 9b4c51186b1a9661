"""The digest covers what can move a result, and nothing else."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.build import a_campaign

from agentbench.api.campaign import CampaignSpec
from agentbench.api.protocol import Freeze
from agentbench.core.digest import (
    DigestMismatch,
    canonical,
    digest,
    frozen_document,
    require_digest,
)


def frozen(spec: CampaignSpec) -> CampaignSpec:
    freeze = Freeze(digest=digest(spec), frozen_at="2026-11-30T12:00:00Z")
    protocol = spec.protocol.model_copy(update={"freeze": freeze, "draft": False})
    return spec.model_copy(update={"protocol": protocol})


@given(
    parallelism=st.integers(1, 1000), suspend=st.booleans(), cancel=st.booleans(), kept=st.just(3)
)
def test_how_a_campaign_is_carried_out_is_no_part_of_it(
    parallelism: int, suspend: bool, cancel: bool, kept: int
) -> None:
    other = a_campaign(parallelism=parallelism, suspend=suspend, cancel=cancel, keepFailedPods=kept)
    assert digest(other) == digest(a_campaign())


@pytest.mark.parametrize(
    "change",
    [
        {"repeats": 4},
        {"order": {"seed": 8}},
        {"caps": {"toolCalls": 399}},
        {"script": {"reply": "Go on."}},
        {"budget": {"totalUSD": "1"}},
        {"checks": {"repeats": 1}},
        {"analysis": {"referenceStack": "QS-S2"}},
        {"egress": {"agent": ["example.org"]}},
        {"nodeClass": {"selector": {"class": "big"}}},
    ],
)
def test_every_frozen_field_moves_the_digest(change: dict[str, Any]) -> None:
    assert digest(a_campaign(**change)) != digest(a_campaign())


def test_a_freeze_an_amendment_and_the_place_of_the_bundle_leave_it_alone() -> None:
    spec = frozen(a_campaign())
    assert digest(spec) == digest(a_campaign())
    assert require_digest(spec) == digest(spec)


def test_a_changed_frozen_field_is_refused_with_both_digests() -> None:
    spec = frozen(a_campaign()).model_copy(update={"repeats": 4})
    with pytest.raises(DigestMismatch, match="changed after the freeze") as error:
        require_digest(spec)
    assert digest(spec) in str(error.value)


def test_a_protocol_that_is_not_frozen_has_no_digest_to_require() -> None:
    with pytest.raises(DigestMismatch, match="freeze the pack first"):
        require_digest(a_campaign())


def test_absent_and_empty_fields_are_one_and_the_same() -> None:
    assert "plugins" not in frozen_document(a_campaign())
    assert digest(a_campaign(plugins=0)) == digest(a_campaign(egress={}))


def test_canonical_json_is_that_of_rfc_8785() -> None:
    document = {"numbers": [333333333.33333329, 1e30, 4.50, 2e-3], "string": "€$\u000f\nA'"}
    assert canonical(document) == (
        b'{"numbers":[333333333.3333333,1e+30,4.5,0.002],"string":"\xe2\x82\xac$\\u000f\\nA\'"}'
    )
