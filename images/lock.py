"""The part of the lock that one image needs."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, requires

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

# What every base is: the container's Python, not the builder's.
ENVIRONMENT = {
    "python_version": "3.11",
    "python_full_version": "3.11.2",
    "sys_platform": "linux",
    "platform_system": "Linux",
    "os_name": "posix",
    "platform_python_implementation": "CPython",
    "implementation_name": "cpython",
}


def closure(package: str, extras: Iterable[str]) -> set[str]:
    """The names of all packages that one needs with these extras, itself aside.

    Raises:
        ValueError: one of them is not installed here, so its own needs are unknown.
    """
    found: set[tuple[str, frozenset[str]]] = set()
    waiting = [(canonicalize_name(package), frozenset(extras))]
    while waiting:
        name, wanted = waiting.pop()
        if (name, wanted) in found:
            continue
        found.add((name, wanted))
        try:
            needs = requires(name) or []
        except PackageNotFoundError as error:
            raise ValueError(
                f"{name} is not installed in {sys.prefix}: run `make setup` first"
            ) from error
        for text in needs:
            need = Requirement(text)
            if need.marker is None or any(
                need.marker.evaluate({**ENVIRONMENT, "extra": extra}) for extra in {"", *wanted}
            ):
                waiting.append((canonicalize_name(need.name), frozenset(need.extras)))
    return {name for name, _ in found} - {canonicalize_name(package)}


def blocks(lock: str) -> Mapping[str, str]:
    """The lock's entries with their hashes, by package; one may have several, by markers."""
    found: dict[str, str] = {}
    name = ""
    for line in lock.splitlines():
        started = re.match(r"([A-Za-z0-9._-]+)==", line)
        if started:
            name = canonicalize_name(started[1])
            found.setdefault(name, "")
        if name and not line.lstrip().startswith("#"):
            found[name] += line + "\n"
    return found


def part(lock: str, names: Iterable[str]) -> str:
    """The lock of these packages alone.

    Raises:
        ValueError: the lock does not have one of them.
    """
    known = blocks(lock)
    missing = sorted(set(names) - set(known))
    if missing:
        raise ValueError(f"the lock has no {', '.join(missing)}: run `make lock`")
    return "".join(known[name] for name in sorted(names))
