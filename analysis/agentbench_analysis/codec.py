"""Dataclasses to camelCase JSON and back, with errors that name the field.

Decoders are built once per type and then only called, so that a campaign of 100,000 rows can be
read in seconds. Unknown fields, wrong types, and NaN or infinite numbers are refused.
"""

import dataclasses
import json
import math
import types
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import cache
from sys import intern
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from agentbench_analysis.compiled import compiled
from agentbench_analysis.errors import AnalysisError, shown
from agentbench_analysis.names import Wrong, camel

T = TypeVar("T")
Decode = Callable[[Any], Any]


SIGNIFICANT = 12
"""Digits kept of a computed number, so that every machine writes the same bytes."""


def settled(number: float) -> float:
    """A computed number at the precision that is published and compared."""
    return float(f"{number:.{SIGNIFICANT}g}") if math.isfinite(number) else number


def decode(kind: type[T], value: Any, file: str) -> T:
    """Build a dataclass from parsed JSON.

    Raises:
        AnalysisError: names the field that does not fit.
    """
    try:
        reader: Any = kind
        result: T = decoder(reader)(value)
    except Wrong as error:
        raise AnalysisError(
            error.problem,
            file=file,
            field=".".join(error.path),
            value=error.value,
            cure=error.cure,
        ) from error
    return result


@cache
def decoder(kind: Any) -> Decode:
    """The function that turns parsed JSON into a value of a type."""
    origin = get_origin(kind)
    if dataclasses.is_dataclass(kind):
        return _record(kind)
    if origin in (Union, types.UnionType):
        return _union(get_args(kind))
    if origin is tuple:
        return _sequence(decoder(get_args(kind)[0]))
    if origin is dict:
        return _mapping(decoder(get_args(kind)[1]))
    if origin is Literal:
        return _one_of(get_args(kind))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _word(kind)
    return _SIMPLE[kind]


def _record(kind: Any) -> Decode:
    hints = get_type_hints(kind)
    fields = dataclasses.fields(kind)
    table = {camel(field.name): (field.name, decoder(hints[field.name])) for field in fields}
    needed = frozenset(
        camel(field.name)
        for field in fields
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    )

    def careful(value: Any) -> Any:
        if type(value) is not dict:
            raise Wrong("is not an object", shown(value), "Write a JSON object here.")
        arguments = {}
        for key, item in value.items():
            try:
                name, decode_item = table[key]
            except KeyError:
                known = ", ".join(table)
                raise Wrong("is not a known field", "", f"Known here: {known}.").at(key) from None
            try:
                arguments[name] = decode_item(item)
            except Wrong as error:
                raise error.at(key)  # noqa: B904 - the same signal, further out
        if len(arguments) < len(table) and not needed <= value.keys():
            missing = sorted(needed - value.keys())[0]
            raise Wrong("is missing", "", "Every record of this schema has it.").at(missing)
        return kind(**arguments)

    return compiled(kind, hints, {name: read for name, read in table.values()}, careful)


def _union(members: tuple[Any, ...]) -> Decode:
    none = type(None) in members
    rest = tuple(member for member in members if member is not type(None))
    if len(rest) == 1:
        inner = decoder(rest[0])
        return lambda value: None if value is None else inner(value)
    plain = frozenset(rest)  # unions of simple types only

    def read(value: Any) -> Any:
        if value is None and none:
            return None
        kind = type(value)
        if kind not in plain:
            names = ", ".join(sorted(member.__name__ for member in plain))
            raise Wrong("has the wrong type", shown(value), f"Allowed: {names}.")
        if kind is float and not math.isfinite(value):
            raise Wrong("is not finite", shown(value), "Write a finite number, or null.")
        return value

    return read


def _sequence(item: Decode) -> Decode:
    def read(value: Any) -> tuple[Any, ...]:
        if type(value) is not list:
            raise Wrong("is not a list", shown(value), "Write a JSON list here.")
        if not value:
            return ()
        result = []
        for index, each in enumerate(value):
            try:
                result.append(item(each))
            except Wrong as error:
                raise error.at(str(index))  # noqa: B904
        return tuple(result)

    return read


def _mapping(item: Decode) -> Decode:
    def read(value: Any) -> dict[str, Any]:
        if type(value) is not dict:
            raise Wrong("is not an object", shown(value), "Write a JSON object here.")
        result = {}
        key = ""
        try:
            for key, each in value.items():
                result[intern(key)] = item(each)
        except Wrong as error:
            raise error.at(key)  # noqa: B904
        return result

    return read


def _one_of(values: tuple[Any, ...]) -> Decode:
    def read(value: Any) -> Any:
        if value not in values:
            allowed = ", ".join(map(str, values))
            raise Wrong("is not one of the allowed values", shown(value), f"Allowed: {allowed}.")
        return value

    return read


def _word(kind: type[Enum]) -> Decode:
    words = {member.value: member for member in kind}

    def read(value: Any) -> Enum:
        word = words.get(value) if type(value) is str else None
        if word is None:
            allowed = ", ".join(map(str, words))
            raise Wrong("is not a known word", shown(value), f"Allowed: {allowed}.")
        return word

    return read


def _text(value: Any) -> str:
    if type(value) is not str:
        raise Wrong("is not text", shown(value), "Write a JSON string here.")
    return value


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise Wrong("is not true or false", shown(value), "Write true or false.")
    return value


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise Wrong("is not a whole number", shown(value), "Write a whole number.")
    return value


def _real(value: Any) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise Wrong("is not a finite number", shown(value), "Write a finite number.")
    return float(value)


_SIMPLE: dict[Any, Decode] = {str: _text, bool: _flag, int: _whole, float: _real}


def encode(value: Any) -> Any:
    """A dataclass as plain JSON data, in declared order."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple | list):
        return [encode(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): encode(item) for key, item in value.items()}
    if dataclasses.is_dataclass(value):
        return {name: encode(getattr(value, field)) for field, name in names_of(value)}
    return value


def names_of(value: Any) -> tuple[tuple[str, str], ...]:
    """Field names of a dataclass instance, each with its JSON name, in declared order."""
    kind: Any = type(value)
    found: tuple[tuple[str, str], ...] = _names(kind)
    return found


@cache
def _names(kind: Any) -> tuple[tuple[str, str], ...]:
    return tuple((field.name, camel(field.name)) for field in dataclasses.fields(kind))


def document(value: Any) -> Iterator[str]:
    """A dataclass as readable JSON text, in pieces; an `attempts` list takes one line each."""
    fields = names_of(value)
    yield "{\n"
    for index, (field, name) in enumerate(fields):
        end = "\n" if index + 1 == len(fields) else ",\n"
        item = getattr(value, field)
        if field == "attempts":
            yield f' "{name}": ['
            for place, each in enumerate(item):
                line = json.dumps(encode(each), ensure_ascii=False, allow_nan=False)
                yield ("\n  " if place == 0 else ",\n  ") + line
            yield ("\n ]" if item else "]") + end
        else:
            text = json.dumps(encode(item), ensure_ascii=False, allow_nan=False, indent=1)
            yield f' "{name}": ' + text.replace("\n", "\n ") + end
    yield "}\n"
