"""Fast decoders for whole records, compiled once per type as `dataclasses` compiles initialisers.

A campaign of 100,000 rows has some ten million values. A record that has every field, each of
the plain type it should have, is built by one compiled expression; anything else goes to the
careful decoder, which knows defaults and names what is wrong. Small records that are equal are
kept once: most rows say the same of most metrics, and memory is what takes time.
"""

import dataclasses
from collections.abc import Callable
from enum import Enum
from types import UnionType
from typing import Any, Union, get_args, get_origin

from agentbench_analysis.names import Wrong, camel

Decode = Callable[[Any], Any]
_PLAIN = (str, int, bool)

SHARED_FIELDS = 3
"""Most fields of a record that is kept once."""

SHARED_LIMIT = 4096
"""Most different records of one type that are looked out for."""


def compiled(
    kind: Any, hints: dict[str, Any], decoders: dict[str, Decode], careful: Decode
) -> Decode:
    """A decoder for one dataclass: fast for whole records, else the careful one.

    `decoders` are those of its fields, by field name.
    """
    names: dict[str, Any] = {"kind": kind, "careful": careful, "Wrong": Wrong}
    parts = []
    for place, field in enumerate(dataclasses.fields(kind)):
        hint = hints[field.name]
        found = f"value[{camel(field.name)!r}]"
        names[f"decode{place}"] = decoders[field.name]
        parts.append(f"{field.name}={_expression(hint, found, place, names)}")
    count = len(parts)
    names["known"] = {}
    source = f"""
def read(value):
    if type(value) is dict and len(value) == {count}:
        try:
            {_returned(kind, hints, f"kind({', '.join(parts)})")}
        except (KeyError, TypeError, Wrong):
            pass
    return careful(value)
"""
    exec(compile(source, f"<decoder of {kind.__name__}>", "exec"), names)
    read: Decode = names["read"]
    return read


def _returned(kind: Any, hints: dict[str, Any], made: str) -> str:
    """The statements that return the record that `made` makes, or an equal one made before."""
    fields = dataclasses.fields(kind)
    if len(fields) > SHARED_FIELDS or not all(_scalar(hints[field.name]) for field in fields):
        return f"return {made}"
    values = [f"value[{camel(field.name)!r}]" for field in fields]
    # True equals 1, so types are part of the key; floats are left out, for -0.0 equals 0.0.
    key = ", ".join(f"{value}, type({value})" for value in values)
    return f"""key = ({key})
            if (found := known.get(key)) is None:
                found = {made}
                if len(known) < {SHARED_LIMIT} and float not in key:
                    known[key] = found
            return found"""


def _scalar(hint: Any) -> bool:
    if get_origin(hint) in (Union, UnionType):
        return all(_scalar(member) for member in get_args(hint))
    if hint in (*_PLAIN, float, type(None)):
        return True
    return isinstance(hint, type) and issubclass(hint, Enum)


def _expression(hint: Any, found: str, place: int, names: dict[str, Any]) -> str:
    """The expression for one field; `x` is its value once it has been looked up."""
    if hint in _PLAIN:
        return f"x if type(x := {found}) is {hint.__name__} else decode{place}(x)"
    if isinstance(hint, type) and issubclass(hint, Enum):
        names[f"words{place}"] = {member.value: member for member in hint}
        return f"words{place}[{found}]"
    if get_origin(hint) in (Union, UnionType):
        members = get_args(hint)
        plain = [member.__name__ for member in members if member in _PLAIN]
        if plain:
            tests = [f"type(x) is {name}" for name in plain]
            tests += ["x is None"] if type(None) in members else []
            first = tests[0].replace("(x)", f"(x := {found})", 1)
            return f"x if {' or '.join([first, *tests[1:]])} else decode{place}(x)"
        if type(None) in members:
            return f"None if (x := {found}) is None else decode{place}(x)"
    return f"decode{place}({found})"
