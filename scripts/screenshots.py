"""Takes the pictures of the results site that docs/images holds.

    python -m scripts.screenshots [SITE]

SITE is a site that `agent-bench site` wrote; without it, one of a made-up campaign is built, whose
pages say that their rows are synthetic.
"""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import ViewportSize
from tests.fakes.browser import launched, visiting
from tests.fakes.campaign_rows import fake_campaign

from agentbench_analysis.facade import analyse
from agentbench_analysis.site.build import SiteOptions, build_site
from agentbench_analysis.site.protocol import protocol_page

TARGET = Path("docs/images")
WIDTH = 1280
SHOTS = (
    ("site-verdict", "index.html", "light", 1500),
    ("site-runs", "runs.html", "light", 900),
    ("site-trace", "runs/{run}#step-6", "light", 900),
    ("site-verdict-dark", "index.html#pass-rates", "dark", 1250),
)


def main() -> None:
    """Write the pictures."""
    with tempfile.TemporaryDirectory() as scratch, launched() as browser:
        if len(sys.argv) > 1:
            folder = Path(sys.argv[1]).resolve()
        else:
            folder = Path(scratch)
            write_made_up_site(folder)
        longest = max((folder / "runs").iterdir(), key=lambda path: path.stat().st_size)
        TARGET.mkdir(parents=True, exist_ok=True)
        for name, page, scheme, height in SHOTS:
            window: ViewportSize = {"width": WIDTH, "height": height}
            with visiting(browser, folder, viewport=window, color_scheme=scheme) as visit:
                address = page.format(run=longest.name)
                visit.open(address).screenshot(path=TARGET / f"{name}.png")
                print(TARGET / f"{name}.png")


def write_made_up_site(folder: Path) -> None:
    """Write a site with one run per kind of thing that can happen to one."""
    campaign = fake_campaign()
    results = analyse(campaign.spec, campaign.rows.items(), campaign.adjudications.items())
    protocol = protocol_page(campaign.source, campaign.spec)
    options = SiteOptions(synthetic="These runs were made up to show the pages.")
    for name, data in build_site(protocol, results, campaign.open, options):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


if __name__ == "__main__":
    main()
