"""One object of a document that people write: fields by type, errors by place."""

import re
from collections.abc import Mapping
from typing import Any

from agentbench_analysis.errors import AnalysisError, shown

_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?")


class Door:
    """One object of the campaign's document, which remembers where it stands."""

    def __init__(self, value: object, file: str, path: str):
        if not isinstance(value, Mapping):
            raise AnalysisError(
                "is not an object",
                file=file,
                field=path,
                value=shown(value),
                cure="Write a mapping here.",
            )
        self.value: Mapping[str, Any] = value
        self.file = file
        self.path = path

    def where(self, key: str) -> str:
        """The dotted path of a field."""
        return f"{self.path}.{key}" if self.path else key

    def refuse(self, key: str, problem: str, cure: str) -> AnalysisError:
        """The error for one field."""
        found = shown(self.value[key]) if key in self.value else ""
        return AnalysisError(problem, file=self.file, field=self.where(key), value=found, cure=cure)

    def child(self, key: str) -> "Door":
        """A nested object; an absent one is empty."""
        return Door(self.value.get(key) or {}, self.file, self.where(key))

    def children(self, key: str) -> list["Door"]:
        """A list of objects; an absent one is empty."""
        items = self.value.get(key) or []
        if not isinstance(items, list | tuple):
            raise self.refuse(key, "is not a list", "Write a list here.")
        return [
            Door(item, self.file, f"{self.where(key)}.{index}") for index, item in enumerate(items)
        ]

    def text(self, key: str, default: str | None = None) -> str:
        """A piece of text; one without a default must be there."""
        found = self.value.get(key, default)
        if not isinstance(found, str) or (default is None and not found):
            raise self.refuse(key, "is not text", "Write a non-empty string.")
        return found

    def number(self, key: str, default: float | None = None) -> float:
        """A number, or a decimal string as manifests write them."""
        found = self.value.get(key, default)
        if isinstance(found, str):
            try:
                found = float(found)
            except ValueError:
                found = None
        if isinstance(found, bool) or not isinstance(found, int | float):
            raise self.refuse(key, "is not a number", "Write a number or a decimal string.")
        return float(found)

    def count(self, key: str, default: int | None = None) -> int:
        """A whole number of at least one."""
        found = self.number(key, default)
        if found != int(found) or found < 1:
            raise self.refuse(key, "is not a whole number of 1 or more", "Write 1, 2, 3, ...")
        return int(found)

    def seconds(self, key: str) -> float:
        """A duration such as `45m`, or a number of seconds."""
        found = self.value.get(key)
        if isinstance(found, str) and found:
            match = _DURATION.fullmatch(found)
            if match and any(match.groups()):
                hours, minutes, seconds = (float(part or 0) for part in match.groups())
                return hours * 3600 + minutes * 60 + seconds
        elif isinstance(found, int | float) and not isinstance(found, bool):
            return float(found)
        raise self.refuse(key, "is not a duration", "Write it as 45m, 1h30m or 90s.")

    def word(self, key: str, kind: type[Any], default: Any) -> Any:
        """A member of a closed vocabulary."""
        found = self.value.get(key, default)
        try:
            return kind(found)
        except ValueError:
            allowed = ", ".join(member.value for member in kind)
            raise self.refuse(key, "is not a known word", f"Allowed: {allowed}.") from None
