"""The rules of a campaign: caps, budget, checks and the frozen choices of its analysis."""

from typing import Annotated, Literal

from pydantic import Field

from agentbench.api.base import Amount, Id, Line, Model, Text, TimeLimit
from agentbench.api.factors import FileRef
from agentbench_analysis.rows.words import Cause

Fraction = Annotated[str, Field(pattern=r"^-?[0-9]+(\.[0-9]{1,6})?$", max_length=12)]
"""A number as a decimal string, since a custom resource with floats loses digits on the way."""


class Caps(Model):
    """Limits of one run; the first that is reached ends it."""

    wall: TimeLimit = Field("45m", description="From the first prompt to the agent's stop.")
    cost_usd: Amount = Field("5", alias="costUSD", description="US dollars of model calls.")
    tool_calls: int = Field(400, ge=1, le=100_000, description="Number of tool calls.")
    interventions: int = Field(
        3, ge=0, le=100, description="Scripted replies; one more scores fail, and the run goes on."
    )


class Script(Model):
    """The only human message of a run."""

    reply: Text = Field("Use your best judgement.", description="Answer to a blocking question.")


class Order(Model):
    """The order of the runs."""

    seed: int = Field(ge=0, le=2**53 - 1, description="Recorded before any run.")


class Budget(Model):
    """Limit of the whole campaign."""

    total_usd: Amount = Field(alias="totalUSD", description="US dollars of model calls.")


class Calibration(Model):
    """A batch before the sample, with run ids of its own, left out of every result."""

    repeats: int = Field(0, ge=0, le=20, description="Repeats per cell; 0 for none.")


class Checks(Model):
    """How final states are judged."""

    repeats: int = Field(3, ge=1, le=9, description="Executions per run; all must pass.")
    timeout: TimeLimit = Field("10m", description="Time limit of one execution.")
    security: FileRef | None = Field(None, description="Check that runs on every task.")
    library: FileRef | None = Field(None, description="Folder that checks share.")
    snapshot_limit_mi_b: int = Field(
        1024, alias="snapshotLimitMiB", ge=1, le=65536, description="Bound of a final state, MiB."
    )


class Margins(Model):
    """Thresholds of the hypotheses, chosen before any run."""

    pass_rate: Fraction = Field("-0.10", description="Lower bound of the difference, H1.")
    cost: Fraction = Field("0.85", description="Upper bound of the ratio, H2.")
    time: Fraction = Field("1.00", description="Upper bound of the ratio, H3.")


class Hypothesis(Model):
    """One question to the data, decided by a rule of the analysis."""

    id: Id = Field(description="Hypothesis id, such as AB-H1.")
    text: Text = Field(description="What is claimed, in words.")
    rule: Literal["pass-rate", "cost", "time", "security"] = Field(description="Deciding rule.")


class Claim(Model):
    """A sentence for publication, and what must hold for it."""

    id: Id = Field(description="Claim id, such as AB-C1.")
    text: Text = Field(description="The condition, in words.")
    needs: tuple[Id, ...] = Field(min_length=1, max_length=10, description="Hypothesis ids.")


class Analysis(Model):
    """Every choice of the analysis, frozen."""

    resamples: int = Field(10_000, ge=100, le=1_000_000, description="Bootstrap resamples.")
    seed: int = Field(0, ge=0, le=2**53 - 1, description="Seed of the bootstrap.")
    confidence: Fraction = Field("0.95", description="Confidence of every interval.")
    margins: Margins = Field(default_factory=Margins, description="Thresholds.")
    best_other: Literal["perResample", "fixed"] = Field(
        "perResample", description="When the best other stack is picked."
    )
    quantile: Literal["linear", "lower", "higher", "nearest"] = Field(
        "linear", description="Rule for percentiles."
    )
    cause_order: tuple[Cause, ...] = Field(
        tuple(Cause), max_length=5, description="Who takes the blame first."
    )
    reference_stack: Id = Field(description="The stack that the claims are about.")
    hypotheses: tuple[Hypothesis, ...] = Field((), max_length=20, description="Questions.")
    claims: tuple[Claim, ...] = Field((), max_length=20, description="Sentences.")
    headline: Line = Field("", description="What may be said if all claims hold.")
