"""Results written as a folder: the site, its tables and results.json beside it."""

import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from agentbench.cli.analysing import results_of
from agentbench.cli.place import Place
from agentbench.cli.protocol_page import protocol_page
from agentbench.pack.problems import PackInvalid, Problem
from agentbench.store.port import Store
from agentbench.store.stream import chunks
from agentbench_analysis.errors import NoRowsError
from agentbench_analysis.facade import files
from agentbench_analysis.results.model import Results
from agentbench_analysis.site.build import SiteOptions, build_site

_MARK = "index.html"


def write_site(place: Place, folder: Path) -> tuple[int, int]:
    """Write a campaign's site; what an earlier one left is replaced when the new one is whole.

    Returns:
        The number of files, and of runs in them.

    Raises:
        PackInvalid: the folder holds something that is no site.
        AnalysisError: a row cannot be used; nothing was changed.
    """
    if folder.exists() and any(folder.iterdir()) and not (folder / _MARK).exists():
        raise PackInvalid(
            [
                Problem(
                    file=str(folder),
                    message="holds something that is no site of ours",
                    cure="Name another folder with --out.",
                )
            ]
        )
    try:
        results: Results | None = results_of(place)
        store: Store | None = place.open()
    except NoRowsError:
        results, store = None, None
    draft = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    try:
        count = 0
        for name, content in _files(place, folder, results, store):
            target = draft / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            count += 1
        old = folder.with_name(f".{folder.name}.{os.getpid()}.old")
        if folder.exists():
            folder.replace(old)
        draft.replace(folder)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return count, len(results.scored) if results else 0


def _files(
    place: Place, folder: Path, results: Results | None, store: Store | None
) -> Iterator[tuple[str, bytes]]:
    def open_artifact(key: str) -> Iterable[bytes] | None:
        return chunks(store, key) if store is not None else None

    options = SiteOptions(
        artifact_root=place.seen_from(folder),
        table_root="tables/",
    )
    if results is not None:
        yield from files(results).items()
    yield from build_site(protocol_page(place.pack, place.texts), results, open_artifact, options)
