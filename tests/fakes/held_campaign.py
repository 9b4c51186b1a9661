"""A campaign as the operator holds it, made of the tiny pack."""

from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.fakes.local_pack import TinyPack

from agentbench.api.campaign import CampaignSpec
from agentbench.app.campaign import Campaign
from agentbench.app.ledger import Ledger, RunFacts
from agentbench.core.digest import digest
from agentbench.core.plan import plan
from agentbench.core.standing import Standing


def a_held_campaign(uid: str = "uid-1", namespace: str = "bench", **spec: Any) -> Campaign:
    """A draft campaign of one cell."""
    document = TinyPack(folder=Path("unused")).document() | spec
    parsed = CampaignSpec.model_validate(document)
    return Campaign(
        name="tiny",
        namespace=namespace,
        uid=uid,
        generation=1,
        spec=parsed,
        digest=digest(parsed),
        runs=plan(parsed),
    )


def a_ledger(campaign: Campaign, *entries: RunFacts) -> Ledger:
    """Its ledger, with these runs admitted."""
    ledger = Ledger(Standing(campaign.runs, Decimal(1)))
    for entry in entries:
        ledger.standing.add(entry.recorded())
        ledger.admit(entry)
    return ledger
