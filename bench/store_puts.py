"""Print how many rows of 4 KiB a folder store takes per second, each one synced to disk."""

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from agentbench.store.folder import FolderStore

PUTS = 500
ROW = b"x" * 4096


def main(place: Path) -> None:
    with TemporaryDirectory(dir=place) as folder:
        store = FolderStore(Path(folder))
        began = time.perf_counter()
        for n in range(PUTS):
            store.create_only(f"bench/rows/r{n}/1.json", ROW)
        print(round(PUTS / (time.perf_counter() - began)))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path.cwd())
