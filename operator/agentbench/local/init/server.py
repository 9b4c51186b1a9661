"""Serves the control socket of a sandbox: the protocol of `pod/warden/control_socket.py`.

Two kinds of clients speak it: the engine, over the socket that this process was started with and
whose end is the end of the sandbox; and the warden, over a listening socket, one at a time. A
`signal` request may have `"group": true`, for the process and all it started in its own session.
The engine has more operations, whose replies say in `fds` how many descriptors come with them:

    {"op": "listen", "id": 1, "port": 8787}
        A TCP socket that listens on the sandbox's loopback; port 0 takes a free one.
        -> {"id": 1, "ok": true, "port": 8787}, with the socket's descriptor
    {"op": "connect", "id": 2, "port": 8080}
        -> {"id": 2, "ok": true}, with a socket connected to that port of the sandbox's loopback
    {"op": "network", "id": 3}
        -> {"id": 3, "ok": true}, with descriptors of the network and user namespaces
    {"op": "alive", "id": 4}
        -> {"id": 4, "ok": true, "alive": 2}: the number of processes beside this one
"""

import json
import os
import select
import signal
import socket
from dataclasses import dataclass, field
from typing import Any

from agentbench.local.init.launch import LaunchError, launch, write_root_file
from agentbench.local.init.processes import End, Processes
from agentbench.local.init.view import unsealed

PROTOCOL = 1
MAX_LINE = 16 * 1024 * 1024


@dataclass(slots=True, eq=False)
class Client:
    """One connection, with what has arrived of its next line."""

    sock: socket.socket
    pending: bytearray = field(default_factory=bytearray)
    fds: list[int] = field(default_factory=list)

    def send(self, message: dict[str, Any], fds: list[int] | None = None) -> None:
        """Send one line; a client that is gone is noticed when it is read from."""
        line = json.dumps(message).encode() + b"\n"
        try:
            if fds:
                socket.send_fds(self.sock, [line], fds)
            else:
                self.sock.sendall(line)
        except OSError:
            return

    def drop_fds(self) -> None:
        """Close descriptors that no request took."""
        for descriptor in self.fds:
            os.close(descriptor)
        self.fds.clear()


