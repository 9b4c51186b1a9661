"""Where a campaign runs and where its rows go."""

from typing import Annotated, Literal

from pydantic import Field

from agentbench.api.base import Model, Name

Quantity = Annotated[str, Field(pattern=r"^[0-9]+(\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi)?$", max_length=20)]
LabelKey = Annotated[str, Field(pattern=r"^[A-Za-z0-9./_-]+$", max_length=317)]
LabelValue = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]*$", max_length=63)]


class Toleration(Model):
    """A node taint that run pods tolerate."""

    key: LabelKey = Field(description="Taint key.")
    operator: Literal["Equal", "Exists"] = Field("Equal", description="How value is compared.")
    value: LabelValue = Field("", description="Taint value.")
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute", ""] = Field(
        "", description="Taint effect; empty for all."
    )


class Resources(Model):
    """What one container gets; requests equal limits, so that no run is slowed by another."""

    cpu: Quantity = Field("1", description="Cores.")
    memory: Quantity = Field("2Gi", description="Bytes.")
    disk: Quantity = Field("10Gi", description="Bytes of the workspace and of scratch space.")


class NodeClass(Model):
    """The same class of machine for every run."""

    selector: dict[LabelKey, LabelValue] = Field(
        default_factory=dict, max_length=20, description="Node labels."
    )
    tolerations: tuple[Toleration, ...] = Field((), max_length=20, description="Node taints.")
    runtime_class_name: Name | None = Field(None, description="RuntimeClass, such as gvisor.")
    agent: Resources = Field(default_factory=Resources, description="The agent's container.")
    app: Resources = Field(default_factory=Resources, description="The app's, when graded.")
    service: Resources = Field(
        default_factory=lambda: Resources(cpu="500m", memory="512Mi", disk="1Gi"),
        description="Each service's container.",
    )


class Store(Model):
    """Where rows and artifacts are kept."""

    url: Annotated[str, Field(pattern=r"^(s3://|file://|\./|/|[A-Za-z0-9_.])", max_length=1000)] = (
        Field(description="s3://bucket/prefix, or a folder.")
    )
    endpoint: Annotated[str, Field(pattern=r"^https?://", max_length=500)] | None = Field(
        None, description="Address of an S3 service that is not AWS."
    )
    region: Name | None = Field(None, description="S3 region.")
    secret_ref: Name | None = Field(None, description="Secret with accessKey and secretKey.")
