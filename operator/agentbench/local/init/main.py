"""Starts a sandbox: enters its namespaces, builds its root, and serves its control socket.

Started by the engine as `python -I -S`, with a stream socket as standard input, on which the first
line says what the sandbox is (see `Boot`). This process stays outside and waits; its child is the
sandbox's first process, and ends when either the engine's end of the socket or this one is gone.
"""

import json
import os
import signal
import socket
import sys
from pathlib import Path
from typing import TypedDict

from agentbench.local.init import syscalls
from agentbench.local.init.launch import map_user
from agentbench.local.init.processes import Processes
from agentbench.local.init.server import Client, Server
from agentbench.local.init.view import View, enter


class Boot(TypedDict):
    """What a sandbox is.

    `isolation`: namespace, user-namespace or process-group. `join`: descriptors of another
    sandbox's namespaces, whose network this one shares; empty for a network of its own, which has
    nothing but loopback. `view`: its root, None for the machine's.
    """

    isolation: str
    join: list[int]
    view: View | None
    place: str
    control: str | None
    name: str


def main() -> None:
    """Boot; the exit status is that of the sandbox's first process."""
    engine = socket.socket(fileno=0)
    boot: Boot = json.loads(_first_line(engine))
    try:
        listener = _listen(boot["control"])
        if boot["isolation"] == "process-group":
            syscalls.adopt_orphans()
            _serve(boot, engine, listener)
        else:
            _leave(boot)
            _fork_and_wait(boot, engine, listener)
    except (OSError, KeyError) as error:
        Client(engine).send({"id": 0, "ok": False, "error": str(error)})
        sys.exit(1)


def _first_line(engine: socket.socket) -> bytes:
    line = bytearray()
    while not line.endswith(b"\n"):
        # Byte by byte at the end only: nothing that follows may be taken from the server.
        chunk = engine.recv(1 << 16, socket.MSG_PEEK)
        if not chunk:
            sys.exit(0)
        end = chunk.find(b"\n")
        line += engine.recv(len(chunk) if end < 0 else end + 1)
    return bytes(line)


def _listen(path: str | None) -> socket.socket | None:
    if path is None:
        return None
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(path)
    Path(path).chmod(0o600)
    listener.listen(1)
    return listener


def _leave(boot: Boot) -> None:
    """Enter the namespaces of the sandbox."""
    flags = syscalls.CLONE_NEWNS | syscalls.CLONE_NEWPID | syscalls.CLONE_NEWIPC
    flags |= syscalls.CLONE_NEWUTS
    users = boot["isolation"] == "user-namespace"
    if boot["join"]:
        network, *owner = boot["join"]
        if users:
            syscalls.setns(owner[0], syscalls.CLONE_NEWUSER)
        syscalls.setns(network, syscalls.CLONE_NEWNET)
        for descriptor in boot["join"]:
            os.close(descriptor)
    else:
        flags |= syscalls.CLONE_NEWNET
        if users:
            uid, gid = os.geteuid(), os.getegid()
            syscalls.unshare(syscalls.CLONE_NEWUSER)
            map_user(0, uid, 0, gid)
    syscalls.unshare(flags)


def _fork_and_wait(boot: Boot, engine: socket.socket, listener: socket.socket | None) -> None:
    pid = os.fork()
    if pid:
        engine.close()
        if listener is not None:
            listener.close()
        _, status = os.waitpid(pid, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
    syscalls.die_with_parent(signal.SIGKILL)
    _serve(boot, engine, listener)
    os._exit(0)


def _serve(boot: Boot, engine: socket.socket, listener: socket.socket | None) -> None:
    namespaces: list[int] = []
    isolated = boot["isolation"] != "process-group"
    users = boot["isolation"] == "user-namespace"
    if isolated:
        kinds = ("net", "user") if users else ("net",)
        namespaces = [os.open(f"/proc/self/ns/{kind}", os.O_RDONLY) for kind in kinds]
        socket.sethostname(boot["name"])
        if not boot["join"]:
            syscalls.raise_loopback()
        if boot["view"] is not None:
            enter(boot["view"], boot["place"])
        syscalls.set_dumpable(False)
    os.umask(0o022)
    os.chdir("/")
    client = Client(engine)
    client.send({"id": 0, "ok": True})
    Server(
        engine=client,
        listener=listener,
        processes=Processes(namespace=isolated),
        abilities={
            "pidNamespace": isolated,
            "privateRoot": isolated and boot["view"] is not None,
            "network": "loopback" if isolated else "host",
        },
        own_users=not users and os.geteuid() == 0,
        nested=users,
        namespaces=namespaces,
    ).serve()


if __name__ == "__main__":
    main()
