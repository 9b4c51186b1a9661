"""CEL rules of the custom resources: what an API server refuses, with the operator down too.

A rule about change compares `self` with `oldSelf`. `self.x == oldSelf.x` alone is not enough for
an optional field: adding or removing it would slip through. So every such rule compares presence
first, and stands on the parent that cannot be absent.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import BaseModel

from agentbench.api.campaign import MUTABLE_FIELDS, CampaignSpec
from agentbench.api.protocol import Protocol
from agentbench.api.run import RunSpec

Place = tuple[str, ...]
"""Where in a resource's schema rules stand: property names from the root; `[]` is a list item."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One `x-kubernetes-validations` entry."""

    rule: str
    message: str
    field: str = ""  # the field that the refusal names, below the rule's place

    def manifest(self) -> dict[str, str]:
        """The entry as it stands in a CRD."""
        where = {"fieldPath": self.field} if self.field else {}
        return {"rule": self.rule, "message": self.message, **where}


def _fields(model: type[BaseModel]) -> Iterable[tuple[str, bool]]:
    """Names as they are written, and whether each must be there."""
    for name, field in model.model_fields.items():
        yield field.serialization_alias or field.alias or name, field.is_required()


def unchanged(name: str, required: bool) -> str:
    """CEL that holds while a field is neither set, removed nor changed."""
    same = f"self.{name} == oldSelf.{name}"
    if required:
        return same
    return f"has(self.{name}) == has(oldSelf.{name}) && (!has(self.{name}) || {same})"


def immutable(
    model: type[BaseModel], *, unless: frozenset[str], frozen: str | None, because: str
) -> tuple[Rule, ...]:
    """One rule for every field of a model but those named.

    Args:
        model: the model whose fields must not change.
        unless: fields that may change.
        frozen: CEL for "it is frozen", about `oldSelf`; None where it always is.
        because: ends the message: why it may not change, and the cure.
    """
    guard = "" if frozen is None else f"!({frozen}) || "
    return tuple(
        Rule(
            f"{guard}({unchanged(name, required)})" if guard else unchanged(name, required),
            f"{name} {because}",
            f".{name}",
        )
        for name, required in _fields(model)
        if name not in unless
    )


def append_only(name: str, frozen: str | None = None) -> Rule:
    """A list that only grows: old entries stay, whole and where they are.

    An entry's `seq` is its place, so the old entry `seq` must stand there still.
    """
    guard = "" if frozen is None else f"!({frozen}) || "
    return Rule(
        f"{guard}!has(oldSelf.{name}) || oldSelf.{name}.size() == 0 || (has(self.{name}) "
        f"&& oldSelf.{name}.all(old, old.seq <= self.{name}.size() "
        f"&& self.{name}[old.seq - 1] == old))",
        f"{name} is append only: an entry is never changed, moved or removed; add another",
        f".{name}",
    )


def numbered() -> Rule:
    """A list whose entries carry seq 1, 2, 3, ... in that order."""
    return Rule(
        "self.all(entry, entry.seq >= 1 && entry.seq <= self.size() "
        "&& self[entry.seq - 1] == entry "
        "&& self.exists_one(other, other.seq == entry.seq))",
        "seq must run 1, 2, 3, ... in the list's order, without a gap",
    )


def unique(key: str) -> Rule:
    """A list in which no two entries share a key."""
    return Rule(
        f"self.all(entry, self.exists_one(other, other.{key} == entry.{key}))",
        f"every {key} must be unique in the list",
    )


_FROZEN = "of a frozen campaign cannot change; make another campaign, with a freeze of its own"

CAMPAIGN_RULES: dict[Place, tuple[Rule, ...]] = {
    ("spec",): (
        *immutable(
            CampaignSpec,
            unless=MUTABLE_FIELDS | {"protocol"},
            frozen="has(oldSelf.protocol.freeze)",
            because=_FROZEN,
        ),
        Rule(
            "self.stacks.exists(stack, stack.id == self.analysis.referenceStack)",
            "analysis.referenceStack must be the id of one of the stacks",
            ".analysis.referenceStack",
        ),
    ),
    ("spec", "protocol"): (
        *immutable(
            Protocol,
            unless=frozenset({"freeze", "amendments"}),
            frozen="has(oldSelf.freeze)",
            because=_FROZEN,
        ),
        Rule(
            unchanged("freeze", required=False),
            "freeze is never set, removed or changed in place; apply the frozen manifest that "
            "agent-bench freeze writes, as an object of another name",
            ".freeze",
        ),
        Rule(
            "!has(self.freeze) || !has(self.draft) || !self.draft",
            "a frozen protocol is no draft; remove draft: true",
            ".draft",
        ),
        Rule(
            "!has(self.freeze) || has(self.bundle)",
            "a frozen protocol names its bundle; apply the manifest that agent-bench freeze writes",
            ".bundle",
        ),
        append_only("amendments", frozen="has(oldSelf.freeze)"),
    ),
    ("spec", "protocol", "amendments"): (numbered(),),
    **{("spec", name): (unique("id"),) for name in ("tasks", "stacks", "agents", "plugins")},
}

RUN_RULES: dict[Place, tuple[Rule, ...]] = {
    ("spec",): (
        *immutable(
            RunSpec,
            unless=frozenset({"adjudications"}),
            frozen=None,
            because="of a run never changes",
        ),
        append_only("adjudications"),
    ),
    ("spec", "adjudications"): (numbered(),),
}
