from pathlib import Path

import pytest
from tests.fakes.site import FakeSite, fake_site


@pytest.fixture(scope="session")
def made() -> FakeSite:
    """A made-up campaign of two runs per cell, one of them hostile."""
    return fake_site()


@pytest.fixture(scope="session")
def files(made: FakeSite) -> dict[str, bytes]:
    """The site's files by address."""
    return dict(made.files())


@pytest.fixture(scope="session")
def folder(files: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as a folder."""
    root = tmp_path_factory.mktemp("site")
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root
