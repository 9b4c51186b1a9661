"""How an adapter reads the settings that a protocol froze for it."""

import json
import shlex
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel


class SettingsError(ValueError):
    """An agent's settings are not usable; the message names adapter, field and cure."""


def _json_or(value: Any, opening: str, otherwise: Callable[[str], Any]) -> Any:
    """A value that is a text: read as JSON if it begins as such, else in its plain form."""
    if not isinstance(value, str):
        return value
    if not value.lstrip().startswith(opening):
        return otherwise(value)
    try:
        return json.loads(value)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"begins as JSON and is none ({error.msg} at character {error.pos + 1}); "
            "close every quote and bracket, and escape quotes inside"
        ) from None


def _names(value: str) -> tuple[str, ...]:
    return tuple(name for part in value.split(",") if (name := part.strip()))


def _words(value: str) -> list[str]:
    try:
        return shlex.split(value)
    except ValueError as error:
        raise ValueError(
            f"is no command line ({str(error).lower()}); close its quotes, or write a JSON list"
        ) from None


def _no_map(value: str) -> Any:
    raise ValueError('is no JSON object; write one, as in {"NAME": "text"}')


Names = Annotated[tuple[str, ...], BeforeValidator(lambda value: _json_or(value, "[", _names))]
"""A list of names; as a text, with commas between them or as JSON."""

Words = Annotated[tuple[str, ...], BeforeValidator(lambda value: _json_or(value, "[", _words))]
"""A command line; as a text, with a shell's quotes or as JSON."""

Texts = Annotated[dict[str, str], BeforeValidator(lambda value: _json_or(value, "{", _no_map))]
"""Texts by name; as a text, a JSON object."""


class Settings(BaseModel):
    """Settings of one adapter; in a protocol their names are camelCase and their values texts."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True
    )


class NoSettings(Settings):
    """For an adapter that a protocol can set nothing of."""


Kind = TypeVar("Kind", bound=Settings)


def read_settings(model: type[Kind], adapter: str, given: Mapping[str, Any]) -> Kind:
    """Read the settings; SettingsError names every field that is unknown or wrong."""
    try:
        return model.model_validate(dict(given))
    except ValidationError as error:
        known = ", ".join(sorted(field.alias or name for name, field in model.model_fields.items()))
        faults = "; ".join(
            f"{'.'.join(str(part) for part in fault['loc']) or 'settings'}: "
            f"{fault['msg'].removeprefix('Value error, ')} (found {fault['input']!r:.80})"
            for fault in error.errors(include_url=False)
        )
        raise SettingsError(
            f"settings of adapter {adapter}: {faults} (it knows: {known or 'none'})"
        ) from None
