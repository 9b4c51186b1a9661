"""The site's own files: style, scripts, and the chart library they use."""

from collections.abc import Iterator
from importlib.resources import files

NAMES = (
    "charts.js",
    "icon.svg",
    "replay.js",
    "run.css",
    "runs.css",
    "runs.js",
    "site.css",
    "theme.js",
    "vendor/LICENSES.txt",
    "vendor/d3.min.js",
    "vendor/plot.umd.min.js",
    "verdict.css",
)

VENDORED = {
    "vendor/d3.min.js": (
        "D3 7.9.2 (ISC)",
        "912111098ea99503a6f4967361d2bbdc9dbf58cf9c678c8e27e5b02d1a07f0c1",
    ),
    "vendor/plot.umd.min.js": (
        "Observable Plot 0.6.17 (ISC)",
        "4358086467740777dd788d6b27a95cebdbaefdd50c730a3060117073bd7134cb",
    ),
}
"""Built files as their authors publish them on npm: name and version, sha256."""


def assets() -> Iterator[tuple[str, bytes]]:
    """Yield each file with its address."""
    folder = files("agentbench_analysis.site") / "assets"
    for name in NAMES:
        yield f"assets/{name}", folder.joinpath(*name.split("/")).read_bytes()
