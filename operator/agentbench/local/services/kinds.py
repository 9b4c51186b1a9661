"""The kinds of services that this machine can run: programs, command lines, readiness."""

import asyncio
import shutil
import socket
import struct
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

POSTGRES_FOLDERS = ("/usr/lib/postgresql", "/usr/pgsql", "/opt/postgresql")
USER = "app"


class ServiceUnavailable(RuntimeError):
    """This machine cannot run a service; the message says how to make it able to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """How a kind of service is run. `port` is used where the network is the sandbox's own."""

    port: int
    url: Callable[[str, int], str]
    argv: Callable[[str, int, str | None], Sequence[str]]
    ready: Callable[[socket.socket], Awaitable[bool]]
    env: Mapping[str, str]
    ours: bool = False  # a program of this project


def postgres_program(name: str) -> str:
    """The path of one of PostgreSQL's server programs.

    Raises:
        ServiceUnavailable: PostgreSQL is not installed.
    """
    versions = [path for root in POSTGRES_FOLDERS for path in Path(root).glob(f"*/bin/{name}")]
    newest = max(versions, key=lambda path: _number(path.parts[-3]), default=None)
    found = str(newest) if newest else shutil.which(name)
    if found is None:
        raise ServiceUnavailable(
            f"PostgreSQL's {name} is not on this machine: install it "
            "(Debian: apt-get install postgresql), or run scripts/system-packages.sh as root"
        )
    return found


def redis_program() -> str:
    """The path of the Redis server; ServiceUnavailable if it is not installed."""
    found = shutil.which("redis-server") or shutil.which("valkey-server")
    if found is None:
        raise ServiceUnavailable(
            "redis-server is not on this machine: install it (Debian: apt-get install "
            "redis-server), or run scripts/system-packages.sh as root"
        )
    return found


def kind_of(name: str, source: str) -> Kind:
    """How to run a kind; `source` is this project's code as the service sees it.

    Raises:
        ServiceUnavailable: this machine cannot run it.
    """
    if name == "postgres":
        program = postgres_program("postgres")
        return Kind(
            port=5432,
            url=lambda host, port: f"postgresql://{USER}:{USER}@{host}:{port}/{USER}",
            argv=lambda data, port, _: (
                *(program, "-D", data, "-p", str(port), "-c", "unix_socket_directories="),
                *("-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"),
                *("-c", "full_page_writes=off", "-c", "logging_collector=off"),
            ),
            ready=_postgres_ready,
            env={},
        )
    if name == "redis":
        server = redis_program()
        return Kind(
            port=6379,
            url=lambda host, port: f"redis://{host}:{port}/0",
            argv=lambda data, port, _: (
                *(server, "--bind", "127.0.0.1", "--port", str(port), "--dir", data),
                *("--save", "", "--appendonly", "no", "--daemonize", "no"),
            ),
            ready=_redis_ready,
            env={},
        )
    if name == "mock-model":
        return Kind(
            port=8790,
            url=lambda host, port: f"http://{host}:{port}",
            argv=lambda _, port, script: (
                *(sys.executable, "-m", "agentbench.pod.mock_provider"),
                *(str(script), "--host", "127.0.0.1", "--port", str(port)),
            ),
            ready=_listens,
            env={"PYTHONPATH": source, "PYTHONDONTWRITEBYTECODE": "1"},
            ours=True,
        )
    if name == "mail":
        return Kind(
            port=1025,
            url=lambda host, port: f"smtp://{host}:{port}",
            argv=lambda data, port, _: (
                *(sys.executable, "-m", "agentbench.pod.mail"),
                *("127.0.0.1", str(port), data),
            ),
            ready=_listens,
            env={"PYTHONPATH": source, "PYTHONDONTWRITEBYTECODE": "1"},
            ours=True,
        )
    raise ServiceUnavailable(
        f"a service of kind {name!r} runs an image, which needs a cluster: run this stack with "
        "`kubectl apply`, or use a kind that one machine has: postgres, redis, mock-model, mail"
    )


async def _listens(connected: socket.socket) -> bool:
    return True


async def _postgres_ready(connected: socket.socket) -> bool:
    """Whether the server lets the app's user in: it listens before it does."""
    pairs = b"".join(word.encode() + b"\0" for word in ("user", USER, "database", USER)) + b"\0"
    hello = struct.pack("!ii", 8 + len(pairs), 3 << 16) + pairs
    loop = asyncio.get_running_loop()
    try:
        await loop.sock_sendall(connected, hello)
        return await asyncio.wait_for(loop.sock_recv(connected, 1), 2) == b"R"
    except (OSError, TimeoutError):
        return False


async def _redis_ready(connected: socket.socket) -> bool:
    loop = asyncio.get_running_loop()
    try:
        await loop.sock_sendall(connected, b"PING\r\n")
        return await asyncio.wait_for(loop.sock_recv(connected, 5), 2) == b"+PONG"
    except (OSError, TimeoutError):
        return False


def _number(version: str) -> float:
    try:
        return float(version)
    except ValueError:
        return 0.0
