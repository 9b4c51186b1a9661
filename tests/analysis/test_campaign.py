"""The frozen choices, read from a campaign's spec."""

from typing import Any

import pytest
from tests.fakes.rows import a_campaign, a_spec

from agentbench_analysis.campaign import spec_from_campaign
from agentbench_analysis.codec import decode, encode
from agentbench_analysis.errors import AnalysisError
from agentbench_analysis.rows.words import Cause
from agentbench_analysis.spec import AnalysisSpec, Effect, Rule


def test_the_choices_of_ab_proto_1_are_read() -> None:
    spec = a_spec()
    assert (spec.planned_cells, spec.planned_runs) == (36, 180)
    assert (spec.margins.pass_rate, spec.margins.cost, spec.margins.time) == (-0.10, 0.85, 1.0)
    assert (spec.caps.wall_seconds, spec.caps.cost_usd, spec.budget_usd) == (2700, 5, 900)
    assert [each.rule for each in spec.hypotheses] == list(Rule)
    assert [(each.id, each.hypotheses) for each in spec.claims] == [
        ("AB-C1", ("AB-H1",)),
        ("AB-C2", ("AB-H4",)),
        ("AB-C3", ("AB-H2",)),
    ]
    assert spec.cause_order == tuple(Cause)
    assert spec.headline == "Arki is better for agents"


def test_the_choices_survive_json() -> None:
    spec = a_spec()
    assert decode(AnalysisSpec, encode(spec), "spec") == spec


@pytest.mark.parametrize(
    ("wall", "seconds"), [("45m", 2700), ("1h30m", 5400), ("90s", 90), (60, 60)]
)
def test_durations_are_seconds(wall: Any, seconds: float) -> None:
    caps = {"wall": wall, "costUSD": "5", "toolCalls": 400}
    assert a_spec(caps=caps).caps.wall_seconds == seconds


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no stack": ({"stacks": []}, "spec.stacks"),
    "a stack twice": ({"stacks": [{"id": "A", "name": "A"}] * 2}, "spec.stacks.1.id"),
    "an unknown reference": ({"analysis": {"referenceStack": "X"}}, "spec.analysis.referenceStack"),
    "confidence in percent": ({"analysis": {"confidence": "95"}}, "spec.analysis.confidence"),
    "no number": (
        {"analysis": {"margins": {"cost": "cheap"}}},
        "spec.analysis.margins.cost",
    ),
    "an unknown quantile rule": ({"analysis": {"quantile": "median"}}, "spec.analysis.quantile"),
    "an unknown choice": ({"analysis": {"bestOther": "mine"}}, "spec.analysis.bestOther"),
    "a cause left out": ({"analysis": {"causeOrder": ["infra"]}}, "spec.analysis.causeOrder"),
    "no resamples": ({"analysis": {"resamples": 0}}, "spec.analysis.resamples"),
    "half a repeat": ({"repeats": 2.5}, "spec.repeats"),
    "no wall cap": ({"caps": {"costUSD": "5", "toolCalls": 4}}, "spec.caps.wall"),
    "a claim on nothing": (
        {"analysis": {"claims": [{"id": "K", "text": "t", "needs": ["Q"]}]}},
        "spec.analysis.claims.0.needs",
    ),
    "tasks as text": ({"tasks": "all"}, "spec.tasks"),
    "caps as text": ({"caps": "none"}, "spec.caps"),
    "a task as text": ({"tasks": ["one"]}, "spec.tasks.0"),
    "an amended field that is frozen for good": (
        {
            "protocol": {
                "id": "P",
                "amendments": [
                    {
                        "seq": 1,
                        "date": "2026-11-05",
                        "change": "c",
                        "why": "w",
                        "effects": "set analysis.seed = 8",
                    }
                ],
            }
        },
        "spec.protocol.amendments.0.effects",
    ),
}


@pytest.mark.parametrize("kind", WRONG)
def test_an_impossible_choice_is_refused_by_its_field(kind: str) -> None:
    changes, field = WRONG[kind]
    with pytest.raises(AnalysisError) as caught:
        spec_from_campaign(a_campaign(**changes), campaign="c", file="campaign.yaml")
    assert caught.value.file == "campaign.yaml"
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("margins.passRate", "-0.05"),
        ("margins.cost", "0.9"),
        ("margins.time", "1.1"),
        ("confidence", "0.9"),
        ("resamples", "99"),
        ("bestOther", "fixed"),
        ("quantile", "lower"),
    ],
)
def test_every_amendable_field_can_be_set(field: str, value: str) -> None:
    assert a_spec().with_effect(Effect(field=field, value=value)) != a_spec()


def test_a_field_that_takes_no_amendment_is_refused() -> None:
    with pytest.raises(ValueError, match=r"analysis\.seed takes no amendment"):
        a_spec().with_effect(Effect(field="seed", value="8"))
