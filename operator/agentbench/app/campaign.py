"""A campaign as the operator holds it: parsed, verified, planned; or what is wrong with it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from pydantic import ValidationError

from agentbench.api.campaign import BenchmarkCampaign, CampaignSpec
from agentbench.core.admission import Limits
from agentbench.core.digest import DigestMismatch, digest, require_digest
from agentbench.core.plan import PlanConflict, PlannedRun, plan

APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""Where kubectl notes what it was given: the API server drops unknown fields, this does not."""


class Refused(ValueError):
    """A campaign cannot run as it is: a reason for its condition, and a message with the cure."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """One campaign, ready to run."""

    name: str
    namespace: str
    uid: str
    generation: int
    spec: CampaignSpec
    digest: str
    runs: tuple[PlannedRun, ...]

    @property
    def limits(self) -> Limits:
        """What admission must keep."""
        budget = self.spec.budget
        return Limits(
            parallelism=self.spec.parallelism,
            cap=Decimal(self.spec.caps.cost_usd),
            budget=Decimal(budget.total_usd) if budget else None,
        )

    def cancelled(self) -> "Campaign":
        """The same campaign, as if its spec said `cancel`."""
        return replace(self, spec=self.spec.model_copy(update={"cancel": True}))


def read_campaign(body: Mapping[str, Any]) -> Campaign:
    """Parse and verify a campaign object.

    Raises:
        Refused: it is wrong; the message names field, value and cure.
    """
    try:
        parsed = BenchmarkCampaign.model_validate(
            {name: body[name] for name in ("apiVersion", "kind", "metadata", "spec")}
        )
    except ValidationError as error:
        raise Refused("InvalidSpec", _in_words(error)) from error
    dropped = _dropped(body)
    if dropped:
        raise Refused(
            "UnknownField",
            f"{dropped}: the API server dropped what was applied there. Correct the manifest, or "
            "upgrade the definitions (CRDs), and apply it with strict validation",
        )
    spec = parsed.spec
    try:
        found = digest(spec) if spec.protocol.draft else require_digest(spec)
        runs = plan(spec)
    except DigestMismatch as error:
        raise Refused("DigestMismatch", str(error)) from error
    except PlanConflict as error:
        raise Refused("PlanConflict", str(error)) from error
    problems = list(_unfit(spec))
    if problems:
        raise Refused(*problems[0])
    meta = body["metadata"]
    return Campaign(
        name=meta["name"],
        namespace=meta["namespace"],
        uid=meta["uid"],
        generation=meta.get("generation", 0),
        spec=spec,
        digest=found,
        runs=runs,
    )


def _unfit(spec: CampaignSpec) -> Iterator[tuple[str, str]]:
    """What a run on a cluster needs beside what the schema asks for."""
    if spec.store is None:
        yield "StoreMissing", "spec.store is missing: name the bucket that rows go to"
    elif not spec.store.url.startswith("s3://"):
        yield "StoreMissing", f"spec.store.url {spec.store.url!r} is no s3:// address"
    for agent in spec.agents:
        for stack in spec.stacks:
            if stack.id not in agent.images:
                yield (
                    "ImageMissing",
                    f"spec.agents[{agent.id}].images has no image for stack {stack.id}: "
                    "name one by digest, registry/name@sha256:...",
                )
        provider = agent.provider
        if provider is not None and provider.mock is None and provider.key_secret is None:
            yield (
                "SecretMissing",
                f"spec.agents[{agent.id}].provider.keySecret is missing: name the Secret that "
                "holds the model key under `key`",
            )
    for stack in spec.stacks:
        if stack.image is None:
            yield (
                "ImageMissing",
                f"spec.stacks[{stack.id}].image is missing: checks need the stack's toolchain",
            )


def _dropped(body: Mapping[str, Any]) -> str:
    """Fields of the manifest that kubectl was given and that no definition knows, in words."""
    noted = (body["metadata"].get("annotations") or {}).get(APPLIED)
    try:
        applied = json.loads(noted) if noted else None
        spec = applied["spec"] if applied else None
    except (ValueError, KeyError, TypeError):
        return ""  # somebody else's note
    if spec is None:
        return ""
    try:
        CampaignSpec.model_validate(spec)
    except ValidationError as error:
        unknown = [each for each in error.errors() if each["type"] == "extra_forbidden"]
        places = [".".join(map(str, ("spec", *each["loc"]))) for each in unknown]
        if places:
            return f"{', '.join(places[:5])} is no field of a campaign"
    return ""


def _in_words(error: ValidationError) -> str:
    """Where a spec is wrong, and why: at most five places."""
    found = error.errors(include_url=False)
    lines = [f"{'.'.join(map(str, entry['loc']))}: {entry['msg']}" for entry in found[:5]]
    more = f" (and {len(found) - 5} more)" if len(found) > 5 else ""
    return "; ".join(lines) + more
