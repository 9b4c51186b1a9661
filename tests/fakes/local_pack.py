"""A tiny app, its checks and its stack, for tests of the engine on one machine."""

import json
import tarfile
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from textwrap import dedent
from typing import Any

import zstandard

from agentbench.api.campaign import CampaignSpec
from agentbench.api.factors import Stack, Task
from agentbench.api.rules import Checks
from agentbench.core.bundle import BundleManifest, Layer, LayerFile
from agentbench.core.digest import sha256_of
from agentbench.core.keys import layer_key
from agentbench.local.isolation import Isolation
from agentbench.local.place import Machine
from agentbench.pod.snapshot import capture
from agentbench.store.port import Store

APP = '''
"""Counts visits in a file, tells the time, and prints what it is told to."""
import os, time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

STATE = Path(os.environ["DATA_DIR"], "visits")


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/health":
            text = "ok"
        elif self.path == "/visit":
            STATE.write_text(str(int(STATE.read_text() if STATE.exists() else 0) + 1))
            text = STATE.read_text()
        elif self.path == "/time":
            text = str(time.time())
        elif self.path == "/env":
            text = repr(dict(os.environ))
        elif self.path.startswith("/print/"):
            size = int(self.path.removeprefix("/print/"))
            for _ in range(size // 65536):
                os.write(1, b"x" * 65535 + b"\\n")
            text = "printed"
        elif self.path == "/die":
            os._exit(3)
        else:
            self.send_error(404)
            return
        self.send_response(200)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
'''

CHECK_HEAD = """#!/usr/bin/env python3
import json, os, sys, urllib.request

def get(path):
    with urllib.request.urlopen(os.environ["APP_URL"] + path, timeout=20) as answer:
        return answer.read().decode()

def harness(method, path, body=None, token=None):
    request = urllib.request.Request(
        os.environ["HARNESS_URL"] + path, method=method,
        data=None if body is None else json.dumps(body).encode())
    request.add_header("Authorization", "Bearer " + (token or os.environ["HARNESS_TOKEN"]))
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()

def say(name, ok, detail="", **more):
    with open(os.environ["CHECK_REPORT"], "a") as report:
        report.write(json.dumps({"assert": name, "ok": ok, "detail": detail, **more}) + "\\n")

"""

PASSING = 'first = get("/visit")\nsay("fresh", first == "1", first)\nsys.exit(first != "1")\n'
"""A check that passes on a fresh state and on no other."""


def write_app(workspace: Path, app: str = APP) -> None:
    workspace.mkdir(parents=True, exist_ok=True)
    (workspace / "app.py").write_text(app)


def write_check(folder: Path, name: str, body: str) -> None:
    path = folder / "checks" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(CHECK_HEAD + dedent(body))
    path.chmod(0o755)


def a_stack(**fields: Any) -> Stack:
    document: dict[str, Any] = {
        "id": "S1",
        "name": "Tiny",
        "start": {"run": "exec python3 app.py", "timeout": "1m"},
        "startTimeout": "20s",
    }
    return Stack.model_validate(document | fields)


def a_task(**fields: Any) -> Task:
    document: dict[str, Any] = {
        "id": "T1",
        "name": "Visits",
        "prompt": {"path": "tasks/t1.md"},
        "check": {"path": "checks/t1.py"},
    }
    return Task.model_validate(document | fields)


def some_checks(**fields: Any) -> Checks:
    return Checks.model_validate({"repeats": 1, "timeout": "30s"} | fields)


def a_machine(isolation: Isolation = Isolation.NAMESPACE) -> Machine:
    return Machine(isolation=isolation)


def archive_of(workspace: Path, target: Path) -> Path:
    capture(workspace, target, 1 << 30)
    return target


def asserts(record: bytes) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(record)
    return loaded


def put_layer(store: Store, name: str, folder: Path) -> Layer:
    """Pack a folder as a layer of the store."""
    buffer = BytesIO()
    files = []
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            info = tarfile.TarInfo(str(path.relative_to(folder)))
            info.mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
            info.size = path.stat().st_size
            tar.addfile(info, BytesIO(path.read_bytes()))
            digest = sha256_of(path.read_bytes())
            files.append(LayerFile(path=info.name, mode=info.mode, size=info.size, sha256=digest))
    content = buffer.getvalue()
    layer = Layer(name=name, sha256=sha256_of(content), size=len(content), files=tuple(files))
    store.create_only(layer_key(layer.sha256), zstandard.compress(content))
    return layer


