"""A place to grade in, and a small pack with its store."""

from pathlib import Path

import pytest
from tests.fakes.exam import Exam
from tests.fakes.local_pack import TinyPack

from agentbench.local.isolation import Isolation
from agentbench.store.folder import FolderStore


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("templates")
    for path in (folder, *folder.parents[:2]):
        path.chmod(0o711)
    return folder


@pytest.fixture
def exam(tmp_path: Path, templates: Path) -> Exam:
    return Exam(tmp_path, templates, Isolation.NAMESPACE)


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "store")


@pytest.fixture
def pack(tmp_path: Path) -> TinyPack:
    return TinyPack(folder=tmp_path / "pack")
