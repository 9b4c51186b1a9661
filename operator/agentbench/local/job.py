"""What a keeper is told of its attempt, and where the attempt's files are."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from agentbench.api.campaign import CampaignSpec
from agentbench.core.plan import PlannedRun
from agentbench.core.summary import Frozen
from agentbench.local.isolation import Isolation
from agentbench.pod.trees import remove_tree
from agentbench_analysis.codec import decode, encode

JOB_SCHEMA: Literal["agentbench.job/v1"] = "agentbench.job/v1"


class Job(Frozen):
    """One attempt (`agentbench.job/v1`). Paths are the machine's; no secret is in it."""

    schema_: Literal["agentbench.job/v1"] = Field(JOB_SCHEMA, alias="schema")
    campaign: str
    digest: str
    spec: dict[str, Any]
    run: dict[str, Any]
    attempt: int
    isolation: Isolation
    show: tuple[str, ...] = ()
    hide: tuple[str, ...] = ()
    layers: dict[str, str] = Field(default_factory=dict)  # name to unpacked folder
    templates: str

    def parsed_spec(self) -> CampaignSpec:
        """The campaign's spec."""
        return CampaignSpec.model_validate(self.spec)

    def planned(self) -> PlannedRun:
        """The run."""
        return decode(PlannedRun, self.run, "job.run")


def run_document(run: PlannedRun) -> dict[str, Any]:
    """A planned run as JSON values."""
    document: dict[str, Any] = encode(run)
    return document


@dataclass(frozen=True, slots=True)
class AttemptFolder:
    """The files of one attempt, in the engine's state."""

    root: Path

    @property
    def job(self) -> Path:
        """What the keeper is told."""
        return self.root / "job.json"

    @property
    def lock(self) -> Path:
        """Locked for as long as a keeper lives."""
        return self.root / "keeper.lock"

    @property
    def log(self) -> Path:
        """What the keeper itself had to say."""
        return self.root / "keeper.log"

    @property
    def journal(self) -> Path:
        """How far the attempt has come."""
        return self.root / "journal.jsonl"

    @property
    def work(self) -> Path:
        """The agent's workplace."""
        return self.root / "work"

    @property
    def warden(self) -> Path:
        """The warden's record."""
        return self.root / "warden"

    @property
    def snapshot(self) -> Path:
        """The final state."""
        return self.root / "final.tar.zst"

    @property
    def bench(self) -> Path:
        """Where the final state is graded."""
        return self.root / "bench"

    @property
    def record(self) -> Path:
        """The artifacts, under the names that they have in the store."""
        return self.root / "record"

    @property
    def row(self) -> Path:
        """The finished row, as it is to be stored."""
        return self.root / "row.json"

    @property
    def fault(self) -> Path:
        """Why the campaign cannot go on, where the keeper had to give up."""
        return self.root / "fault.json"


def short_path(root: Path) -> Path:
    """Where the sockets of the attempt in a folder are."""
    return Path("/tmp") / f"agent-bench-{sha256(str(root).encode()).hexdigest()[:16]}"


@contextmanager
def short_folder(root: Path) -> Iterator[Path]:
    """A folder of ours whose path is short enough for the address of a Unix socket.

    Its name follows from the attempt's folder, so what a killed keeper left is removed by the next.
    """
    folder = short_path(root)
    remove_tree(folder)
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        remove_tree(folder)


def write_durably(path: Path, content: bytes) -> None:
    """Put a file in place whole, and on the disk before this returns."""
    draft = path.with_name(f".{path.name}.draft")
    with draft.open("wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    draft.replace(path)
    descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_job(folder: AttemptFolder) -> Job:
    """Read what the keeper is told."""
    return Job.model_validate(json.loads(folder.job.read_bytes()))
