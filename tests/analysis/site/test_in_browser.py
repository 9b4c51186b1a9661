"""What a reader can do with the site, in a real browser, from files."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect
from tests.fakes.browser import Visit, launched, visiting
from tests.fakes.site import HOSTILE, FakeSite

from agentbench_analysis.site.build import build_site
from agentbench_analysis.site.links import Links

pytestmark = pytest.mark.browser

RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "preload": False,  # it would fetch the style sheets, which the pages forbid
}
RUN = "runs/AB-T03-S1-A1-r1.html"
PAGES = (
    "index.html",
    "tables.html",
    "numbers.html",
    "runs.html",
    "lost.html",
    "protocol.html",
    "benchmarks.html",
    RUN,
    f"runs/{HOSTILE}.html",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@pytest.fixture
def visit(browser: Browser, folder: Path) -> Iterator[Visit]:
    with visiting(browser, folder, viewport={"width": 1280, "height": 900}) as visit:
        yield visit


@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens_without_a_complaint_and_asks_nobody(visit: Visit, name: str) -> None:
    visit.open(name)
    assert visit.complaints == []
    assert visit.foreign == []
    assert len(visit.requests) > 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_keeps_the_rules_of_accessibility(
    browser: Browser, folder: Path, name: str, scheme: str
) -> None:
    with visiting(browser, folder, color_scheme=scheme) as visit:
        page = visit.open(name)
        page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
        found = Axe().run(page, options=RULES)
        assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_a_narrow_window(browser: Browser, folder: Path, name: str) -> None:
    with visiting(browser, folder, viewport={"width": 320, "height": 640}) as visit:
        page = visit.open(name)
        assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_the_protocol_page_alone_keeps_the_rules_too(
    browser: Browser, made: FakeSite, tmp_path: Path
) -> None:
    for name, data in build_site(made.protocol, None, lambda key: None):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    with visiting(browser, tmp_path) as visit:
        page = visit.open("index.html")
        found = Axe().run(page, options=RULES)
        assert found.violations_count == 0, found.generate_report()
        expect(page.locator("#no-results")).to_contain_text("No results yet.")
        assert (visit.complaints, visit.foreign) == ([], [])


def test_every_picture_has_a_name_and_its_numbers_in_a_table(visit: Visit) -> None:
    page = visit.open("index.html")
    figures = page.locator("figure[data-chart]").all()
    assert len(figures) == 8
    for figure in figures:
        picture = figure.get_by_role("img")
        expect(picture).to_have_count(1)
        assert len(picture.get_attribute("aria-label") or "") > 20
        assert picture.locator("path, rect, circle, line").count() > 3
        assert figure.locator("details tbody tr").count() > 0


def test_a_forest_plot_shows_the_threshold_and_each_interval(visit: Visit, made: FakeSite) -> None:
    page = visit.open("index.html")
    finding = made.results.verdict.findings[0]
    plot = page.locator("section.hypothesis").first.locator("svg")
    expect(plot).to_contain_text("threshold \N{MINUS SIGN}10 pp")
    for ident in finding.figures:
        expect(plot).to_contain_text(made.results.figure(ident).label.split(",")[0])


def test_a_dot_of_the_cost_picture_opens_its_run(visit: Visit) -> None:
    page = visit.open("index.html")
    dot = page.locator("figure[data-chart=spread]").first.locator("circle").first
    dot.scroll_into_view_if_needed()
    box = dot.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.up()
    page.wait_for_url("**/runs/*.html")


def test_the_run_table_filters_sorts_and_remembers_in_its_address(
    visit: Visit, made: FakeSite
) -> None:
    page = visit.open("runs.html")
    attempts = made.results.attempts
    expect(page.locator("#count")).to_contain_text(f"of {len(attempts)} attempts")
    page.get_by_label("Stack").select_option("AB-S3")
    page.get_by_label("Outcome").select_option("pass")
    wanted = [each for each in attempts if each.stack == "AB-S3" and each.outcome.value == "pass"]
    expect(page.locator("#runs tbody tr")).to_have_count(len(wanted))
    page.get_by_role("button", name="Cost").click()
    page.get_by_role("button", name="Cost").click()
    dearest = max(wanted, key=lambda each: float(each.metrics["cost_usd"].value or 0))
    expect(page.locator("#runs tbody tr").first).to_contain_text(dearest.run)
    expect(page.locator("th[aria-sort]")).to_have_attribute("aria-sort", "descending")
    assert page.url.endswith("#stack=AB-S3&outcome=pass&sort=-cost")
    page.reload()
    expect(page.locator("#runs tbody tr").first).to_contain_text(dearest.run)
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#count")).to_contain_text(f"of {len(attempts)} attempts")


def test_a_search_that_fits_nothing_says_so(visit: Visit) -> None:
    page = visit.open("runs.html")
    page.get_by_role("searchbox").fill("no such run")
    expect(page.locator("#count")).to_contain_text("No attempt of")
    expect(page.locator("#runs tbody tr")).to_have_count(0)


def test_unknown_values_come_last_whichever_way_the_rest_is_sorted(visit: Visit) -> None:
    page = visit.open("runs.html#sort=cost")
    last = page.locator("#runs tbody tr").last
    expect(last).to_contain_text("\N{EN DASH}")
    page.get_by_role("button", name="Cost").click()
    expect(page.locator("#runs tbody tr").last).to_contain_text("\N{EN DASH}")


def test_the_table_drawn_by_script_equals_the_one_in_the_file(
    browser: Browser, folder: Path
) -> None:
    cells = "[...document.querySelectorAll('#runs tbody tr')].map(row => row.innerText)"
    with visiting(browser, folder, java_script_enabled=False) as plain:
        plain.open("runs.html")
        page = plain.page
        written = page.locator("#runs tbody tr").all_inner_texts()
    with visiting(browser, folder) as visit:
        drawn = visit.open("runs.html").evaluate(cells)
    assert drawn == written


def test_a_step_has_an_address_of_its_own(visit: Visit) -> None:
    page = visit.open(f"{RUN}#step-6")
    step = page.locator("#step-6")
    expect(step).to_have_attribute("aria-current", "step")
    expect(step).to_be_in_viewport()
    expect(page.locator("[data-at-step]")).to_contain_text("Step 6 of")


def test_keys_move_through_the_steps_and_the_address_follows(visit: Visit) -> None:
    page = visit.open(f"{RUN}#step-3")
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator("#step-5")).to_be_focused()
    assert page.url.endswith("#step-5")
    page.keyboard.press("k")
    expect(page.locator("#step-4")).to_have_attribute("aria-current", "step")
    slider = page.get_by_role("slider", name="Step")
    slider.focus()
    page.keyboard.press("Home")
    expect(page.locator("#step-1")).to_have_attribute("aria-current", "step")
    assert (slider.get_attribute("aria-valuetext") or "").startswith("Step 1 of")


def test_a_filter_of_steps_is_kept_by_the_keys(visit: Visit) -> None:
    page = visit.open(RUN)
    page.get_by_label("Show").select_option("user")
    expect(page.locator(".trace > .steps > .step:visible")).to_have_count(
        page.locator(".trace > .steps > .step.user").count()
    )


def test_play_goes_on_by_itself_until_it_is_paused(visit: Visit) -> None:
    page = visit.open(RUN)
    page.get_by_label("Speed").select_option("60")
    page.get_by_role("button", name="Play").click()
    slider = page.get_by_role("slider", name="Step")
    expect(slider).to_have_value(re.compile(r"[3-9]|\d\d"), timeout=20_000)
    page.keyboard.press("p")
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_a_click_on_the_timeline_goes_to_the_step_below_it(visit: Visit) -> None:
    page = visit.open(RUN)
    bars = page.locator(".timeline-bars")
    bars.scroll_into_view_if_needed()
    box = bars.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] - 2, box["y"] + 8)
    last = page.locator(".trace > .steps > .step").count()
    expect(page.locator(f"#step-{last}")).to_have_attribute("aria-current", "step")


def test_the_colours_follow_the_button_and_the_choice_stays(visit: Visit) -> None:
    page = visit.open("index.html")
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Colours").click()
    page.get_by_role("button", name="Colours: light").click()
    expect(page.get_by_role("button", name="Colours: dark")).to_be_visible()
    dark = page.evaluate(ground)
    assert dark != light
    page.goto(f"{visit.folder.as_uri()}/runs.html")
    assert page.evaluate(ground) == dark


def test_a_page_reads_whole_without_scripts(browser: Browser, folder: Path) -> None:
    with visiting(browser, folder, java_script_enabled=False) as visit:
        page = visit.open(RUN)
        expect(page.locator("#step-2")).to_be_visible()
        expect(page.locator("#replay")).to_be_hidden()
        page = visit.open("index.html")
        expect(page.get_by_text("This picture needs JavaScript")).to_have_count(0)
        assert (
            page.locator("figure .slot")
            .first.evaluate("each => getComputedStyle(each, '::after').content")
            .startswith('"This picture needs JavaScript')
        )


def test_paper_shows_what_is_folded_and_leaves_out_the_controls(visit: Visit) -> None:
    page = visit.open(RUN)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.locator("#replay")).to_be_hidden()
    assert page.locator("details:not([open])").count() == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details:not([open])").count() > 0


def test_nothing_that_an_agent_wrote_runs_or_hides_the_page(visit: Visit) -> None:
    page = visit.open(f"runs/{HOSTILE}.html#step-2")
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    expect(page).to_have_title(f"{HOSTILE}, attempt 1 · Agent benchmark")
    expect(page.locator("#step-2")).to_contain_text("</script><img src=x onerror=")
    expect(page.get_by_role("heading", name="Trace replay")).to_be_visible()
    assert page.locator("main img, main iframe, main style, main base").count() == 0
    assert (visit.complaints, visit.foreign) == ([], [])


def test_a_trace_of_fifty_megabytes_opens_bounded(
    browser: Browser, made: FakeSite, tmp_path: Path
) -> None:
    attempt = next(each for each in made.results.attempts if each.run in RUN)
    page_name = Links(made.results.attempts).page(attempt)
    step = b'{"source": "agent", "message": "' + b"<script>" * 12_500 + b'"}, '
    huge = b'{"steps": [' + step * 500

    def open_artifact(key: str) -> Iterator[bytes] | None:
        if key.endswith("trajectory.json"):
            return (huge[at : at + 1_000_000] for at in range(0, len(huge), 1_000_000))
        return made.campaign.open(key)

    assert len(huge) > 50_000_000
    one = made.results.__class__(
        **{
            name: getattr(made.results, name)
            for name in made.results.__dataclass_fields__
            if name != "attempts"
        },
        attempts=(attempt,),
    )
    for name, data in build_site(made.protocol, one, open_artifact):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    assert (tmp_path / page_name).stat().st_size < 10_000_000
    with visiting(browser, tmp_path) as visit:
        page = visit.open(page_name)
        expect(page.locator("#step-1 .cut")).to_contain_text("96,000 characters left out")
        expect(page.get_by_text("too long to show")).to_be_visible()
        assert (visit.complaints, visit.foreign) == ([], [])