@dataclass(slots=True, kw_only=True)
class Server:
    """The sandbox's init: starts what it is asked to, reaps, and ends everything."""

    engine: Client
    listener: socket.socket | None
    processes: Processes
    abilities: dict[str, Any]
    own_users: bool
    nested: bool
    namespaces: list[int]
    _clients: dict[int, Client] = field(default_factory=dict)
    _running: dict[int, tuple[str, Client]] = field(default_factory=dict)
    _names: dict[str, int] = field(default_factory=dict)

    def serve(self) -> None:
        """Serve until the engine's connection closes; then nothing else is alive."""
        wake_up, woken = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        poll = select.poll()
        self._clients[self.engine.sock.fileno()] = self.engine
        for descriptor in (wake_up, self.engine.sock.fileno()):
            poll.register(descriptor, select.POLLIN)
        if self.listener is not None:
            poll.register(self.listener.fileno(), select.POLLIN)
        while self.engine.sock.fileno() in self._clients:
            for descriptor, _ in poll.poll():
                if descriptor == wake_up:
                    os.read(wake_up, 4096)
                    self._tell(self.processes.reap())
                elif self.listener is not None and descriptor == self.listener.fileno():
                    self._accept(poll)
                elif descriptor in self._clients:
                    self._read(poll, self._clients[descriptor])
        self.processes.kill_all()

    def _accept(self, poll: select.poll) -> None:
        assert self.listener is not None
        sock, _ = self.listener.accept()
        if len(self._clients) > 1:
            sock.close()
            return
        self._clients[sock.fileno()] = Client(sock)
        poll.register(sock.fileno(), select.POLLIN)

    def _read(self, poll: select.poll, client: Client) -> None:
        try:
            chunk, fds, _, _ = socket.recv_fds(client.sock, 1 << 16, 16)
        except OSError:
            chunk, fds = b"", []
        client.fds += fds
        client.pending += chunk
        *lines, rest = client.pending.split(b"\n")
        client.pending = bytearray(rest)
        broken = not chunk or len(rest) > MAX_LINE
        for line in lines:
            broken = broken or not self._answer(client, bytes(line))
        if broken:
            client.drop_fds()
            poll.unregister(client.sock.fileno())
            del self._clients[client.sock.fileno()]
            client.sock.close()
            if client is not self.engine:
                self._kill_all()

    def _answer(self, client: Client, line: bytes) -> bool:
        """Answer one line; False if it is no request, which ends the connection."""
        try:
            request = json.loads(line)
            number = request["id"]
        except (ValueError, KeyError, TypeError):
            return False
        fds: list[int] = []
        try:
            answer, fds = self._meet(client, request)
        except (LaunchError, OSError, ValueError, KeyError, TypeError) as error:
            reason = f"no {error}" if isinstance(error, KeyError) else str(error)
            answer = {"ok": False, "error": reason}
        client.drop_fds()
        client.send({"id": number, **answer, **({"fds": len(fds)} if fds else {})}, fds)
        for descriptor in fds:
            os.close(descriptor)
        return True

    def _meet(self, client: Client, request: dict[str, Any]) -> tuple[dict[str, Any], list[int]]:
        operation = request["op"]
        if operation == "hello":
            return {"ok": True, "protocol": PROTOCOL, **self.abilities}, []
        if operation == "spawn":
            return {"ok": True, "pid": self._spawn(client, request)}, []
        if operation == "signal":
            group = request.get("group") is True
            self._signal(str(request["process"]), str(request["signal"]), group=group)
            return {"ok": True}, []
        if operation == "killall":
            return {"ok": True, "killed": self._kill_all()}, []
        if client is self.engine:
            return self._meet_engine(operation, request)
        raise ValueError(f"unknown operation {operation!r}")

    def _meet_engine(
        self, operation: str, request: dict[str, Any]
    ) -> tuple[dict[str, Any], list[int]]:
        if operation == "listen":
            with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                listening.bind(("127.0.0.1", int(request["port"])))
                listening.listen(128)
                port = listening.getsockname()[1]
                return {"ok": True, "port": port}, [listening.detach()]
        if operation == "connect":
            with socket.create_connection(("127.0.0.1", int(request["port"])), 2) as connected:
                connected.settimeout(None)
                return {"ok": True}, [connected.detach()]
        if operation == "alive":
            return {"ok": True, "alive": len(self.processes.descendants())}, []
        if operation == "network":
            return {"ok": True}, [os.dup(descriptor) for descriptor in self.namespaces]
        raise ValueError(f"unknown operation {operation!r}")

    def _spawn(self, client: Client, request: dict[str, Any]) -> int:
        name = str(request["process"])
        if name in self._names:
            raise LaunchError(f"process {name!r} was started already; choose another name")
        if len(client.fds) != 2:
            raise LaunchError(f"spawn needs 2 descriptors for its outputs, got {len(client.fds)}")
        root_files: dict[str, str] = request.get("rootFiles", {})
        if root_files and not self.abilities["privateRoot"]:
            raise LaunchError(
                "rootFiles need a sandbox with a root of its own; this machine allows none"
            )
        if root_files:
            with unsealed():
                for path, content in root_files.items():
                    write_root_file(path, content)
        pid = launch(request, client.fds, own_users=self.own_users, nested=self.nested)
        self._names[name] = pid
        self._running[pid] = (name, client)
        return pid

    def _signal(self, name: str, word: str, *, group: bool) -> None:
        number = signal.Signals[f"SIG{word}"]
        pid = self._names.get(name)
        if pid is None or pid not in self._running:
            return
        if group:
            os.killpg(pid, number)
        else:
            os.kill(pid, number)

    def _kill_all(self) -> int:
        killed, ended = self.processes.kill_all()
        self._tell(ended)
        return killed

    def _tell(self, ended: list[End]) -> None:
        for pid, code, number in ended:
            name, client = self._running.pop(pid, ("", None))
            if client is not None and client.sock.fileno() >= 0:
                client.send({"event": "exit", "process": name, "code": code, "signal": number})
