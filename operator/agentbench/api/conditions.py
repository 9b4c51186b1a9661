"""Conditions as the Kubernetes API conventions write them."""

from typing import Annotated, Literal

from pydantic import Field

from agentbench.api.base import Model, Timestamp


class Condition(Model):
    """One observation about an object, with the time of its last change."""

    type: Annotated[str, Field(pattern=r"^[A-Z][A-Za-z]*$", max_length=50)] = Field(
        description="What it is about, in CamelCase."
    )
    status: Literal["True", "False", "Unknown"] = Field(description="Whether it is so.")
    reason: Annotated[
        str, Field(pattern=r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$", max_length=100)
    ] = Field(description="Reason code, in CamelCase.")
    message: str = Field("", max_length=2000, description="For people, with the cure.")
    last_transition_time: Timestamp = Field(description="When status last flipped.")
    observed_generation: int = Field(0, ge=0, description="Generation it speaks of.")


Conditions = Annotated[
    tuple[Condition, ...],
    Field(
        max_length=20,
        json_schema_extra={
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["type"],
        },
    ),
]
"""At most one condition of each type."""
