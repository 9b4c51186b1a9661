"""What the operator is told of its own place in a cluster."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from agentbench.api.base import Duration, Model
from agentbench.api.place import LabelKey, LabelValue, Quantity, Toleration


class AnalysisPlace(Model):
    """How every campaign's analysis is run: the operator's own image, when, and where."""

    image: Annotated[str, Field(min_length=1, max_length=500)]
    schedule: Annotated[str, Field(min_length=1, max_length=200)] = "*/15 * * * *"
    cpu: Quantity = "500m"
    memory: Quantity = "512Mi"
    deadline: Duration = "1h"
    node_selector: dict[LabelKey, LabelValue] = Field(default_factory=dict)
    tolerations: tuple[Toleration, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The parts of every manifest that are the installation's, not the campaign's.

    `image` holds the programs beside an agent or a check; `gateway` is address and port of the
    forward proxy, by number, since run pods have no DNS; `forbidden` is an address that every
    policy must refuse, by which the fence knows that the policy is in force.
    """

    image: str
    gateway: str
    forbidden: str
    pull_policy: str = "IfNotPresent"
    pull_secrets: tuple[str, ...] = ()
    namespace: str = "agent-bench"
    gateway_labels: tuple[tuple[str, str], ...] = (("app.kubernetes.io/component", "gateway"),)
    gateway_port: int = 3128
    service_images: tuple[tuple[str, str], ...] = ()  # by kind, for stacks that name none
