"""JSON to values and back, by the compiled way and by the careful one."""

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentbench_analysis.codec import decode, document, encode, settled
from agentbench_analysis.errors import AnalysisError, shown
from agentbench_analysis.parsing import load_json


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    some_name: str
    amount: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outer:
    schema: Literal["outer/v1"]
    colour: Colour
    number: int
    value: int | float | str | None
    inner: Inner
    maybe: Inner | None = None
    many: tuple[Inner, ...] = ()
    named: dict[str, Inner] | None = None
    flag: bool = False
    pass_: str = ""


WHOLE = {
    "schema": "outer/v1",
    "colour": "red",
    "number": 3,
    "value": "1.5",
    "inner": {"someName": "a", "amount": 1},
    "maybe": None,
    "many": [{"someName": "b", "amount": None}],
    "named": {"x": {"someName": "c", "amount": 2.5}},
    "flag": True,
    "pass": "p",
}


def test_a_whole_record_is_read_and_written_the_same() -> None:
    found = decode(Outer, WHOLE, "f")
    assert found.inner == Inner(some_name="a", amount=1.0)
    assert encode(found) == WHOLE
    assert decode(Outer, json.loads("".join(document(found))), "f") == found


def test_absent_fields_take_their_defaults() -> None:
    short = {key: WHOLE[key] for key in ("schema", "colour", "number", "value", "inner")}
    found = decode(Outer, short, "f")
    assert (found.maybe, found.many, found.flag) == (None, (), False)


@pytest.mark.parametrize(
    ("field", "value", "path"),
    [
        ("colour", "green", "colour"),
        ("colour", 1, "colour"),
        ("colour", [], "colour"),
        ("schema", "outer/v2", "schema"),
        ("number", 1.0, "number"),
        ("number", True, "number"),
        ("number", None, "number"),
        ("value", True, "value"),
        ("value", [], "value"),
        ("value", float("inf"), "value"),
        ("inner", None, "inner"),
        ("inner", {"someName": 1}, "inner.someName"),
        ("inner", {"someName": "a", "amount": "1"}, "inner.amount"),
        ("inner", {"someName": "a", "amount": float("nan")}, "inner.amount"),
        ("inner", {"someName": "a", "other": 1}, "inner.other"),
        ("inner", {}, "inner.someName"),
        ("maybe", 3, "maybe"),
        ("many", {}, "many"),
        ("many", [{"someName": "b"}, 3], "many.1"),
        ("named", {"x": 3}, "named.x"),
        ("named", [], "named"),
        ("flag", 1, "flag"),
        ("pass", 1, "pass"),
    ],
)
def test_a_value_that_does_not_fit_is_named_by_its_path(
    field: str, value: object, path: str
) -> None:
    with pytest.raises(AnalysisError) as caught:
        decode(Outer, WHOLE | {field: value}, "file.json")
    assert (caught.value.file, caught.value.field) == ("file.json", path)


def test_long_values_are_cut_in_messages() -> None:
    assert len(shown("x" * 500)) == 80


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_settled_number_stays_as_it_is(number: float) -> None:
    once = settled(number)
    assert settled(once) == once
    assert once == pytest.approx(number, rel=1e-11)


def test_numbers_meet_a_threshold_that_binary_fractions_miss() -> None:
    assert 42 / 60 - 48 / 60 < -0.1
    assert settled(42 / 60 - 48 / 60) == -0.1


def test_json_with_a_repeated_broken_end_is_refused_with_its_place() -> None:
    with pytest.raises(AnalysisError) as caught:
        load_json("f.json", b'{"a": 1')
    assert caught.value.field == "line 1, column 8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Small:
    value: int | float | str | None
    flag: bool
    colour: Colour


def small(**changes: object) -> Small:
    return decode(Small, {"value": 1, "flag": True, "colour": "red"} | changes, "f")


def test_equal_small_records_are_one_object() -> None:
    assert small() is small()
    assert small(value=None) is small(value=None)


def test_values_that_only_compare_equal_are_kept_apart() -> None:
    small(), small(value=0.0)
    assert type(small(value=1.0).value) is float
    assert str(small(value=-0.0).value) == "-0.0"
    for changes in ({"value": True}, {"flag": 1}, {"colour": ["red"]}):
        with pytest.raises(AnalysisError):
            small(**changes)
