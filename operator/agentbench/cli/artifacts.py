"""Artifacts of an attempt, printed: agents wrote most of what stands in them."""

import io
import json
import sys
from collections.abc import Iterator
from typing import BinaryIO

import click
import zstandard

from agentbench.cli.screen import Screen, plain
from agentbench.pack.problems import PackInvalid, Problem
from agentbench.store.port import Store
from agentbench_analysis.rows.model import Artifact, Row
from agentbench_analysis.site.text import Clip
from agentbench_analysis.site.trace import Bounds, Step, Trace, read_trace

_CHUNK = 1 << 16
_BOUNDS = Bounds(bytes=256 << 20, steps=100_000, field=20_000, total=64 << 20)
_FILES = {"events": "events.jsonl.zst", "usage": "usage.jsonl", "diff": "final.diff"}


def print_part(store: Store, row: Row, part: str) -> None:
    """Print one part of what an attempt left.

    Raises:
        PackInvalid: the attempt has no such artifact, or it was withheld.
    """
    screen = Screen()
    if part == "trace":
        _print_trace(screen, read_trace(_chunks(store, row, "trajectory.json"), _BOUNDS))
    elif part in ("checks", "security"):
        wanted = "check-" if part == "checks" else "security"
        names = sorted(name for name in row.artifacts if name.startswith(wanted))
        for name in names or [f"{wanted}.json"]:
            _print_check(screen, name, b"".join(_chunks(store, row, name)))
    else:
        for chunk in _chunks(store, row, _FILES[part]):
            _write(chunk)


def _artifact(row: Row, name: str) -> Artifact:
    found = row.artifacts.get(name)
    if found is None or found.withheld is not None:
        why = f"was withheld: {found.withheld}" if found else "is not there"
        known = ", ".join(sorted(row.artifacts)) or "none"
        raise PackInvalid(
            [
                Problem(
                    file=f"{row.run}, attempt {row.attempt}",
                    message=f"{name} {why}",
                    cure=f"This attempt has: {known}.",
                )
            ]
        )
    return found


def _chunks(store: Store, row: Row, name: str) -> Iterator[bytes]:
    artifact = _artifact(row, name)
    with store.open(artifact.key) as stored:
        source: BinaryIO = stored
        if name.endswith(".zst"):
            source = io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(stored))
        while chunk := source.read(_CHUNK):
            yield chunk


def _write(chunk: bytes) -> None:
    """Bytes as they are into a pipe; printable text on a terminal."""
    if Screen().rich:
        click.echo(plain(chunk.decode("utf-8", "replace")), nl=False)
    else:
        sys.stdout.buffer.write(chunk)


def _print_trace(screen: Screen, trace: Trace) -> None:
    screen.heading(f"{trace.agent or 'agent'}: {len(trace.steps)} steps, {trace.calls} tool calls")
    for step in trace.steps:
        _print_step(screen, step)
    for sub in trace.subagents:
        screen.say()
        _print_trace(screen, sub)
    for problem in trace.problems:
        screen.note(problem)


def _print_step(screen: Screen, step: Step) -> None:
    at = "" if step.at is None else f" +{step.at:.1f}s"
    who = "scripted reply" if step.intervention else step.source
    screen.heading(f"[{step.number}{at}] {who}")
    for clip in (step.reasoning, step.message):
        if clip:
            screen.say(_indented(_text(clip)))
    for call in step.calls:
        screen.say(f"  > {call.name} {_text(call.arguments)}")
        for result in call.results:
            screen.say(_indented(_text(result), "    "))
    for result in step.results:
        screen.say(_indented(_text(result), "    "))


def _text(clip: Clip) -> str:
    if not clip.omitted:
        return clip.head + clip.tail
    return f"{clip.head}\n[{clip.omitted} characters left out]\n{clip.tail}"


def _indented(text: str, by: str = "  ") -> str:
    return "\n".join(by + line for line in text.rstrip().splitlines())


def _print_check(screen: Screen, name: str, content: bytes) -> None:
    document = json.loads(content)
    screen.heading(name)
    screen.say(_indented(json.dumps(document.get("result"), indent=1, ensure_ascii=False)))
    for title, field in (("detail", "detail"), ("printed", "output"), ("app log", "appLog")):
        if document.get(field):
            screen.say(f"  {title}:")
            screen.say(_indented(str(document[field]), "    "))
