"""Prints the seconds that it takes to write the site of a campaign of N runs (default 180).

    python -m bench.site_build [--runs N] [FOLDER]

The campaign is made up; making it and its analysis are not in the figure, writing the files is.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.fakes.campaign_rows import fake_campaign

from agentbench_analysis.facade import analyse
from agentbench_analysis.site.build import SiteOptions, build_site
from agentbench_analysis.site.protocol import protocol_page

CELLS = 36


def write_site(runs: int, folder: Path) -> tuple[float, int, int]:
    """Return seconds, files and bytes."""
    repeats = -(-runs // CELLS)
    campaign = fake_campaign(repeats, traces=min(runs, 200))
    results = analyse(campaign.spec, campaign.rows.items(), campaign.adjudications.items())
    protocol = protocol_page(campaign.source, campaign.spec)
    options = SiteOptions(synthetic="These runs were made up to measure the site.")
    files = size = 0
    start = time.perf_counter()
    for name, data in build_site(protocol, results, campaign.open, options):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        files += 1
        size += len(data)
    return time.perf_counter() - start, files, size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=180)
    parser.add_argument("folder", nargs="?", type=Path, help="keep the site here")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        seconds, files, size = write_site(asked.runs, asked.folder or Path(scratch))
    print(f"{seconds:.1f}")
    print(f"seconds for {files} files, {size / 1e6:.0f} MB", file=sys.stderr)


if __name__ == "__main__":
    main()
