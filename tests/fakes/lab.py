"""A whole run on one machine: real sandbox, real warden process, scripted provider."""

import asyncio
import contextlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import zstandard

from agentbench.core.summary import Measure, Summary
from agentbench.local.isolation import Isolation
from agentbench.local.sandbox import Command, Sandbox, SandboxSpec
from agentbench.pod.mock_provider.script import Script, read_script
from agentbench.pod.mock_provider.server import MockProvider

MESSAGE = {"model": {"onError": "continue"}}
KEY = "sk-real-0123456789abcdefghij"
MODEL = "claude-sonnet-5-5"
_PRICE = {
    "input": "2",
    "output": "10",
    "cache_read": "0.10",
    "source": "https://example.org/prices",
    "date": "2026-11-30",
}
PRICES = {
    "schema": "agentbench.prices/v1",
    "currency": "USD",
    "perTokens": 1_000_000,
    "models": {
        MODEL: {**_PRICE, "cache_write_5m": "2.50", "cache_write_1h": "4"},
        "gpt-5.5": _PRICE,
        "gpt-6.2-sol": _PRICE,
    },
}
UID = 1000


@dataclass(frozen=True)
class Ended:
    """What a run left behind."""

    summary: Summary
    exit_code: int
    stderr: str
    files: dict[str, bytes]  # the output folder, unpacked
    calls: list[dict[str, Any]]

    def value(self, name: str) -> Any:
        """A metric's value."""
        return self.summary.metrics[name].value

    def measure(self, name: str) -> Measure:
        """A metric."""
        return self.summary.metrics[name]

    def trajectory(self) -> dict[str, Any]:
        """The trajectory as JSON."""
        content: dict[str, Any] = json.loads(self.files["trajectory.json"])
        return content

    def events(self) -> list[dict[str, Any]]:
        """The raw events."""
        return [json.loads(line) for line in self.files["events.jsonl.zst"].splitlines()]

    def warden(self, what: str) -> list[dict[str, Any]]:
        """What the warden wrote down under that name."""
        return [one for one in self.events() if one.get("what") == what]

    def everything(self) -> bytes:
        """The bytes of all artifacts, unpacked."""
        return b"\n".join(self.files.values())


def _lower(call: dict[str, Any]) -> dict[str, Any]:
    headers = {name.lower(): value for name, value in call["headers"].items()}
    return {**call, "headers": headers}


def _unpacked(path: Path) -> bytes:
    if path.suffix != ".zst":
        return path.read_bytes()
    with zstandard.ZstdDecompressor().stream_reader(path.read_bytes()) as stream:
        return stream.read()


@dataclass
class Lab:
    """Folders, sandbox and provider of one run; `run` plays it."""

    place: Path
    sandbox: Sandbox
    provider: MockProvider
    provider_port: int
    walled: bool = True
    ports: tuple[int, int] = (8787, 8799)  # of model and hook, as the agent sees them
    servers: list[asyncio.Server] = field(default_factory=list)
    warden: asyncio.subprocess.Process | None = None

    @property
    def workspace(self) -> Path:
        """The agent's workspace, as the machine sees it."""
        return self.place / "workspace"

    @property
    def home(self) -> Path:
        """The agent's home, as the machine sees it."""
        return self.place / "home"

    def config(self, adapter: str, settings: Mapping[str, Any], **more: Any) -> dict[str, Any]:
        """The warden's configuration."""
        url = f"http://127.0.0.1:{self.provider_port}"
        agent = {"adapter": adapter, "name": "A1", "model": MODEL, "settings": settings}
        model_port, hook_port = self.ports
        base: dict[str, Any] = {
            "run": "AB-T01-S1-A1-r1",
            "agent": {**agent, **more.pop("agent", {})},
            "place": {
                "workspace": "/workspace" if self.walled else str(self.workspace),
                "home": "/home/agent" if self.walled else str(self.home),
                "tmp": "/home/agent/tmp" if self.walled else str(self.home / "tmp"),
                "modelUrl": f"http://127.0.0.1:{model_port}",
                "hookUrl": f"http://127.0.0.1:{hook_port}/pre",
                "path": "/usr/local/bin:/usr/bin:/bin",
                "uid": UID,
                "gid": UID,
                **more.pop("place", {}),
            },
            "prompt": "Do the task.",
            "prices": json.dumps(PRICES),
            "upstreams": {
                "anthropic": {"url": url, "key": KEY},
                "openai": {"url": url, "key": KEY},
            },
            "listen": {"folder": str(self.place)},
            "control": str(self.place / "control.sock"),
            "output": str(self.place / "output"),
        }
        return {**base, **more}

    async def start(self, config: Mapping[str, Any]) -> asyncio.subprocess.Process:
        """Start the warden."""
        self.warden = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "agentbench.pod.warden"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        assert self.warden.stdin is not None
        self.warden.stdin.write(json.dumps(config).encode() + b"\n")
        await self.warden.stdin.drain()
        return self.warden

    async def finish(self) -> Ended:
        """Wait for the warden and collect what the run left."""
        assert self.warden is not None
        assert self.warden.stdout is not None
        assert self.warden.stderr is not None
        out, err = await asyncio.gather(self.warden.stdout.read(), self.warden.stderr.read())
        code = await self.warden.wait()
        lines = out.decode().splitlines()
        assert lines, err.decode()
        return Ended(
            summary=Summary.model_validate_json(lines[-1]),
            exit_code=code,
            stderr=err.decode(),
            files={path.name: _unpacked(path) for path in (self.place / "output").iterdir()},
            calls=[_lower(call) for call in self.provider.calls],
        )

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition; the test's own time-out is the limit."""
        while not condition():
            await asyncio.sleep(0.02)

    async def pause(self) -> None:
        """Give whatever still lives in the sandbox the time to show it."""
        argv = ("sleep", "0.5")
        env = {"PATH": "/usr/bin:/bin"}
        await self.sandbox.run(Command(argv=argv, env=env, cwd="/", uid=0, gid=0), 60)

    async def run(self, adapter: str, settings: Mapping[str, Any], **more: Any) -> Ended:
        """Run an agent to its end."""
        await self.start(self.config(adapter, settings, **more))
        return await self.finish()


