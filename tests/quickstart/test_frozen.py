"""The committed freeze of the quickstart is that of the pack beside it."""

from pathlib import Path

from agentbench.core.digest import require_digest
from agentbench.pack.load import frozen_pack
from agentbench.pack.verify import verify

PACK = Path(__file__).parents[2] / "examples/quickstart"


def test_the_committed_freeze_holds_for_every_file_of_the_pack() -> None:
    frozen = frozen_pack(PACK / "frozen/campaign.yaml")
    assert verify(frozen) == []
    assert require_digest(frozen.spec).startswith("sha256:")
