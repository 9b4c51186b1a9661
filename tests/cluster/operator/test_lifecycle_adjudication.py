"""Whoever adjudicates signs with their own name, and nobody changes what was signed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.cluster.lab.api import Api, ApiError
from tests.cluster.operator.campaign import RUNS, Campaign

from agentbench.app.campaign import read_campaign
from agentbench.app.run_object import run_object

ADMINISTRATORS = ("system:masters", "system:authenticated")


def entry(seq: int, by: str, reason: str = "the provider was down") -> dict[str, Any]:
    return {
        "seq": seq,
        "attempt": 1,
        "cause": "infra",
        "by": by,
        "at": "2026-11-30T12:00:00Z",
        "reason": reason,
    }


def test_an_adjudication_is_signed_by_its_writer_and_stays(
    apply: Callable[..., Campaign],
) -> None:
    campaign = apply(name="signed", suspend=True)
    slot, known = campaign.cluster.slot, read_campaign(campaign.get())
    made = campaign.cluster.api.create(
        RUNS.format(campaign.namespace), run_object(known, known.runs[0])
    )
    path = f"{RUNS.format(campaign.namespace)}/{made['metadata']['name']}"
    ann, bob = (Api(slot, user, ADMINISTRATORS) for user in ("ann", "bob"))

    def write(api: Api, *entries: dict[str, Any]) -> None:
        api.patch(path, {"spec": {"adjudications": list(entries)}})

    with pytest.raises(ApiError, match="must be ann, the user who writes it"):
        write(ann, entry(1, "bob"))
    write(ann, entry(1, "ann"))
    with pytest.raises(ApiError, match="must be bob"):
        write(bob, entry(1, "ann"), entry(2, "ann"))
    write(bob, entry(1, "ann"), entry(2, "bob"))
    with pytest.raises(ApiError, match="append only"):
        write(ann, entry(1, "ann", "I changed my mind"), entry(2, "bob"))
    with pytest.raises(ApiError, match="append only"):
        write(bob, entry(1, "ann"))
    found = campaign.cluster.api.get(path)["spec"]["adjudications"]
    assert [each["by"] for each in found] == ["ann", "bob"]
