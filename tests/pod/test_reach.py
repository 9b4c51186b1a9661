"""What `helm test` asks of an installation, and what it says of one that answers wrongly."""

from __future__ import annotations

import base64
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from agentbench.pod.gateway_helper import allowed, authenticate
from agentbench.pod.reach import main

KEY = b"0123456789abcdef0123456789abcdef"

Decide = Callable[[str, str], int]
"""The status for a path and a Proxy-Authorization."""


@contextmanager
def serving(decide: Decide, body: str = "") -> Iterator[str]:
    """A server that answers as decided; its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status = decide(self.path, self.headers.get("Proxy-Authorization", ""))
            content = body.encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (inherited)
            return None

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def gateway_with(key: bytes) -> Decide:
    """What Squid says with the helpers of the real gateway; no host of the test can be found."""

    def decide(path: str, given: str) -> int:
        host, _, port = path.removeprefix("http://").rstrip("/").partition(":")
        user, _, word = base64.b64decode(given.removeprefix("Basic ")).decode().partition(":")
        if not authenticate(f"{user} {word}", key, time.time()).startswith("OK"):
            return 407
        return 503 if allowed(f"{user} {host} {port}").startswith("OK") else 403

    return decide


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """A file with the installation's key, as a Secret is mounted."""
    path = tmp_path / "key"
    path.write_bytes(KEY + b"\n")
    return path


def ask(*words: object) -> int:
    return main([*map(str, words), "--patience", "0.1"])


def test_a_gateway_with_the_installations_key_is_well(
    key: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(gateway_with(KEY)) as address:
        assert ask("--gateway", address, "--key", key, "--port", 9000) == 0
    said = capsys.readouterr().out
    assert "407 without a credential, and with a forged one" in said
    assert "a signed pass is taken (503), and for its own hosts only (403)" in said


@pytest.mark.parametrize(
    ("decide", "said"),
    [
        (lambda path, given: 200, "200 to a caller with no credential, not 407"),
        (lambda path, given: 503 if given else 407, "503 to a caller with a forged one, not 407"),
        (gateway_with(b"another key, of 32 bytes or more"), "407 to a signed pass"),
    ],
)
def test_a_gateway_that_lets_in_or_out_the_wrong_is_named(
    key: Path, capsys: pytest.CaptureFixture[str], decide: Decide, said: str
) -> None:
    with serving(decide) as address:
        assert ask("--gateway", address, "--key", key) == 1
    assert said in capsys.readouterr().out


def test_a_gateway_that_forgets_the_passs_list_is_named(
    key: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    real = gateway_with(KEY)
    with serving(lambda path, given: max(real(path, given), 404)) as address:
        assert ask("--gateway", address, "--key", key) == 1
    assert "404 for a host that is not on the pass's list, not 403" in capsys.readouterr().out


def test_the_operator_answers_or_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with serving(lambda path, given: 200, '{"lastTick": 0}') as address:
        assert ask("--health", f"http://{address}/healthz") == 0
        assert ask("--metrics", f"http://{address}/metrics") == 1
    assert ask("--health", "http://127.0.0.1:1/healthz") == 1
    said = capsys.readouterr().out
    assert "without 'agentbench_build_info'" in said
    assert "is the operator ready, and does a NetworkPolicy let this pod in?" in said


def test_an_address_that_stays_open_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert ask("--closed", f"127.0.0.1:{port}") == 1
    assert main(["--closed", f"127.0.0.1:{port}", "--patience", "5"]) == 0
    said = capsys.readouterr().out
    assert "does not enforce NetworkPolicy, and no run would start (NotIsolated)" in said
    assert "closed, as for every run" in said


def test_arguments_that_belong_together_are_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--gateway", "127.0.0.1:1"])
    assert "--gateway needs --key" in capsys.readouterr().err
