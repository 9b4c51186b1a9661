"""YAML read with the place of every value, and with bounds on what a file may do to us."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import yaml

from agentbench.pack.problems import Loc, PackInvalid, Problem, field_name, shown

MAX_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 60
MAX_VALUES = 200_000
_TIMESTAMP = "tag:yaml.org,2002:timestamp"
_TEXT = "tag:yaml.org,2002:str"
_MERGE = "tag:yaml.org,2002:merge"


@dataclass(frozen=True, slots=True)
class Source:
    """A document with the place and the written form of its values.

    `lines` counts from 1. `written` holds scalars as they stand in the file, so that an error
    can show `1.10` where YAML understood the number 1.1.
    """

    file: str
    data: Any
    lines: dict[Loc, int]
    written: dict[Loc, str]

    def line(self, loc: Loc) -> int | None:
        """The line of a place, or of the nearest place around it."""
        while loc not in self.lines:
            if not loc:
                return None
            loc = loc[:-1]
        return self.lines[loc]

    def problem(
        self, loc: Loc, message: str, cure: str, *, value: str = "", open_: bool = False
    ) -> Problem:
        """A problem at a place of this document."""
        return Problem(
            file=self.file,
            line=self.line(loc),
            field=field_name(loc),
            value=value,
            message=message,
            cure=cure,
            open=open_,
        )


def read_yaml(path: Path, name: str) -> Source:
    """Read one YAML document.

    Args:
        path: where it is.
        name: how errors call it.

    Raises:
        PackInvalid: it is missing, too large, no UTF-8, no YAML, has a key twice, is nested
            too deep, or its anchors unfold to too much.
    """
    return parse_yaml(_text(path, name), name)


def parse_yaml(text: str, name: str) -> Source:
    """Read one YAML document from text; raises PackInvalid as `read_yaml` does."""
    try:
        _bound_depth(text, name)
        node = yaml.compose(text, Loader=yaml.CSafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        said = error.problem or error.context or "unreadable"
        _refuse(name, f"not YAML: {said}", "Mend the file at this line.", line)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        _refuse(
            name, f"not YAML: {error.reason}", "Remove the control character from this line.", line
        )
    if node is None:
        _refuse(name, "the file is empty", "Write a campaign; agent-bench init makes one to edit.")
    builder = _Builder(name)
    data = builder.build(node, ())
    if builder.problems:
        raise PackInvalid(builder.problems)
    return Source(name, data, builder.lines, builder.written)


def _refuse(name: str, message: str, cure: str, line: int | None = None) -> NoReturn:
    raise PackInvalid([Problem(file=name, line=line, message=message, cure=cure)])


def _text(path: Path, name: str) -> str:
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            _refuse(
                name,
                f"the file has {size} bytes, and at most {MAX_BYTES} are read",
                "Keep long texts in files of their own and name them here.",
            )
        content = path.read_bytes()
    except FileNotFoundError:
        _refuse(name, "there is no such file", "Name a pack folder; agent-bench init makes one.")
    except OSError as error:
        _refuse(name, f"cannot be read: {error.strerror}", "Make it a readable file.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        _refuse(
            name,
            f"not UTF-8: byte {content[error.start]:#04x} at offset {error.start}",
            "Save the file as UTF-8.",
            line,
        )


def _bound_depth(text: str, name: str) -> None:
    """Walk the events, which need no stack, before anything recursive sees the text."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                mark = event.start_mark
                line = mark.line + 1 if mark else None
                _refuse(name, f"nested deeper than {MAX_DEPTH}", "Flatten the file.", line)
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


class _Builder:
    """Turns nodes into values, counting what anchors unfold to."""

    def __init__(self, name: str):
        self.name = name
        self.lines: dict[Loc, int] = {}
        self.written: dict[Loc, str] = {}
        self.problems: list[Problem] = []
        self.scalars = yaml.SafeLoader("")

    def build(self, node: yaml.Node, loc: Loc) -> Any:
        self.lines.setdefault(loc, node.start_mark.line + 1)
        if len(self.lines) > MAX_VALUES:
            _refuse(
                self.name,
                f"anchors unfold to more than {MAX_VALUES} values",
                "Write the values out instead of repeating them by anchors.",
                node.start_mark.line + 1,
            )
        if len(loc) > MAX_DEPTH:
            _refuse(self.name, f"nested deeper than {MAX_DEPTH}", "Flatten the file.")
        if isinstance(node, yaml.MappingNode):
            return dict(self._pairs(node, loc))
        if isinstance(node, yaml.SequenceNode):
            return [self.build(child, (*loc, n)) for n, child in enumerate(node.value)]
        return self._scalar(node, loc)

    def _pairs(self, node: yaml.MappingNode, loc: Loc) -> Iterator[tuple[str, Any]]:
        seen: dict[str, int] = {}
        for key, child in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode) or key.tag == _MERGE:
                self._add(line, loc, "a key must be plain text", "Write the fields out.")
                continue
            name = str(key.value)
            if name in seen:
                self._add(
                    line,
                    (*loc, name),
                    f"the key is there twice, first on line {seen[name]}",
                    "Keep one of them.",
                )
                continue
            seen[name] = line
            self.lines[(*loc, name)] = line
            yield name, self.build(child, (*loc, name))

    def _scalar(self, node: yaml.Node, loc: Loc) -> Any:
        self.written[loc] = str(node.value)
        if node.tag in (_TIMESTAMP, _TEXT):
            return node.value
        try:
            return self.scalars.construct_object(node)
        except (yaml.constructor.ConstructorError, ValueError):
            self._add(
                node.start_mark.line + 1,
                loc,
                f"the tag {node.tag} is not accepted",
                "Write plain text, a number, true or false.",
                value=shown(node.value),
            )
            return None

    def _add(self, line: int, loc: Loc, message: str, cure: str, value: str = "") -> None:
        self.problems.append(
            Problem(
                file=self.name,
                line=line,
                field=field_name(loc),
                value=value,
                message=message,
                cure=cure,
            )
        )
