"""BenchmarkCampaign: one execution of a frozen protocol."""

import re
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from agentbench.api.base import (
    Duration,
    Id,
    Model,
    Name,
    Sha256,
    Timestamp,
)
from agentbench.api.conditions import Conditions
from agentbench.api.factors import Agent, Egress, Plugin, Stack, Task
from agentbench.api.place import NodeClass, Store
from agentbench.api.protocol import Protocol
from agentbench.api.rules import Analysis, Budget, Calibration, Caps, Checks, Order, Script

MUTABLE_FIELDS = frozenset(
    {"parallelism", "suspend", "cancel", "ttlAfterRecorded", "keepFailedPods"}
)
"""Fields of running a campaign: they change at any time and are no part of the digest."""

CAMPAIGN_NAME_LENGTH = 63
CAMPAIGN_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
"""A campaign's name is a Kubernetes object's, a label's value and a folder of the store."""


class CampaignSpec(Model):
    """What is run, how it is judged, and how it is carried out."""

    protocol: Protocol = Field(description="Identity, freeze and amendments.")
    tasks: tuple[Task, ...] = Field(min_length=1, max_length=100, description="Tasks.")
    stacks: tuple[Stack, ...] = Field(min_length=1, max_length=20, description="Stacks.")
    agents: tuple[Agent, ...] = Field(min_length=1, max_length=20, description="Agents.")
    plugins: tuple[Plugin, ...] = Field((), max_length=6, description="Optional fourth factor.")
    repeats: int = Field(5, ge=1, le=100, description="Runs per cell.")
    order: Order = Field(description="Order of the runs.")
    caps: Caps = Field(default_factory=Caps, description="Limits of one run.")
    script: Script = Field(default_factory=Script, description="The scripted reply.")
    budget: Budget | None = Field(None, description="Limit of the campaign.")
    calibration: Calibration = Field(
        default_factory=Calibration, description="A batch before the sample."
    )
    checks: Checks = Field(default_factory=Checks, description="How final states are judged.")
    analysis: Analysis = Field(description="Frozen choices of the analysis.")
    prices: Annotated[str, Field(max_length=400)] = Field(
        "locks/prices.json", description="Price list, a path in the pack."
    )
    node_class: NodeClass = Field(default_factory=NodeClass, description="Class of machine.")
    egress: Egress = Field(default_factory=Egress, description="Hosts that may be reached.")
    store: Store | None = Field(None, description="Where rows go; a run may name it instead.")
    parallelism: int = Field(1, ge=1, le=1000, description="Most live runs at once.")
    suspend: bool = Field(False, description="True stops admission; live runs go on.")
    cancel: bool = Field(False, description="True ends live runs and writes aborted rows.")
    ttl_after_recorded: Duration = Field("1h", description="Then the pods of a run are deleted.")
    keep_failed_pods: int = Field(0, ge=0, le=100, description="Failed pods kept for a look.")


Decided = Literal["holds", "not shown", "not computable"]
"""What may be said of a hypothesis or claim."""


class VerdictSummary(Model):
    """The last verdict, in short."""

    published: int = Field(0, ge=0, description="Number of the published result.")
    headline: Decided | None = Field(None, description="Whether all claims hold.")
    hypotheses: dict[Id, Decided] = Field(
        default_factory=dict, max_length=20, description="Verdict per hypothesis id."
    )
    claims: dict[Id, Decided] = Field(
        default_factory=dict, max_length=20, description="Verdict per claim id."
    )
    scored: int = Field(0, ge=0, description="Runs that count.")
    planned: int = Field(0, ge=0, description="Runs that there will be.")
    complete: bool = Field(
        False, description="True if every run is scored and every failure adjudicated."
    )
    digest: Sha256 | None = Field(None, description="sha256 of results.json.")
    at: Timestamp | None = Field(None, description="When it was computed.")
    url: Annotated[str, Field(max_length=1500)] | None = Field(
        None, description="Where it is: a page in the campaign's store."
    )


class Counts(Model):
    """Numbers of runs."""

    total: int = Field(0, ge=0, description="Planned.")
    done: int = Field(0, ge=0, description="Recorded for good.")
    live: int = Field(0, ge=0, description="Holding a slot now.")
    passed: int = Field(0, ge=0, description="With outcome pass.")
    failed: int = Field(0, ge=0, description="With outcome fail, infra apart.")
    infra: int = Field(0, ge=0, description="Attempts labelled infra.")
    aborted: int = Field(0, ge=0, description="Ended by a person.")


class Spend(Model):
    """Money, as decimal strings of US dollars."""

    spent_usd: str = Field("0", alias="spentUSD", max_length=30, description="Measured so far.")
    reserved_usd: str = Field("0", alias="reservedUSD", max_length=30, description="Live caps.")
    projected_usd: str | None = Field(
        None, alias="projectedUSD", max_length=30, description="For the whole campaign."
    )


class CampaignStatus(Model):
    """What was observed; never a list of runs."""

    observed_generation: int = Field(
        0, ge=-1, description="Generation it speaks of; -1 before the operator has looked."
    )
    phase: Name = Field("Pending", description="One word for people.")
    digest: Sha256 | None = Field(None, description="Digest as computed by the controller.")
    conditions: Conditions = Field((), description="Observations.")
    counts: Counts = Field(default_factory=Counts, description="Numbers of runs.")
    spend: Spend = Field(default_factory=Spend, description="Money.")
    verdict: VerdictSummary | None = Field(None, description="The last verdict, in short.")


class BenchmarkCampaign(Model):
    """A pre-registered benchmark, as a Kubernetes object or as a pack's campaign.yaml."""

    api_version: Literal["agentbench.dev/v1alpha1"] = "agentbench.dev/v1alpha1"
    kind: Literal["BenchmarkCampaign"] = "BenchmarkCampaign"
    metadata: dict[str, Any] = Field(default_factory=dict)
    spec: CampaignSpec
    status: CampaignStatus | None = None

    @field_validator("metadata")
    @classmethod
    def _named(cls, metadata: dict[str, Any]) -> dict[str, Any]:
        name = metadata.get("name")
        if not isinstance(name, str) or not CAMPAIGN_NAME.fullmatch(name):
            raise ValueError(
                f"the name is {name!r}; a campaign needs metadata.name, at most "
                f"{CAMPAIGN_NAME_LENGTH} lower-case letters, digits and dashes, such as my-bench"
            )
        return metadata

    @property
    def name(self) -> str:
        """The object's name: the campaign's folder in the store."""
        return str(self.metadata.get("name", ""))
