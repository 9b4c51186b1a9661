from pathlib import Path

import pytest
from tests.fakes.clis import install


@pytest.fixture(scope="session")
def agents() -> Path:
    return install()
