"""A store belongs to one digest per campaign: the mark that says which."""

import json
from typing import Literal

from agentbench.api.campaign import CampaignSpec
from agentbench.core.digest import canonical
from agentbench.core.keys import freeze_key
from agentbench.store.port import Conflict, Store

FREEZE_SCHEMA: Literal["agentbench.freeze/v1"] = "agentbench.freeze/v1"


class StoreUsed(RuntimeError):
    """The store holds rows of another digest under this campaign's name."""


def claim(store: Store, campaign: str, spec: CampaignSpec, digest: str) -> None:
    """Mark the campaign's part of a store as this digest's, once.

    Raises:
        StoreUsed: it is another's.
    """
    mark = {
        "schema": FREEZE_SCHEMA,
        "campaign": campaign,
        "protocol": spec.protocol.id,
        "digest": digest,
        "draft": spec.protocol.draft,
    }
    try:
        store.create_only(freeze_key(campaign), canonical(mark))
    except Conflict:
        found = json.loads(store.get(freeze_key(campaign)))
        raise StoreUsed(
            f"{freeze_key(campaign)}: this store holds campaign {campaign} of the digest "
            f"{found.get('digest')}, but the protocol now has {digest}: use another store, or "
            "go back to the protocol that it was run with"
        ) from None
