"""What an agent left in its workspace, read from the captured final state."""

from __future__ import annotations

import io
import json
import tarfile
from typing import Any

import zstandard
from tests.cluster.operator.campaign import Campaign


def captured(campaign: Campaign, run: str, name: str, attempt: int = 1) -> Any:
    """A JSON file of the final state."""
    packed = campaign.store.get(f"{campaign.name}/artifacts/{run}/{attempt}/final.tar.zst")
    plain = zstandard.ZstdDecompressor().stream_reader(packed).read()
    with tarfile.open(fileobj=io.BytesIO(plain)) as members:
        found = members.extractfile(name)
        assert found is not None, f"{name} is no file of the final state"
        return json.load(found)
