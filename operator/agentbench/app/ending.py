"""The end of a campaign whose rows cannot be written: how long its deletion waits for a person."""

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from agentbench.kube.view import instant
from agentbench.store.port import StoreError

LET_GO = timedelta(minutes=15)
"""Then the deletion goes on without the rows: a namespace that is deleted has no Secret left."""

log = logging.getLogger(__name__)


def without_rows(
    meta: Mapping[str, Any], live: Sequence[str], error: Exception, now: datetime
) -> bool:
    """Whether a campaign that is being deleted goes, though its live runs have no row.

    One without live runs goes at once: there is nothing to write. A store that does not answer is
    waited for without end; a campaign that cannot be read, or has no Secret, for `LET_GO`.
    """
    if not live:
        return True
    deleted = meta.get("deletionTimestamp")
    waited = now - instant(deleted) if deleted else timedelta()
    if isinstance(error, StoreError) or waited < LET_GO:
        return False
    log.warning("%s goes without rows of %s: %s", meta["name"], ", ".join(live), error)
    return True
