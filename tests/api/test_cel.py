"""Every CEL rule of the CRDs, evaluated: it accepts what it should and refuses the rest."""

from typing import Any

import pytest
from tests.fakes.api_server import refusals
from tests.fakes.resources import (
    a_draft_campaign,
    a_frozen_campaign,
    a_run_object,
    adjudication,
    amendment,
)

from agentbench.api.campaign import MUTABLE_FIELDS, CampaignSpec
from agentbench.api.protocol import Protocol
from agentbench.api.run import RunSpec


def written(model: type[Any]) -> dict[str, bool]:
    return {f.alias or n: f.is_required() for n, f in model.model_fields.items()}


SPEC = written(CampaignSpec)
PROTOCOL = written(Protocol)
RUN = written(RunSpec)
FROZEN_SPEC = sorted(SPEC.keys() - MUTABLE_FIELDS - {"protocol"})
FROZEN_PROTOCOL = sorted(PROTOCOL.keys() - {"amendments"})
FROZEN_RUN = sorted(RUN.keys() - {"adjudications"})


def changed(value: Any) -> Any:
    """Another value of the same shape."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return value + "x"
        case [first, *rest]:
            return [changed(first), *rest]
        case dict():
            key = next(iter(value))
            return {**value, key: changed(value[key])}
    raise AssertionError(value)


def test_the_sample_objects_set_every_field() -> None:
    assert a_frozen_campaign()["spec"].keys() == SPEC.keys()
    assert a_frozen_campaign()["spec"]["protocol"].keys() == PROTOCOL.keys()
    assert a_run_object()["spec"].keys() == RUN.keys()


@pytest.mark.parametrize("make", [a_frozen_campaign, a_draft_campaign, a_run_object])
def test_a_whole_object_is_accepted_and_may_be_applied_again(make: Any) -> None:
    assert refusals(make()) == []
    assert refusals(make(), make()) == []


@pytest.mark.parametrize("field", FROZEN_SPEC)
def test_a_frozen_field_cannot_change(field: str) -> None:
    new = a_frozen_campaign()
    new["spec"][field] = changed(new["spec"][field])
    assert any(said.startswith(field) for said in refusals(new, a_frozen_campaign()))


@pytest.mark.parametrize("field", [name for name in FROZEN_SPEC if not SPEC[name]])
def test_a_frozen_field_cannot_be_removed_or_set_for_the_first_time(field: str) -> None:
    without = a_frozen_campaign()
    del without["spec"][field]
    whole = a_frozen_campaign()
    assert any(said.startswith(field) for said in refusals(without, whole))
    assert any(said.startswith(field) for said in refusals(whole, without))
    assert refusals(without, without) == []


@pytest.mark.parametrize("field", ["tasks", "stacks", "agents", "plugins"])
def test_a_frozen_list_cannot_be_reordered_or_grow(field: str) -> None:
    reordered, longer = a_frozen_campaign(), a_frozen_campaign()
    reordered["spec"][field].reverse()
    longer["spec"][field].append({**longer["spec"][field][0], "id": "AB-X9"})
    for new in (reordered, longer):
        assert any(said.startswith(field) for said in refusals(new, a_frozen_campaign()))


@pytest.mark.parametrize("field", FROZEN_PROTOCOL)
def test_a_frozen_protocol_field_cannot_change(field: str) -> None:
    new = a_frozen_campaign()
    protocol = new["spec"]["protocol"]
    protocol[field] = changed(protocol[field])
    assert any(said.startswith(field) for said in refusals(new, a_frozen_campaign()))


@pytest.mark.parametrize("field", [n for n in FROZEN_PROTOCOL if not PROTOCOL[n]])
def test_a_frozen_protocol_field_cannot_be_removed(field: str) -> None:
    without = a_frozen_campaign()
    del without["spec"]["protocol"][field]
    assert any(said.startswith(field) for said in refusals(without, a_frozen_campaign()))


@pytest.mark.parametrize(
    "field", [n for n in FROZEN_PROTOCOL if not PROTOCOL[n] and n not in {"freeze", "bundle"}]
)
def test_a_frozen_protocol_field_cannot_be_set_for_the_first_time(field: str) -> None:
    without = a_frozen_campaign()
    del without["spec"]["protocol"][field]
    assert any(said.startswith(field) for said in refusals(a_frozen_campaign(), without))


@pytest.mark.parametrize("field", sorted(MUTABLE_FIELDS))
@pytest.mark.parametrize("make", [a_frozen_campaign, a_draft_campaign])
def test_a_field_of_running_a_campaign_changes_at_any_time(make: Any, field: str) -> None:
    new, without = make(), make()
    new["spec"][field] = changed(new["spec"][field])
    del without["spec"][field]
    assert refusals(new, make()) == []
    assert refusals(without, make()) == []
    assert refusals(make(), without) == []


@pytest.mark.parametrize("field", [name for name in FROZEN_SPEC if name != "stacks"])
def test_a_draft_may_be_edited(field: str) -> None:
    new = a_draft_campaign()
    new["spec"][field] = changed(new["spec"][field])
    if field == "analysis":
        new["spec"][field]["referenceStack"] = "AB-S1"
    assert refusals(new, a_draft_campaign()) == []


def test_a_draft_never_becomes_frozen_in_place() -> None:
    said = refusals(a_frozen_campaign(), a_draft_campaign())
    assert any(message.startswith("freeze is never set") for message in said)


def test_a_campaign_that_is_neither_draft_nor_frozen_never_becomes_frozen_in_place() -> None:
    neither = a_draft_campaign()
    neither["spec"]["protocol"]["draft"] = False
    assert refusals(neither, a_draft_campaign()) == []
    said = refusals(a_frozen_campaign(), neither)
    assert any(message.startswith("freeze is never set") for message in said)


def test_a_frozen_campaign_never_becomes_a_draft_again() -> None:
    said = refusals(a_draft_campaign(), a_frozen_campaign())
    assert any(message.startswith("freeze is never set") for message in said)


def test_a_frozen_protocol_is_no_draft() -> None:
    new = a_frozen_campaign()
    new["spec"]["protocol"]["draft"] = True
    assert any(said.startswith("a frozen protocol is no draft") for said in refusals(new))


def test_a_frozen_protocol_needs_its_bundle() -> None:
    new = a_frozen_campaign()
    del new["spec"]["protocol"]["bundle"]
    assert any(said.startswith("a frozen protocol names its bundle") for said in refusals(new))


def lists(kind: str) -> tuple[Any, tuple[str, ...], Any]:
    if kind == "amendments":
        return a_frozen_campaign, ("spec", "protocol", "amendments"), amendment
    return a_run_object, ("spec", "adjudications"), adjudication


def with_list(make: Any, path: tuple[str, ...], entries: list[Any] | None) -> dict[str, Any]:
    whole: dict[str, Any] = make()
    inner = whole
    for step in path[:-1]:
        inner = inner[step]
    if entries is None:
        del inner[path[-1]]
    else:
        inner[path[-1]] = entries
    return whole


@pytest.mark.parametrize("kind", ["amendments", "adjudications"])
class TestAppendOnly:
    def test_it_may_be_set_for_the_first_time_and_may_grow(self, kind: str) -> None:
        make, path, entry = lists(kind)
        absent, empty = with_list(make, path, None), with_list(make, path, [])
        one = with_list(make, path, [entry(1)])
        three = with_list(make, path, [entry(1), entry(2), entry(3)])
        for old, new in [
            (absent, one), (empty, one), (one, three), (absent, three), (empty, absent),
            (absent, empty), (three, three),
        ]:  # fmt: skip
            assert refusals(new, old) == []

    def test_an_old_entry_cannot_change_move_or_go(self, kind: str) -> None:
        make, path, entry = lists(kind)
        old = with_list(make, path, [entry(1, "first"), entry(2, "second")])
        for entries in [
            [entry(1, "other"), entry(2, "second")],
            [entry(1, "first"), entry(2, "other"), entry(3)],
            [entry(2, "second"), entry(1, "first")],
            [entry(1, "second"), entry(2, "first")],
            [entry(1, "first")],
            [entry(2, "second")],
            [],
            None,
        ]:
            said = refusals(with_list(make, path, entries), old)
            assert any(message.startswith(f"{kind} is append only") for message in said)

    def test_seq_runs_without_a_gap_and_without_a_double(self, kind: str) -> None:
        make, path, entry = lists(kind)
        assert refusals(with_list(make, path, [])) == []
        for seqs in [(2,), (1, 3), (1, 1), (1, 2, 2), (2, 1), (1, 2, 4), (0,)]:
            said = refusals(with_list(make, path, [entry(seq) for seq in seqs]))
            assert any(message.startswith("seq must run") for message in said), seqs


def test_a_draft_may_rewrite_its_amendments() -> None:
    path = ("spec", "protocol", "amendments")
    new = with_list(a_draft_campaign, path, [amendment(1, "another")])
    assert refusals(new, a_draft_campaign()) == []


@pytest.mark.parametrize("field", FROZEN_RUN)
def test_what_a_run_is_never_changes(field: str) -> None:
    new = a_run_object()
    new["spec"][field] = changed(new["spec"][field])
    assert any(said.startswith(field) for said in refusals(new, a_run_object()))


def test_a_runs_phase_cannot_be_removed_or_set_for_the_first_time() -> None:
    without = a_run_object()
    del without["spec"]["phase"]
    assert any(said.startswith("phase") for said in refusals(without, a_run_object()))
    assert any(said.startswith("phase") for said in refusals(a_run_object(), without))


@pytest.mark.parametrize("field", ["tasks", "stacks", "agents", "plugins"])
def test_two_entries_with_one_id_are_refused(field: str) -> None:
    new = a_draft_campaign()
    new["spec"][field].append(new["spec"][field][0])
    assert refusals(new) == ["every id must be unique in the list"]


def test_the_reference_stack_must_be_one_of_the_stacks() -> None:
    new = a_draft_campaign()
    new["spec"]["analysis"]["referenceStack"] = "AB-S9"
    assert refusals(new) == ["analysis.referenceStack must be the id of one of the stacks"]
