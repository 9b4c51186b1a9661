"""The system's Chromium, driven by Playwright."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect, sync_playwright

# A busy machine is slow to answer; what never happens fails all the same.
expect.set_options(timeout=30_000)

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")


def chromium() -> str:
    """The browser's path; an error that says how to get one where there is none."""
    given = os.environ.get("CHROMIUM")
    found = given or next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        raise RuntimeError(
            "No Chromium is installed. As root: scripts/setup-browser.sh, or name one: "
            "CHROMIUM=/path/to/chromium. Without a browser: pytest -m 'not browser'."
        )
    return found


@contextmanager
def launched() -> Iterator[Browser]:
    """A headless browser, closed at the end."""
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium())
        yield browser
        browser.close()


@dataclass
class Visit:
    """A page of a site opened from its file, and everything that went wrong or out meanwhile."""

    page: Page
    folder: Path
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def open(self, name: str) -> Page:
        """Open a page of the site, and wait until its scripts have run."""
        self.page.goto("about:blank")
        self.page.goto(f"{self.folder.as_uri()}/{name}", wait_until="load")
        return self.page

    @property
    def foreign(self) -> list[str]:
        """Requests for anything that is no file of the site."""
        home = self.folder.as_uri() + "/"
        return [each for each in self.requests if not each.startswith((home, "about:", "data:"))]


@contextmanager
def visiting(browser: Browser, folder: Path, **context: Any) -> Iterator[Visit]:
    """A fresh browser context for a site's folder."""
    opened = browser.new_context(**context)
    page = opened.new_page()
    visit = Visit(page, folder)
    page.on("console", lambda message: visit.complaints.append(message.text))
    page.on("pageerror", lambda error: visit.complaints.append(str(error)))
    page.on("request", lambda request: visit.requests.append(request.url))
    try:
        yield visit
    finally:
        opened.close()
