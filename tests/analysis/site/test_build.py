import dataclasses
import json
import posixpath
from hashlib import sha256
from urllib.parse import unquote, urlsplit

import pytest
from tests.fakes.html import Page
from tests.fakes.site import HOSTILE, FakeSite

from agentbench_analysis.errors import AnalysisError
from agentbench_analysis.site.assets import NAMES, VENDORED, assets
from agentbench_analysis.site.build import SiteOptions, build_site
from agentbench_analysis.site.links import Links
from agentbench_analysis.site.render import CONTENT_SECURITY_POLICY
from agentbench_analysis.site.verdict_page import Download
from agentbench_analysis.spec import Factor

WEB = ("https://example.com/db", "https://example.com/rules")
ALLOWED_TAGS_OF_RUN_PAGES = frozenset(
    [
        "a",
        "article",
        "aside",
        "blockquote",
        "body",
        "button",
        "code",
        "dd",
        "details",
        "div",
        "dl",
        "dt",
        "footer",
        "h1",
        "h2",
        "h3",
        "head",
        "header",
        "html",
        "input",
        "kbd",
        "label",
        "li",
        "link",
        "main",
        "meta",
        "nav",
        "ol",
        "option",
        "output",
        "p",
        "path",
        "pre",
        "rect",
        "script",
        "section",
        "select",
        "span",
        "strong",
        "summary",
        "svg",
        "table",
        "tbody",
        "td",
        "th",
        "thead",
        "title",
        "tr",
        "ul",
    ]
)


@pytest.fixture(scope="module")
def pages(files: dict[str, bytes]) -> dict[str, Page]:
    return {name: Page.of(data) for name, data in files.items() if name.endswith(".html")}


def test_before_the_first_run_the_site_is_the_protocol_and_says_so(made: FakeSite) -> None:
    files = dict(build_site(made.protocol, None, lambda key: None))
    html = {name for name in files if name.endswith(".html")}
    assert html == {"index.html", "benchmarks.html"}
    text = files["index.html"].decode()
    assert "No results yet." in text
    for expected in ("AB-C3", "AB-H4", "6 tasks x 3 stacks x 2 agents = 36", "gpt-6.1-sol"):
        assert expected in text
    assert "unverified" in text
    assert "Confirm gpt-6.1-sol" in text


def test_every_attempt_has_a_page_and_the_index_comes_last(
    made: FakeSite, files: dict[str, bytes]
) -> None:
    links = Links(made.results.attempts)
    assert {links.page(each) for each in made.results.attempts} <= files.keys()
    assert list(files)[-1] == "index.html"


def test_no_two_files_have_one_address(made: FakeSite) -> None:
    names = [name for name, _ in made.files()]
    assert len(names) == len(set(names))


def test_the_same_results_give_the_same_bytes(made: FakeSite, files: dict[str, bytes]) -> None:
    assert dict(made.files()) == files


def test_every_published_number_has_an_id_and_every_id_is_used_once(
    made: FakeSite, pages: dict[str, Page]
) -> None:
    published = {figure.id for figure in made.results.figures}
    assert published <= set(pages["numbers.html"].ids)
    for name, page in pages.items():
        assert len(page.ids) == len(set(page.ids)), name


def test_every_link_leads_to_a_page_and_place_of_the_site(
    files: dict[str, bytes], pages: dict[str, Page]
) -> None:
    for name, page in pages.items():
        for _, address in page.addresses:
            parts = urlsplit(address)
            if parts.scheme:
                assert address in WEB, (name, address)
                continue
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), parts.path))
            if not parts.path:
                target = name
            assert target in files, (name, address)
            if parts.fragment and target != "runs.html":
                assert unquote(parts.fragment) in pages[target].ids, (name, address)


def test_no_page_loads_anything_from_elsewhere(pages: dict[str, Page]) -> None:
    for name, page in pages.items():
        loaded = [address for tag, address in page.addresses if tag != "a"]
        assert all(not urlsplit(each).scheme and not urlsplit(each).netloc for each in loaded), name


def test_every_page_forbids_foreign_code_before_it_names_any(pages: dict[str, Page]) -> None:
    for name, page in pages.items():
        tags = [tag for tag, _ in page.tags]
        policies = [
            place
            for place, (tag, attrs) in enumerate(page.tags)
            if tag == "meta" and attrs.get("http-equiv") == "Content-Security-Policy"
        ]
        assert len(policies) == 1, name
        assert page.tags[policies[0]][1]["content"] == CONTENT_SECURITY_POLICY
        assert policies[0] < tags.index("script")
    assert "unsafe" not in CONTENT_SECURITY_POLICY


def test_scripts_are_the_sites_own_files_or_plain_data(pages: dict[str, Page]) -> None:
    for name, page in pages.items():
        for tag, attrs in page.tags:
            if tag == "script":
                own = (attrs.get("src") or "").removeprefix("../").startswith("assets/")
                assert own or attrs.get("type") == "application/json", (name, attrs)
            assert not any(key.startswith("on") or key == "style" for key in attrs), (name, attrs)


