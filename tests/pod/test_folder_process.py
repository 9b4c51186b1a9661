"""The warden drives an agent in another container through a shared folder."""

import asyncio
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agentbench.agents.port import Invocation
from agentbench.pod.process import Exit
from agentbench.pod.warden import folder
from agentbench.pod.warden.folder import FolderProcess

SHIM = Path(__file__).parents[2] / "operator/agentbench/pod/shim.sh"


def sh(script: str, tmp_path: Path, **files: str) -> Invocation:
    return Invocation(
        argv=["sh", "-c", script],
        env={"PATH": "/usr/bin:/bin", "WORD": "it's $HOME"},
        cwd=str(tmp_path),
        files=files,
    )


@pytest.fixture
async def process(tmp_path: Path) -> AsyncIterator[FolderProcess]:
    (tmp_path / "HOME").mkdir()
    shim = subprocess.Popen(
        ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", SHIM, tmp_path],
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path / "HOME")},
    )
    agent = FolderProcess(tmp_path)
    await agent.ready()
    yield agent
    shim.kill()
    shim.wait()


async def read(process: FolderProcess) -> bytes:
    return b"".join([chunk async for chunk in process.output()])


async def test_words_and_environment_arrive_as_they_are(
    process: FolderProcess, tmp_path: Path
) -> None:
    await process.start(sh('echo "$WORD"; env | wc -l; exit 4', tmp_path))
    assert await read(process) == b"it's $HOME\n3\n"
    assert await process.wait() == Exit(code=4)


async def test_a_second_process_follows_the_first(process: FolderProcess, tmp_path: Path) -> None:
    await process.start(sh("echo one", tmp_path))
    await process.wait()
    await process.start(sh("cat HOME/note", tmp_path, note="two"))
    assert await read(process) == b"two"


async def test_an_interrupted_process_says_so(process: FolderProcess, tmp_path: Path) -> None:
    await process.start(sh("echo up; exec sleep 60", tmp_path))
    stream = process.output()
    assert await anext(stream) == b"up\n"
    await process.interrupt()
    assert await process.wait() == Exit(signal=2)


async def test_nothing_is_left_after_a_kill(process: FolderProcess, tmp_path: Path) -> None:
    await process.start(sh("trap '' INT; echo up; while :; do sleep 1; done", tmp_path))
    assert await anext(process.output()) == b"up\n"
    await process.interrupt()
    await process.kill()
    assert await process.wait() == Exit(signal=9)


async def test_an_agent_that_ends_what_would_kill_it_is_taken_for_killed(
    process: FolderProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "KILL_WAIT", 0.5)
    await process.start(sh("kill -9 -1; echo still here; exec sleep 1000", tmp_path))
    while not (tmp_path / "out.1").exists() or not (tmp_path / "out.1").read_text():
        await asyncio.sleep(0.05)
    await process.interrupt()
    await process.kill()
    assert await process.wait() == Exit(signal=9)
    assert await read(process) == b"still here\n"
