"""BenchmarkRun: one repeat of one cell, created when it is admitted."""

from typing import Annotated, Any, Literal

from pydantic import Field

from agentbench.api.base import Id, Model, Name, Sha256, Text, Timestamp
from agentbench.api.conditions import Conditions
from agentbench_analysis.rows.words import Cause, Outcome, Phase

RunId = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]+$", max_length=200)]


class RunCell(Model):
    """One combination of the factors."""

    task: Id = Field(description="Task id.")
    stack: Id = Field(description="Stack id.")
    agent: Id = Field(description="Agent id.")
    plugins: tuple[Id, ...] = Field((), max_length=6, description="Plugins that are on.")


class AdjudicationEntry(Model):
    """A person's final word on an outcome's cause; the list only ever grows."""

    seq: int = Field(ge=1, le=100, description="1, 2, 3, ... without a gap.")
    attempt: int = Field(ge=1, le=2, description="Attempt that it judges.")
    cause: Cause | None = Field(None, description="Final cause; None for a pass.")
    security: tuple[Name, ...] | None = Field(
        None, max_length=100, description="Assertions whose security flags are confirmed."
    )
    by: Name = Field(description="The user who writes it.")
    at: Timestamp = Field(description="When, UTC.")
    reason: Text = Field(description="Published with the trace.")


class RunSpec(Model):
    """Which run this is. Nothing but `adjudications` ever changes."""

    campaign_uid: Name = Field(description="uid of the owning campaign.")
    run: RunId = Field(description="Run id, such as AB-T03-S2-A1-r4.")
    cell: RunCell = Field(description="Combination of the factors.")
    repeat: int = Field(ge=1, le=100, description="Which repeat of the cell.")
    order: int = Field(ge=0, le=1_000_000, description="Place in the frozen order, from 0.")
    phase: Phase = Field(Phase.SAMPLE, description="Part of the campaign.")
    adjudications: tuple[AdjudicationEntry, ...] = Field(
        (), max_length=50, description="Append only."
    )


class AttemptStatus(Model):
    """What is known of one attempt."""

    number: int = Field(ge=1, le=2, description="1, or 2 after an infra failure.")
    phase: Name = Field(description="Pending, Running, Grading, Recorded, ...")
    pod: Name | None = Field(None, description="Name of its pod.")
    pod_uid: Name | None = Field(None, description="uid of its pod.")
    node: Name | None = Field(None, description="Node that the pod really had.")
    fault: Name | None = Field(
        None, description="Reason code for which its pod was ended, or is lost; the row decides."
    )
    fault_detail: Text | None = Field(None, description="What was seen of it.")
    started_at: Timestamp | None = Field(None, description="When the agent started, UTC.")
    ended_at: Timestamp | None = Field(None, description="When the agent was gone, UTC.")
    cost_usd: str | None = Field(None, alias="costUSD", max_length=30, description="US dollars.")
    tool_calls: int | None = Field(None, ge=0, description="Tool calls.")
    outcome: Outcome | None = Field(None, description="How it ended.")
    cause: Cause | None = Field(None, description="Why it failed.")
    reason: Name | None = Field(None, description="Reason code.")
    row_key: Text | None = Field(None, description="Where its row is, below the store's prefix.")
    row_sha256: Sha256 | None = Field(None, description="sha256 of the row's bytes.")


class Measures(Model):
    """What the row of one attempt reports, so that counts outlive the operator.

    The row is the record; these are its numbers, rounded for adding up.
    """

    values: dict[Name, float] = Field(
        default_factory=dict,
        max_length=40,
        description="Reported numbers by catalog name.",
    )
    caps_hit: tuple[Name, ...] = Field((), max_length=4, description="Caps that were reached.")


class RunStatus(Model):
    """What was observed of a run."""

    observed_generation: int = Field(0, ge=0, description="Generation it speaks of.")
    phase: Name = Field("Pending", description="One word for people.")
    attempts: tuple[AttemptStatus, ...] = Field(
        (),
        max_length=2,
        description="At most two.",
        json_schema_extra={
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["number"],
        },
    )
    measures: dict[Annotated[str, Field(pattern=r"^[12]$", max_length=1)], Measures] = Field(
        default_factory=dict, max_length=2, description="By attempt number; recorded ones alone."
    )
    scoring: int | None = Field(None, ge=1, le=2, description="Attempt that scores.")
    conditions: Conditions = Field((), description="Observations.")


class BenchmarkRun(Model):
    """One run of a campaign, owned by it."""

    api_version: Literal["agentbench.dev/v1alpha1"] = "agentbench.dev/v1alpha1"
    kind: Literal["BenchmarkRun"] = "BenchmarkRun"
    metadata: dict[str, Any] = Field(default_factory=dict)
    spec: RunSpec
    status: RunStatus | None = None
