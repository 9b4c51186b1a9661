"""An engine as a process of its own, to be killed: `python -m tests.fakes.engine_program FILE`."""

import asyncio
import json
import sys
from pathlib import Path

from agentbench.api.campaign import CampaignSpec
from agentbench.core.bundle import BundleManifest
from agentbench.local.engine import Engine
from agentbench.local.events import Event
from agentbench.local.preflight import EngineOptions, state_of
from agentbench.store.folder import FolderStore


def tell(event: Event) -> None:
    step, attempt = getattr(event, "step", ""), getattr(event, "attempt", "")
    print(type(event).__name__, step, attempt, flush=True)


def main(file: Path) -> None:
    document = json.loads(file.read_text())
    store = FolderStore(Path(document["store"]))
    engine = Engine(
        campaign="tiny",
        spec=CampaignSpec.model_validate(document["spec"]),
        manifest=BundleManifest.model_validate(document["manifest"]),
        store=store,
        options=EngineOptions(state=state_of(store), parallel=2),
        on_event=tell,
    )
    asyncio.run(engine.run())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
