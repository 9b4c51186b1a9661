"""Prints the milliseconds until the slowest page of a site is ready, in a real Chromium.

    python -m bench.site_open FOLDER

FOLDER is a site that `python -m bench.site_build --runs N FOLDER` kept. Each page is opened five
times from its file, with an empty cache; the figure is the slowest page's median. Ready means that
scripts have run and the first picture is painted.
"""

import statistics
import sys
from pathlib import Path

from playwright.sync_api import Page
from tests.fakes.browser import launched

PAGES = ("index.html", "tables.html", "numbers.html", "runs.html", "lost.html", "protocol.html")
TRIES = 5
READY = """() => new Promise(done => {
  const end = () => requestAnimationFrame(() => setTimeout(() => done(performance.now())));
  if (document.readyState === "complete") end(); else addEventListener("load", end);
})"""


def milliseconds(page: Page, address: str) -> float:
    page.goto(address, wait_until="commit")
    return float(page.evaluate(READY))


def main() -> None:
    folder = Path(sys.argv[1]).resolve()
    runs = sorted((folder / "runs").iterdir(), key=lambda path: path.stat().st_size)
    names = [*PAGES, f"runs/{runs[len(runs) // 2].name}", f"runs/{runs[-1].name}"]
    worst = 0.0
    with launched() as browser:
        for name in names:
            times = []
            for _ in range(TRIES):
                context = browser.new_context()
                times.append(milliseconds(context.new_page(), (folder / name).as_uri()))
                context.close()
            middle = statistics.median(times)
            print(f"{middle:6.0f} ms  {name}", file=sys.stderr)
            worst = max(worst, middle)
    print(f"{worst:.0f}")


if __name__ == "__main__":
    main()
