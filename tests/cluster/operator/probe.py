"""What an agent that wants out tries; it runs inside the agent's container, on Python alone.

    python3 probe.py OUTPUT < TARGETS

TARGETS is JSON: `connect` and `datagram` (name to [host, port]), `resolve` (names), `by_gateway`
(name to [proxy address, URL]; `own` is the agent's own proxy, `none` that without its credential,
`forged` that with another password). OUTPUT gets what came of each, as JSON.
"""

import json
import os
import socket
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any


def connect(host: str, port: int) -> str:
    """Whether a TCP connection is taken."""
    try:
        socket.create_connection((host, port), timeout=3).close()
    except OSError as error:
        return f"shut: {error}"
    return "open"


def datagram(host: str, port: int) -> str:
    """Whether a DNS question is answered."""
    words = b"kubernetes.default.svc.cluster.local".split(b".")
    name = b"".join(bytes([len(word)]) + word for word in words) + b"\0"
    question = b"\x12\x34\x01\x00" + b"\x00\x01" + b"\x00" * 6 + name + b"\x00\x01" * 2
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.settimeout(3)
        try:
            asking.sendto(question, (host, port))
            asking.recv(512)
        except OSError as error:
            return f"shut: {error}"
    return "open"


def resolve(name: str) -> str:
    """Whether a name resolves."""
    try:
        return f"open: {socket.gethostbyname(name)}"
    except OSError as error:
        return f"shut: {error}"


def by_gateway(proxy: str, url: str) -> int | str:
    """The status that a request by the gateway ends with."""
    proxy = os.environ["HTTP_PROXY"] if proxy == "own" else proxy
    if proxy == "forged":
        own = os.environ["HTTP_PROXY"]
        proxy = own[: own.index("@") - 4] + "0000" + own[own.index("@") :]
    if proxy == "none":
        proxy = "http://" + os.environ["HTTP_PROXY"].rpartition("@")[2]
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({"http": proxy, "https": proxy})
    )
    try:
        with opener.open(url, timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError as error:
        return str(error)


def main() -> None:
    """Try everything at once, and write down what came of it."""
    targets = json.load(sys.stdin)
    found: dict[str, Any] = {}

    def note(kind: str, name: str, function: Callable[..., Any], *words: Any) -> None:
        found[f"{kind} {name}"] = function(*words)

    tries = [
        *(("connect", name, connect, *where) for name, where in targets.get("connect", {}).items()),
        *(
            ("datagram", name, datagram, *where)
            for name, where in targets.get("datagram", {}).items()
        ),
        *(("resolve", name, resolve, name) for name in targets.get("resolve", ())),
        *(
            ("gateway", name, by_gateway, *how)
            for name, how in targets.get("by_gateway", {}).items()
        ),
    ]
    threads = [threading.Thread(target=note, args=each) for each in tries]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    token = "/var/run/secrets/kubernetes.io"
    found["token"] = Path(token).exists()
    found["user"] = os.getuid()
    Path(sys.argv[1]).write_text(json.dumps(found))


main()
