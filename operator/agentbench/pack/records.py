"""The two records of a pack: `locks/GATES` (its gates' evidence) and `locks/FREEZE`."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import Field, ValidationError

from agentbench.api.base import Id, Model, Name, Sha256, Timestamp
from agentbench.api.campaign import CampaignSpec
from agentbench.core.bundle import BundleManifest
from agentbench.pack.layout import named_files
from agentbench.pack.problems import PackInvalid, Problem

GATES_SCHEMA: Literal["agentbench.gates/v1"] = "agentbench.gates/v1"
FREEZE_SCHEMA: Literal["agentbench.freeze-record/v1"] = "agentbench.freeze-record/v1"

Record = TypeVar("Record", bound=Model)


class GateResult(Model):
    """One gate: a check tried on a final state whose verdict is known beforehand."""

    task: Id
    stack: Id
    subject: Annotated[str, Field(max_length=500)]  # reference, nop, or a mutant's path
    expected: Annotated[str, Field(max_length=500)]
    found: Annotated[str, Field(max_length=4000)]
    ok: bool


class Gates(Model):
    """What `agent-bench gate` found, for exactly these files (`agentbench.gates/v1`)."""

    schema_: Literal["agentbench.gates/v1"] = Field(GATES_SCHEMA, alias="schema")
    digest: Sha256
    at: Timestamp
    results: tuple[GateResult, ...] = Field(min_length=1)

    @property
    def passed(self) -> bool:
        """Whether every gate holds."""
        return all(result.ok for result in self.results)


class FrozenFile(Model):
    """One file of the pack as it was frozen."""

    path: str
    sha256: Sha256 | None = None  # None for a symbolic link
    link: str | None = None
    executable: bool = False


class FreezeRecord(Model):
    """A freeze, for people and for `agent-bench verify` (`agentbench.freeze-record/v1`)."""

    schema_: Literal["agentbench.freeze-record/v1"] = Field(FREEZE_SCHEMA, alias="schema")
    protocol: Id
    campaign: Name
    digest: Sha256
    bundle: Sha256
    frozen_at: Timestamp
    commit: str | None = None
    order_seed: int
    bootstrap_seed: int
    gates: Sha256
    files: tuple[FrozenFile, ...]


def encode(record: Model) -> bytes:
    """A record as people read it: indented JSON, a line at the end."""
    document = record.model_dump(mode="json", by_alias=True, exclude_none=True)
    return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()


def read(kind: type[Record], path: Path, cure: str) -> Record:
    """Read a record.

    Raises:
        PackInvalid: it is missing or no such record.
    """
    name = str(path)
    try:
        return kind.model_validate(json.loads(path.read_text("utf-8")))
    except FileNotFoundError:
        raise _refused(name, "there is no such file", cure) from None
    except OSError as error:
        raise _refused(name, f"cannot be read: {error.strerror}", cure) from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(step) for step in first["loc"])
        raise _refused(name, f"{place}: {first['msg']}", cure) from None
    except ValueError as error:
        raise _refused(name, f"no UTF-8 JSON: {error}", cure) from None


def _refused(name: str, message: str, cure: str) -> PackInvalid:
    return PackInvalid([Problem(file=name, message=message, cure=cure)])


def frozen_files(spec: CampaignSpec, manifest: BundleManifest) -> Iterator[FrozenFile]:
    """Every file that a bundle holds, under its path in the pack."""
    seen: set[str] = set()
    places = [(each.layer, each.path if each.inside else "") for each in named_files(spec)]
    for name, top in dict.fromkeys(places):
        layer = manifest.layer(name)
        for file in layer.files if layer is not None else ():
            path = f"{Path(top).as_posix()}/{file.path}" if top else file.path
            if path not in seen:
                seen.add(path)
                yield FrozenFile(
                    path=path,
                    sha256=file.sha256,
                    link=file.link,
                    executable=file.link is None and file.mode == 0o755,
                )
