"""Freezing a pack: all or nothing, and only what has passed its gates."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from agentbench.api.campaign import BenchmarkCampaign
from agentbench.core.digest import require_digest, sha256_of
from agentbench.pack.atomic import write_whole
from agentbench.pack.check import check
from agentbench.pack.load import (
    CAMPAIGN_FILE,
    FREEZE_FILE,
    FROZEN_FOLDER,
    GATES_FILE,
    Pack,
    parse_campaign,
)
from agentbench.pack.prepare import BUNDLE_URL, Prepared, prepare
from agentbench.pack.problems import PackInvalid, Problem
from agentbench.pack.records import (
    FreezeRecord,
    FrozenFile,
    Gates,
    encode,
    frozen_files,
    read,
)
from agentbench.pack.source import parse_yaml

_HEAD = """\
# Written by `agent-bench freeze`. Commit it; `agent-bench run` and `kubectl apply` take it.
# Nothing in it may change but parallelism, suspend, cancel, ttlAfterRecorded, keepFailedPods,
# and new entries at the end of protocol.amendments.
"""


@dataclass(frozen=True, slots=True)
class Frozen:
    """A freeze: its record, and whether it was there before."""

    record: FreezeRecord
    manifest: Path
    already: bool


def missing(pack: Pack) -> list[Problem]:
    """Everything that keeps a pack from being frozen, all at once."""
    found = check(pack)
    protocol = pack.spec.protocol
    if protocol.freeze is not None:
        found.append(
            pack.source.problem(
                ("spec", "protocol", "freeze"),
                "is set by agent-bench freeze alone",
                "Remove it from the pack's campaign.yaml; the frozen manifest is a file apart.",
            )
        )
    if protocol.freeze is None and not protocol.draft:
        found.append(
            pack.source.problem(
                ("spec", "protocol", "draft"),
                "a pack is a draft until its freeze",
                "Set it to true.",
            )
        )
    for n, item in enumerate(protocol.open_items):
        if item.blocks_freeze and not item.resolution:
            found.append(
                pack.source.problem(
                    ("spec", "protocol", "openItems", n),
                    f"open item {item.id} is not settled: {item.text}",
                    "Settle it and write how as its resolution.",
                )
            )
    for n, task in enumerate(pack.spec.tasks):
        for stack in pack.spec.stacks:
            if stack.id not in task.solutions:
                found.append(
                    pack.source.problem(
                        ("spec", "tasks", n, "solutions"),
                        f"there is no reference solution for stack {stack.id}",
                        "Add it: the gates need it to show that the check can pass.",
                    )
                )
    return found


def _gate_command(pack: Pack) -> str:
    return "agent-bench gate" if pack.root == Path() else f"agent-bench gate {pack.root}"


def gate_problems(pack: Pack, digest: str) -> list[Problem]:
    """What is wrong with the evidence that a pack passed its gates."""
    run = f"Run {_gate_command(pack)}."
    name = pack.root / GATES_FILE
    try:
        gates = read(Gates, name, run)
    except PackInvalid as error:
        return list(error.problems)
    if gates.digest != digest:
        return [
            Problem(
                file=str(pack.root / GATES_FILE),
                message="the gates were passed by other files than these",
                cure=run,
                value=gates.digest,
            )
        ]
    return [
        Problem(
            file=str(name),
            message=f"gate {result.task} {result.stack} {result.subject}: expected "
            f"{result.expected}, found {result.found}",
            cure="Mend the check or the file, then run the gates again.",
        )
        for result in gates.results
        if not result.ok
    ]


def freeze(pack: Pack, *, now: str, commit: str | None, bundle_url: str = BUNDLE_URL) -> Frozen:
    """Freeze a pack: write its bundle, `frozen/campaign.yaml` and, last, `locks/FREEZE`.

    Args:
        pack: the pack, loaded from its own campaign.yaml.
        now: the instant of the freeze, RFC 3339 in UTC.
        commit: the git commit of the pack's files, None outside a repository.
        bundle_url: where a run finds the bundle; the digest does not depend on it.

    Raises:
        PackInvalid: with everything that is missing; nothing was written.
    """
    problems = missing(pack)
    if problems:
        evidence = [
            Problem(
                file=str(pack.root / GATES_FILE),
                message="the gates cannot be judged before this is mended",
                cure=f"Then run {_gate_command(pack)}.",
            )
        ]
        raise PackInvalid(problems + evidence)
    prepared = prepare(pack)
    earlier = _earlier(pack, prepared)
    if earlier is not None:
        return Frozen(earlier, pack.frozen_manifest, already=True)
    if problems := gate_problems(pack, prepared.digest):
        raise PackInvalid(problems)
    prepare(pack, pack.root / FROZEN_FOLDER / "bundle")
    record = FreezeRecord(
        protocol=pack.spec.protocol.id,
        campaign=pack.name,
        digest=prepared.digest,
        bundle=prepared.manifest.sha256,
        frozen_at=now,
        commit=commit,
        order_seed=pack.spec.order.seed,
        bootstrap_seed=pack.spec.analysis.seed,
        gates=sha256_of((pack.root / GATES_FILE).read_bytes()),
        files=_files(pack, prepared),
    )
    write_whole(pack.frozen_manifest, _manifest(pack, prepared, record, bundle_url))
    write_whole(pack.root / FREEZE_FILE, encode(record))
    return Frozen(record, pack.frozen_manifest, already=False)


def _earlier(pack: Pack, prepared: Prepared) -> FreezeRecord | None:
    """The freeze that was made of these very files.

    Raises:
        PackInvalid: the pack was frozen with other files.
    """
    path = pack.root / FREEZE_FILE
    if not path.exists():
        return None
    cure = "Restore the file from the commit of the freeze."
    record = read(FreezeRecord, path, cure)
    if record.digest == prepared.digest and pack.frozen_manifest.exists():
        return record
    raise PackInvalid(
        [
            Problem(
                file=str(path),
                message=f"the pack was frozen on {record.frozen_at} as other files",
                cure="A frozen protocol never changes: restore its files (agent-bench verify names "
                "them), add an amendment to frozen/campaign.yaml, or start a pack with a new "
                "protocol id.",
                value=record.digest,
            )
        ]
    )


def _files(pack: Pack, prepared: Prepared) -> tuple[FrozenFile, ...]:
    own = FrozenFile(path=CAMPAIGN_FILE, sha256=sha256_of((pack.root / CAMPAIGN_FILE).read_bytes()))
    rest = frozen_files(pack.spec, prepared.manifest)
    return tuple(sorted((own, *rest), key=lambda file: file.path))


def _manifest(pack: Pack, prepared: Prepared, record: FreezeRecord, bundle_url: str) -> bytes:
    spec: dict[str, Any] = prepared.spec.model_dump(mode="json", by_alias=True, exclude_none=True)
    protocol = spec["protocol"]
    protocol["draft"] = False
    protocol["bundle"]["url"] = bundle_url
    protocol["freeze"] = {
        "digest": record.digest,
        "frozenAt": record.frozen_at,
        **({"commit": record.commit} if record.commit else {}),
    }
    kept = {"name", "namespace", "labels", "annotations"} & pack.campaign.metadata.keys()
    document = {
        "apiVersion": pack.campaign.api_version,
        "kind": pack.campaign.kind,
        "metadata": {key: pack.campaign.metadata[key] for key in sorted(kept)},
        "spec": _without_empty(spec),
    }
    text = _HEAD + yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)
    written: BenchmarkCampaign = parse_campaign(parse_yaml(text, str(pack.frozen_manifest)))
    require_digest(written.spec)
    return text.encode()


def _without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {name: _without_empty(item) for name, item in value.items()}
        return {name: item for name, item in kept.items() if item not in ("", [], {})}
    if isinstance(value, list):
        return [_without_empty(item) for item in value]
    return value
