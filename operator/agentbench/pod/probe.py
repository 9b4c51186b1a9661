"""What a probe pod of `agent-bench doctor --cluster` runs: who it can reach, and who it cannot.

    python3 -c "$(cat probe.py)" '{"listen": 8080, "seconds": 120}'
    python3 -c "$(cat probe.py)" '{"open": {"pod": "10.0.0.7:8080"}, "shut": {}, ...}'

Nothing but the standard library, and no import of ours: the command line hands this very text to
whatever Python the pod's image has. What it found is one JSON object, in the termination message.
"""

import base64
import json
import os
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

MESSAGE = Path("/dev/termination-log")
PAUSE = 0.2
IN_A_ROW = 3


def address(text: str) -> tuple[str, int]:
    """Host and port; `kubernetes` is the API server as every pod is told of it."""
    if text == "kubernetes":
        text = f"{os.environ['KUBERNETES_SERVICE_HOST']}:{os.environ['KUBERNETES_SERVICE_PORT']}"
    host, _, port = text.rpartition(":")
    return host.strip("[]"), int(port)


def reachable(text: str) -> bool:
    """Whether a TCP connection is taken."""
    try:
        socket.create_connection(address(text), timeout=1).close()
    except OSError:
        return False
    return True


def opened(text: str, limit: float) -> bool:
    """Whether an address can be reached within some seconds."""
    end = time.monotonic() + limit
    while not reachable(text):
        if time.monotonic() > end:
            return False
        time.sleep(PAUSE)
    return True


def closed_after(text: str, limit: float) -> float | None:
    """After how many seconds an address is refused for good, None if it is not."""
    began = time.monotonic()
    refused, since = 0, 0.0
    while time.monotonic() - began < limit:
        now = time.monotonic() - began
        if reachable(text):
            refused = 0
        else:
            since = since if refused else now
            refused += 1
            if refused == IN_A_ROW:
                return since
        time.sleep(PAUSE)
    return None


def asked(gateway: str, url: str, credential: str) -> dict[str, object]:
    """What a gateway answers to a request for an address; `denied` is the gateway's own no."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    host = f"{parts.hostname}:{port}"
    what = f"CONNECT {host}" if parts.scheme == "https" else f"GET {parts.scheme}://{host}/"
    lines = [f"{what} HTTP/1.1", f"Host: {host}", "Connection: close"]
    if credential:
        said = base64.b64encode(credential.encode()).decode()
        lines.append(f"Proxy-Authorization: Basic {said}")
    try:
        with socket.create_connection(address(gateway), timeout=5) as connection:
            connection.settimeout(10)
            connection.sendall("\r\n".join([*lines, "", ""]).encode())
            head = b""
            while b"\r\n\r\n" not in head and len(head) < 16384:
                chunk = connection.recv(4096)
                if not chunk:
                    break
                head += chunk
    except OSError as error:
        return {"status": 0, "denied": False, "error": str(error)}
    text = head.split(b"\r\n\r\n")[0].decode("latin-1")
    words = text.split(" ", 2)
    status = int(words[1]) if len(words) > 1 and words[1].isdigit() else 0
    own = "x-squid-error:" in text.lower()
    named = [line for line in text.splitlines() if line.lower().startswith("x-squid-error:")]
    why = named[0].partition(": ")[2] if named else ""
    return {"status": status, "denied": own or status == 407, "error": why}


def listen(port: int, seconds: float) -> None:
    """Take connections for some seconds."""
    end = time.monotonic() + seconds
    with socket.create_server(("", port), family=_family(), backlog=16) as server:
        server.settimeout(1)
        while time.monotonic() < end:
            with suppress(TimeoutError):
                server.accept()[0].close()


def _family() -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in os.environ.get("POD_IP", "") else socket.AF_INET


def main(argv: list[str]) -> int:
    """Look, and leave what was found."""
    told = json.loads(argv[0])
    if "listen" in told:
        listen(int(told["listen"]), float(told["seconds"]))
        return 0
    limit = float(told["limit"])
    found: dict[str, object] = {
        "shut": {name: closed_after(text, limit) for name, text in told.get("shut", {}).items()},
        "open": {name: opened(text, limit) for name, text in told.get("open", {}).items()},
    }
    for name, request in told.get("asked", {}).items():
        found[name] = asked(request["gateway"], request["url"], request["credential"])
    text = json.dumps(found)
    print(text)
    if MESSAGE.exists():
        MESSAGE.write_text(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