def test_a_hostile_run_adds_no_element_to_its_page(
    files: dict[str, bytes], pages: dict[str, Page]
) -> None:
    page = pages[f"runs/{HOSTILE}.html"]
    assert {tag for tag, _ in page.tags} <= ALLOWED_TAGS_OF_RUN_PAGES
    text = files[f"runs/{HOSTILE}.html"].decode()
    assert "&lt;script&gt;document.title" in text
    assert "{{ 7 * 7 }}" in text
    assert "\u202e" not in text
    assert "7 steps" in text
    assert "not whole JSON" in text


def test_data_inside_a_page_cannot_end_its_element(files: dict[str, bytes]) -> None:
    text = files["runs.html"].decode()
    start = text.index('id="runs-data">') + len('id="runs-data">')
    data = json.loads(text[start : text.index("</script>", start)])
    assert len(data["rows"]) == len(data["columns"])


def test_missing_rows_and_artifacts_are_named_and_no_error(made: FakeSite) -> None:
    bare = dict(build_site(made.protocol, made.results, lambda key: None))
    text = bare[f"runs/{HOSTILE}.html"].decode()
    assert "The row is not at hand, and so neither is its trace." in text
    full = dataclasses.replace(made.campaign, artifacts={})
    text = dict(build_site(made.protocol, made.results, full.open))[f"runs/{HOSTILE}.html"].decode()
    assert "is not at hand where this page was made" in text


def test_a_row_other_than_the_analysed_one_stops_the_site(made: FakeSite) -> None:
    key = made.results.attempts[0].key
    rows = made.campaign.rows | {key: made.campaign.rows[key] + b" "}
    tampered = dataclasses.replace(made.campaign, rows=rows)
    with pytest.raises(AnalysisError, match=key):
        list(build_site(made.protocol, made.results, tampered.open))


def test_stored_files_are_linked_where_the_site_knows_how_to_reach_them(made: FakeSite) -> None:
    options = SiteOptions(
        artifact_root="../../..",
        table_root="tables/",
        downloads=(Download("results.json", "Results as JSON"),),
    )
    files = dict(made.files(options))
    run = Page.of(files[f"runs/{HOSTILE}.html"])
    hrefs = [address for _, address in run.addresses]
    assert f"../../../../ab-proto-1/artifacts/{HOSTILE}/1/trajectory.json" in hrefs
    assert not any("final.tar.zst" in href for href in hrefs)  # it was withheld
    assert ("a", "tables/pass-rates.csv") in Page.of(files["tables.html"]).addresses
    assert ("a", "results.json") in Page.of(files["index.html"]).addresses


def test_a_rerun_and_the_attempt_it_replaced_lead_to_each_other(
    made: FakeSite, files: dict[str, bytes]
) -> None:
    twice = next(each for each in made.results.attempts if each.attempt == 2)
    first = files[f"runs/{twice.run}-attempt-1.html"].decode()
    assert "replaced by its rerun" in first
    assert f'href="../runs/{twice.run}.html"' in first
    assert f'href="../runs/{twice.run}-attempt-1.html"' in files[f"runs/{twice.run}.html"].decode()


def test_made_up_rows_are_called_so_on_every_page(
    pages: dict[str, Page], files: dict[str, bytes]
) -> None:
    for name in pages:
        assert "<strong>Synthetic data.</strong>" in files[name].decode(), name


def test_the_verdict_page_says_what_the_verdict_says(
    made: FakeSite, files: dict[str, bytes]
) -> None:
    text = files["index.html"].decode()
    for finding in made.results.verdict.findings:
        assert finding.condition in text
    for claim in made.results.verdict.claims:
        assert claim.statement in text
    assert "Under the amended rules" in text


def test_the_chart_library_is_the_file_its_authors_published() -> None:
    found = {name.removeprefix("assets/"): data for name, data in assets()}
    assert set(found) == set(NAMES)
    for name, (_, digest) in VENDORED.items():
        assert sha256(found[name]).hexdigest() == digest
    licences = found["vendor/LICENSES.txt"].decode()
    for words, _ in VENDORED.values():
        assert words.removesuffix(" (ISC)") in licences


def test_plugins_have_a_column_where_the_design_has_them(made: FakeSite) -> None:
    plugin = Factor(id="P1", name="Planner")
    spec = dataclasses.replace(made.results.spec, plugins=(plugin,))
    first, *rest = made.results.attempts
    first = dataclasses.replace(first, plugins=("P1",))
    results = dataclasses.replace(made.results, spec=spec, attempts=(first, *rest))
    text = dict(build_site(made.protocol, results, lambda key: None))["runs.html"].decode()
    assert 'data-key="plugins"' in text
    assert text.count("<td>P1</td>") == 1
    plain = dict(made.files())["runs.html"].decode()
    assert 'data-key="plugins"' not in plain
