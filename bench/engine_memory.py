"""Print the engine's resident memory in MiB at its peak, over a campaign of 20 planned runs.

python -m bench.engine_memory
"""

import asyncio
import resource
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.fakes.local_pack import TinyPack

from agentbench.local.engine import Engine
from agentbench.local.preflight import EngineOptions, state_of
from agentbench.store.folder import FolderStore


async def main() -> None:
    with TemporaryDirectory() as folder:
        store = FolderStore(Path(folder) / "store")
        pack = TinyPack(folder=Path(folder) / "pack", agents={"A1": "nop"}, spec={"repeats": 20})
        spec, manifest = pack.freeze(store)
        options = EngineOptions(state=state_of(store), parallel=2)
        await Engine(
            campaign="bench", spec=spec, manifest=manifest, store=store, options=options
        ).run()
    print(round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1))


if __name__ == "__main__":
    asyncio.run(main())
