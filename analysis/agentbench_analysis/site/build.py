"""The whole site, as files."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from urllib.parse import quote

from agentbench_analysis.results.model import Results
from agentbench_analysis.site.assets import NAMES, assets
from agentbench_analysis.site.content import ProtocolPage
from agentbench_analysis.site.lost_page import lost_page
from agentbench_analysis.site.names import Names
from agentbench_analysis.site.numbers_page import numbers_page
from agentbench_analysis.site.render import Renderer
from agentbench_analysis.site.run_page import RunPages
from agentbench_analysis.site.runs_page import runs_page
from agentbench_analysis.site.stream import OpenArtifact
from agentbench_analysis.site.tables_page import tables_page
from agentbench_analysis.site.trace import Bounds
from agentbench_analysis.site.verdict_page import Download, verdict_page

_PAGES_WITH_RESULTS = 6  # index, tables, numbers, runs, lost, protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteOptions:
    """What is not in the results: where stored files can be reached from the site.

    `artifact_root` is the address of the store's prefix as seen from the site's root, such as
    `../../..`; None leaves stored files unlinked. `table_root` is that of the tables' CSV and
    Markdown files, such as `tables/`. `downloads` lie beside the site. `synthetic` is a sentence
    shown on every page where the rows were made up.
    """

    artifact_root: str | None = None
    table_root: str | None = None
    downloads: tuple[Download, ...] = ()
    synthetic: str = ""
    bounds: Bounds = field(default_factory=Bounds)


@dataclass(frozen=True, slots=True)
class NavItem:
    """One entry of the navigation."""

    href: str
    label: str


def build_site(
    protocol: ProtocolPage,
    results: Results | None,
    open_artifact: OpenArtifact,
    options: SiteOptions | None = None,
) -> Iterator[tuple[str, bytes]]:
    """Yield every file of the site as (address, bytes); `index.html` comes last.

    Without results the site is the protocol page. `open_artifact` gives the bytes stored under a
    key (rows, traces, diffs) in chunks, None where there are none; no more of them is read than a
    page shows.

    Raises:
        AnalysisError: a stored row is not the one that the results were made from.
    """
    options = options or SiteOptions()
    renderer = Renderer(
        {
            "protocol": protocol,
            "pages": _pages(protocol, results),
            "has_results": results is not None,
            "synthetic": options.synthetic,
        }
    )
    yield from assets()
    if protocol.benchmarks.packages:
        yield (
            "benchmarks.html",
            renderer.page("benchmarks.html.j2", root="", here="benchmarks.html"),
        )
    if results is None:
        yield "index.html", _protocol(renderer, protocol, "index.html")
        return
    names = Names(results.spec)
    renderer.share(names=names, name_table=names.table())
    yield "protocol.html", _protocol(renderer, protocol, "protocol.html")
    pages = RunPages(
        renderer, results.spec.caps, open_artifact, _hrefs(options.artifact_root), options.bounds
    )
    yield from pages.pages(results.attempts)
    yield "runs.html", runs_page(renderer, results)
    yield "lost.html", lost_page(renderer, results)
    yield "numbers.html", numbers_page(renderer, results, names)
    yield "tables.html", tables_page(renderer, results, options.table_root)
    yield "index.html", verdict_page(renderer, results, names, options.downloads)


def count_files(protocol: ProtocolPage, results: Results | None) -> int:
    """How many files `build_site` will yield, for a progress bar."""
    pages = 1 if results is None else len(results.attempts) + _PAGES_WITH_RESULTS
    return len(NAMES) + pages + bool(protocol.benchmarks.packages)


def _protocol(renderer: Renderer, protocol: ProtocolPage, here: str) -> bytes:
    reference = next((stack.name for stack in protocol.stacks if stack.reference), "the reference")
    return renderer.page("protocol.html.j2", root="", here=here, reference_name=reference)


def _pages(protocol: ProtocolPage, results: Results | None) -> tuple[NavItem, ...]:
    found = [NavItem("index.html", "Protocol")]
    if results is not None:
        found = [
            NavItem("index.html", "Verdict"),
            NavItem("tables.html", "Tables"),
            NavItem("numbers.html", "Numbers"),
            NavItem("runs.html", "Runs"),
            NavItem("lost.html", "Where we lost"),
            NavItem("protocol.html", "Protocol"),
        ]
    if protocol.benchmarks.packages:
        found.append(NavItem("benchmarks.html", "Library benchmarks"))
    return tuple(found)


def _hrefs(root: str | None) -> Callable[[str], str | None]:
    """How a run's page, one folder down, reaches a stored file."""
    if root is None:
        return lambda key: None
    return lambda key: f"../{root}/{quote(key)}"
