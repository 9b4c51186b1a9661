"""The docs prove what they say by naming tests: each one must be there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = {
    name
    for path in (ROOT / "tests").rglob("test_*.py")
    for name in re.findall(r"def (test_\w+)", path.read_text())
} | {path.name for path in (ROOT / "tests").rglob("test_*.py")}
PAGES = sorted(
    path for path in (ROOT / "docs").glob("*.md") if re.search(r"`[^`]*test_\w+", path.read_text())
)


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_every_test_that_a_page_names_is_there(page: Path) -> None:
    named = re.findall(r"`(?:[\w/.]*/)?(test_\w+(?:\.py)?)`", page.read_text())
    assert [name for name in named if name not in TESTS] == []


def test_pages_do_name_tests() -> None:
    assert {"threat-model.md", "faults.md"} <= {page.name for page in PAGES}