@dataclass(kw_only=True)
class TinyPack:
    """A campaign with one task and one stack, whose parts a test may change before `freeze`."""

    folder: Path
    agents: dict[str, list[dict[str, Any]] | str] = field(default_factory=lambda: {"A1": "oracle"})
    stack: dict[str, Any] = field(default_factory=dict)
    spec: dict[str, Any] = field(default_factory=dict)
    check: str = PASSING
    security: str = "sys.exit(0)\n"
    seed: dict[str, str] = field(default_factory=lambda: {"README": "nothing works yet\n"})
    solution: dict[str, str] = field(default_factory=lambda: {"app.py": APP})
    provider: dict[str, Any] | None = None
    scripts: dict[str, str] = field(default_factory=dict)  # beside the agents' own

    def freeze(self, store: Store) -> tuple[CampaignSpec, BundleManifest]:
        """Put every layer into the store; gives the draft campaign and its bundle."""
        self._write("seed", self.seed)
        self._write("solution", self.solution)
        scripts = {
            f"scripts/{name}.yaml": json.dumps(steps)
            for name, steps in self.agents.items()
            if not isinstance(steps, str)
        }
        self._write("scripts", scripts | {"scripts/model.yaml": MODEL_SCRIPT} | self.scripts)
        self._write("protocol", {"tasks/t1.md": "Make it work.\n", "locks/prices.json": PRICES})
        write_check(self.folder / "checks-layer", "t1.py", self.check)
        write_check(self.folder / "checks-layer", "security.py", self.security)
        named = {
            "protocol": "protocol",
            "checks": "checks-layer",
            "scripts": "scripts",
            "seed/T1/S1": "seed",
            "solution/T1/S1": "solution",
        }
        layers = [put_layer(store, name, self.folder / path) for name, path in named.items()]
        manifest = BundleManifest(layers=tuple(layers))
        return CampaignSpec.model_validate(self.document()), manifest

    def document(self) -> dict[str, Any]:
        """The draft's spec, as JSON values."""
        return {
            "protocol": {"id": "TINY-1", "draft": True},
            "tasks": [
                {
                    "id": "T1",
                    "name": "Visits",
                    "prompt": {"path": "tasks/t1.md"},
                    "check": {"path": "checks/t1.py"},
                    "seeds": {"S1": {"path": "seed"}},
                    "solutions": {"S1": {"path": "solution"}},
                }
            ],
            "stacks": [
                a_stack(**self.stack).model_dump(mode="json", by_alias=True, exclude_defaults=True)
            ],
            "agents": [self._agent(name, steps) for name, steps in self.agents.items()],
            "repeats": 1,
            "order": {"seed": 7},
            "caps": {"wall": "1m", "costUSD": "1", "toolCalls": 20, "interventions": 1},
            "checks": {
                "repeats": 1,
                "timeout": "30s",
                "security": {"path": "checks/security.py"},
            },
            "analysis": {"referenceStack": "S1"},
            **self.spec,
        }

    def _agent(self, name: str, steps: list[dict[str, Any]] | str) -> dict[str, Any]:
        if isinstance(steps, str):
            return {"id": name, "name": name, "adapter": steps}
        agent: dict[str, Any] = {
            "id": name,
            "name": name,
            "adapter": "scripted",
            "script": {"path": f"scripts/{name}.yaml"},
        }
        if self.provider is not None:
            agent |= {"provider": self.provider, "model": "tiny-model"}
        return agent

    def _write(self, folder: str, files: dict[str, str]) -> None:
        for name, content in files.items():
            path = self.folder / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        (self.folder / folder).mkdir(exist_ok=True, parents=True)


PRICES = json.dumps(
    {
        "schema": "agentbench.prices/v1",
        "currency": "USD",
        "perTokens": 1_000_000,
        "models": {
            "tiny-model": {"input": "1", "output": "10", "source": "made up", "date": "2026-01-01"}
        },
    }
)
MODEL_SCRIPT = json.dumps(
    {
        "schema": "agentbench.mock/v1",
        "turns": [{"text": "Done.", "usage": {"input": 100_000, "output": 10_000}}],
    }
)
