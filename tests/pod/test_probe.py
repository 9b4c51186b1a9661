"""The probe pod's program: what it says of open, shut and asked addresses, on loopback."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.fakes.ports import free_port

from agentbench.pod import probe


@contextmanager
def answering(answer: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """A server that gives one answer to everybody; its address, and what it was asked."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.settimeout(5)
                    asked.append(connection.recv(4096))
                    connection.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}", asked
        server.shutdown(socket.SHUT_RDWR)


def test_an_open_address_is_reached_and_never_shut() -> None:
    with answering(b"") as (address, _):
        assert probe.opened(address, 2)
        assert probe.closed_after(address, 1) is None


def test_a_shut_address_is_shut_from_the_first_try() -> None:
    address = f"127.0.0.1:{free_port()}"
    after = probe.closed_after(address, 5)
    assert after is not None
    assert after < 1
    assert not probe.opened(address, 0.5)


def test_a_gateway_that_asks_who_it_is_is_known_by_407() -> None:
    said = b"HTTP/1.1 407 Proxy Authentication Required\r\nX-Squid-Error: ERR_CACHE 0\r\n\r\n"
    with answering(said) as (gateway, asked):
        found = probe.asked(gateway, "https://s3.example.com", "")
    assert found == {"status": 407, "denied": True, "error": "ERR_CACHE 0"}
    assert asked[0].startswith(b"CONNECT s3.example.com:443 HTTP/1.1\r\n")
    assert b"Proxy-Authorization" not in asked[0]


def test_a_refusal_of_the_store_is_no_refusal_of_the_gateway() -> None:
    with answering(b"HTTP/1.1 403 Forbidden\r\nServer: store\r\n\r\n") as (gateway, asked):
        found = probe.asked(gateway, "http://store:9000", "user:pass")
    assert found == {"status": 403, "denied": False, "error": ""}
    assert asked[0].startswith(b"GET http://store:9000/ HTTP/1.1\r\n")
    assert b"Proxy-Authorization: Basic dXNlcjpwYXNz\r\n" in asked[0]


def test_a_gateway_that_is_not_there_is_no_crash() -> None:
    found = probe.asked(f"127.0.0.1:{free_port()}", "http://store:9000", "")
    assert found["status"] == 0
    assert "refused" in str(found["error"])


def test_it_runs_as_a_text_handed_to_any_python() -> None:
    text = Path(probe.__file__).read_text()
    port = free_port()
    listening = subprocess.Popen(
        [sys.executable, "-I", "-c", text, json.dumps({"listen": port, "seconds": 20})]
    )
    try:
        told = {
            "open": {"pod": f"127.0.0.1:{port}"},
            "shut": {"nobody": f"127.0.0.1:{free_port()}"},
            "limit": 10,
        }
        done = subprocess.run(
            [sys.executable, "-I", "-c", text, json.dumps(told)],
            capture_output=True, text=True, check=True, timeout=60,
        )  # fmt: skip
    finally:
        listening.kill()
        listening.wait()
    found = json.loads(done.stdout)
    assert found["open"] == {"pod": True}
    assert found["shut"]["nobody"] is not None
