"""The protocol as the store keeps it: what the analysis needs of a campaign's spec.

One document per number of amendments, created once. An object of the API server could not hold
every campaign's spec a second time, and an analysis has no way to the API server anyhow.
"""

import json
from typing import Any, Literal

from pydantic import Field, ValidationError

from agentbench.api.base import Model, Name, Sha256
from agentbench.api.campaign import MUTABLE_FIELDS, CampaignSpec
from agentbench.core.digest import canonical

PROTOCOL_SCHEMA: Literal["agentbench.protocol/v1"] = "agentbench.protocol/v1"


class RegisteredError(ValueError):
    """A stored protocol cannot be used; the message names the document and the cure."""


class Registered(Model):
    """A campaign's protocol with its amendments so far (`agentbench.protocol/v1`)."""

    schema_: Literal["agentbench.protocol/v1"] = Field(PROTOCOL_SCHEMA, alias="schema")
    campaign: Name
    digest: Sha256
    spec: CampaignSpec


def encode_registered(campaign: str, digest: str, spec: CampaignSpec) -> bytes:
    """The document of a campaign's protocol.

    Fields that were never set are left out, so that a later version, which knows more fields,
    writes the same bytes. How the campaign is carried out is no part of it.
    """
    document: dict[str, Any] = spec.model_dump(mode="json", by_alias=True, exclude_unset=True)
    for name in MUTABLE_FIELDS:
        document.pop(name, None)
    entire = {"schema": PROTOCOL_SCHEMA, "campaign": campaign, "digest": digest, "spec": document}
    return canonical(entire)


def decode_registered(content: bytes, key: str) -> Registered:
    """Read a stored protocol.

    Raises:
        RegisteredError: it is none, or was written by a later version.
    """
    try:
        return Registered.model_validate(json.loads(content))
    except (ValidationError, ValueError) as error:
        raise RegisteredError(
            f"{key} is no protocol of {PROTOCOL_SCHEMA}: {str(error)[:500]}; read it with the "
            "version of agent-bench that wrote it"
        ) from error