@contextlib.asynccontextmanager
async def lab(
    script: str | Mapping[str, Any] = "turns: [{text: done}]",
    *,
    isolation: Isolation = Isolation.NAMESPACE,
    bin_folder: Path | None = None,
) -> AsyncIterator[Lab]:
    """A lab with a provider that plays `script`; programs in `bin_folder` are seen at /agents."""
    text = script if isinstance(script, str) else json.dumps(script)
    # Socket paths are short by law: pytest's own folders are too deep.
    place = Path(tempfile.mkdtemp(prefix="lab-"))
    place.chmod(0o711)
    for name in ("workspace", "home", "home/tmp", "root"):
        (place / name).mkdir()
        os.chown(place / name, UID, UID)
    binds = [
        {"source": str(place / "workspace"), "target": "/workspace", "writable": True},
        {"source": str(place / "home"), "target": "/home/agent", "writable": True},
    ]
    if bin_folder is not None:
        binds.append({"source": str(bin_folder), "target": "/agents"})
    view = {"binds": binds, "hide": [], "etc": ETC, "scratch": "64m"}
    provider = MockProvider(_script(text))
    port = await provider.start_tcp()
    sandbox = await Sandbox.start(
        SandboxSpec(
            isolation=isolation,
            name="lab",
            view=None if isolation is Isolation.PROCESS_GROUP else view,
            place=place / "root",
            control=place / "control.sock",
        )
    )
    walled = isolation is not Isolation.PROCESS_GROUP
    one = Lab(place, sandbox, provider, port, walled)
    try:
        ports = []
        for inside, outside in zip(one.ports, ("model.sock", "hook.sock"), strict=True):
            server = await forward(sandbox, inside if walled else 0, place / outside)
            one.servers.append(server)
            ports.append(server.sockets[0].getsockname()[1])
        one.ports = (ports[0], ports[1])
        yield one
    finally:
        if one.warden is not None and one.warden.returncode is None:
            one.warden.kill()
            await one.warden.wait()
        for server in one.servers:
            server.close()
        await sandbox.close()
        await provider.stop()
        shutil.rmtree(place)


ETC = {
    "passwd": "root:x:0:0::/root:/bin/sh\nagent:x:1000:1000::/home/agent:/bin/sh\n",
    "group": "root:x:0:\nagent:x:1000:\n",
    "hosts": "127.0.0.1 localhost\n",
}


async def forward(sandbox: Sandbox, port: int, path: Path) -> asyncio.Server:
    """Lead connections to a port inside the sandbox to a Unix socket outside."""
    listening = await sandbox.listen(port)

    async def lead(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, back = await asyncio.open_unix_connection(str(path))
        except OSError:
            writer.close()
            return
        await asyncio.gather(_copy(reader, back), _copy(there, writer))

    return await asyncio.start_server(lead, sock=listening)


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while chunk := await source.read(1 << 16):
            target.write(chunk)
            await target.drain()
    target.close()


def _script(text: str) -> Script:
    return read_script(text, "script")


def steps(*given: object) -> dict[str, object]:
    """A script of these steps."""
    return {"steps": list(given)}
