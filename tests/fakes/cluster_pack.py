"""A pack that is frozen for a cluster: two runs, one that passes and one that fails."""

from pathlib import Path
from typing import Any

import yaml
from tests.fakes.local_pack import PRICES
from tests.fakes.packs import a_pack, frozen

SMALL = {"cpu": "100m", "memory": "128Mi", "disk": "128Mi"}


def a_cluster_pack(
    folder: Path, *, bucket: str, endpoint: str, image: str, name: str = "bench", **spec: Any
) -> Path:
    """A frozen pack whose campaign names a store, a Secret `store` and one image; its folder."""
    pack = a_pack(folder, name)
    file = pack / "campaign.yaml"
    document = yaml.safe_load(file.read_text())
    campaign = document["spec"]
    for task in campaign["tasks"]:
        for ways in ("seeds", "solutions"):
            del task[ways]["S2"]
    campaign["stacks"] = [{**campaign["stacks"][0], "image": image}]
    for agent in campaign["agents"]:
        agent["images"] = {"S1": image}
    campaign["repeats"] = campaign["checks"]["repeats"] = 1
    campaign["store"] = {
        "url": f"s3://{bucket}/rows", "endpoint": endpoint, "secretRef": "store",
    }  # fmt: skip
    campaign["nodeClass"] = {
        "selector": {"agentbench.dev/node-class": "pinned"},
        "tolerations": [
            {"key": "agentbench.dev/dedicated", "value": "runs", "effect": "NoSchedule"}
        ],
        "agent": SMALL, "app": SMALL, "service": SMALL,
    }  # fmt: skip
    campaign["protocol"]["locks"] = ["locks/prices.json"]
    (pack / "locks").mkdir(exist_ok=True)
    (pack / "locks/prices.json").write_text(PRICES)
    campaign |= spec
    file.write_text(yaml.safe_dump(document, sort_keys=False))
    frozen(pack)
    return pack
