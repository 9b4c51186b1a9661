"""The freeze digest: one sha256 over everything that can move a result."""

from hashlib import sha256
from typing import Any

import rfc8785

from agentbench.api.campaign import MUTABLE_FIELDS, CampaignSpec


class DigestMismatch(ValueError):
    """A frozen protocol is not what its digest says."""


def sha256_of(content: bytes) -> str:
    """The sha256 of some bytes, as `sha256:` and 64 hex digits."""
    return "sha256:" + sha256(content).hexdigest()


def canonical(document: Any) -> bytes:
    """RFC 8785 canonical JSON: the same bytes for the same value, everywhere."""
    return rfc8785.dumps(document)


def frozen_document(spec: CampaignSpec) -> dict[str, Any]:
    """The part of a spec that a freeze fixes, as plain JSON values.

    How a campaign is carried out (`parallelism`, ...), the freeze itself, the bundle's place
    and the amendments, which have a list of their own, are left out. Absent, null and empty
    fields are one and the same, so that a later version may add an optional field without
    moving the digest of a protocol frozen before it.
    """
    document: dict[str, Any] = spec.model_dump(mode="json", by_alias=True)
    for name in MUTABLE_FIELDS:
        document.pop(name, None)
    protocol = document["protocol"]
    for name in ("freeze", "amendments", "draft"):
        protocol.pop(name, None)
    if protocol.get("bundle"):
        protocol["bundle"].pop("url", None)
    return dict(_pruned(document))


def digest(spec: CampaignSpec) -> str:
    """The digest of a protocol: sha256 of the canonical JSON of its frozen document."""
    return sha256_of(canonical(frozen_document(spec)))


def require_digest(spec: CampaignSpec) -> str:
    """The digest of a frozen protocol, computed again.

    Raises:
        DigestMismatch: the protocol is not frozen, or a frozen field was changed.
    """
    freeze = spec.protocol.freeze
    found = digest(spec)
    if freeze is None:
        raise DigestMismatch("spec.protocol.freeze is missing: freeze the pack first")
    if freeze.digest != found:
        raise DigestMismatch(
            f"spec.protocol.freeze.digest is {freeze.digest}, but the frozen fields give {found}: "
            "a frozen field was changed after the freeze; restore it, or freeze a new protocol"
        )
    return found


def _pruned(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {name: _pruned(item) for name, item in value.items()}
        return {name: item for name, item in kept.items() if item not in (None, "", [], {})}
    if isinstance(value, list):
        return [_pruned(item) for item in value]
    return value
