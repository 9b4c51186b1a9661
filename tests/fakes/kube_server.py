"""An API server of a few objects, over real HTTP: what the command line's connection speaks to."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import yaml

Answer = tuple[int, Any]
Route = Callable[[dict[str, str], Any], Answer]


class KubeServer:
    """Answers requests by method and path; what it was asked is kept."""

    def __init__(self) -> None:
        self.routes: dict[tuple[str, str], Route] = {}
        self.asked: list[tuple[str, str, Any]] = []
        self.url = ""

    def on(self, method: str, path: str, answer: Answer | Route) -> None:
        """What is answered to a request."""
        self.routes[method, path] = answer if callable(answer) else lambda _q, _b: answer

    def items(self, path: str, items: list[Any], version: str = "1") -> None:
        """A list of objects."""
        self.on("GET", path, (200, {"items": items, "metadata": {"resourceVersion": version}}))

    def answer(self, method: str, target: str, body: Any) -> Answer:
        """The answer to one request."""
        parts = urlsplit(target)
        self.asked.append((method, target, body))
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        route = self.routes.get((method, parts.path))
        return route(query, body) if route else (404, "404 page not found")


def refusal(code: int, reason: str, message: str, **details: Any) -> Answer:
    """An error as an API server writes it."""
    return code, {
        "kind": "Status", "code": code, "reason": reason, "message": message, "details": details,
    }  # fmt: skip


@contextmanager
def kube_server(folder: Path) -> Iterator[tuple[KubeServer, Path]]:
    """A running server, and a kubeconfig that leads to it."""
    fake = KubeServer()

    class Handler(BaseHTTPRequestHandler):
        def _any(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(size)) if size else None
            code, said = fake.answer(self.command, self.path, body)
            lines = isinstance(said, list)
            text = "".join(json.dumps(one) + "\n" for one in said) if lines else json.dumps(said)
            content = (said if isinstance(said, str) else text).encode()
            self.send_response(code)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PATCH = do_DELETE = _any  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    fake.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield fake, a_kubeconfig(folder, fake.url)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def a_kubeconfig(folder: Path, server: str, namespace: str = "bench") -> Path:
    """A kubeconfig with one context, `lab`."""
    path = folder / "kubeconfig"
    document = {
        "apiVersion": "v1", "kind": "Config", "current-context": "lab",
        "clusters": [{"name": "lab", "cluster": {"server": server}}],
        "users": [{"name": "me", "user": {"token": "secret"}}],
        "contexts": [
            {"name": "lab", "context": {"cluster": "lab", "user": "me", "namespace": namespace}}
        ],
    }  # fmt: skip
    path.write_text(yaml.safe_dump(document))
    return path
