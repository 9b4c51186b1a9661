"""The agent's process, reached through the control socket of its sandbox.

The server is the sandbox's init (or, without namespaces, the process that stands in for it). The
client is the warden. One connection at a time; a Unix stream socket; one JSON object per line,
UTF-8, at most `MAX_LINE` bytes with the newline.

Requests carry an `id` that is unique on the connection; each gets exactly one reply, in the order
of the requests. `process` is a name that the client chose for a process; it is never used twice.

    {"op": "hello", "id": 1}
        -> {"id": 1, "ok": true, "protocol": 1, "pidNamespace": true, "privateRoot": true,
            "network": "loopback"}
        `pidNamespace`: `killall` reaches every process, whatever it did to escape.
        `privateRoot`: `rootFiles` are seen by this sandbox alone. `network`: loopback or host.
    {"op": "spawn", "id": 2, "process": "agent-1", "argv": ["claude", "-p", "..."],
     "env": {"PATH": "/usr/bin:/bin", "HOME": "/home/agent"}, "cwd": "/workspace",
     "uid": 1000, "gid": 1000,
     "files": {".codex/config.toml": "..."},
     "rootFiles": {"/etc/codex/requirements.toml": "..."}}
        with two file descriptors (SCM_RIGHTS) on the first byte of the line: the write ends of
        standard output and standard error, in this order. Standard input is /dev/null.
        `env` is the whole environment. `argv[0]` is looked for in the PATH of `env` unless it has
        a slash. The process leads a session of its own. `files` are relative to HOME, owned by
        uid and gid, mode 0600, folders 0700. `rootFiles` are absolute, owned by root, mode 0644,
        folders 0755. Both replace what is there, and are written before the process starts.
        -> {"id": 2, "ok": true, "pid": 17}
    {"op": "signal", "id": 3, "process": "agent-1", "signal": "INT"}
        to that process alone. A process that has ended is no error.
        -> {"id": 3, "ok": true}
    {"op": "killall", "id": 4}
        SIGKILL to every process in the sandbox but the server and its helpers, again until none
        is left; the server reaps them. Without a PID namespace: to every session it spawned.
        -> {"id": 4, "ok": true, "killed": 3}

A request that cannot be met gets {"id": 5, "ok": false, "error": "what and why"}, and changes
nothing; a `spawn` that fails starts nothing. A line that is no JSON object closes the connection.

The server tells of each end, once, at any time after the reply to its `spawn`:

    {"event": "exit", "process": "agent-1", "code": 0, "signal": null}

where one of `code` and `signal` (a number) is set. **When the connection closes, the server does
what `killall` does**: an agent never outlives its warden.
"""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from agentbench.agents.port import Invocation
from agentbench.pod.process import Exit, ProcessError, Sandbox
from agentbench.pod.warden.pipes import OutputPipe

MAX_LINE = 16 * 1024 * 1024
PROTOCOL = 1


class ControlError(ProcessError):
    """The sandbox refused a request, or its control socket is gone."""


@dataclass(slots=True)
class _Spawned:
    exited: asyncio.Future[Exit]
    stdout: OutputPipe
    stderr: OutputPipe


@dataclass(slots=True)
class ControlSocketProcess:
    """One agent at a time in the sandbox behind `path`, run as `uid` and `gid`."""

    path: str
    uid: int
    gid: int
    _sock: socket.socket | None = None
    _reader: asyncio.Task[None] | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _replies: dict[int, asyncio.Future[Mapping[str, Any]]] = field(default_factory=dict)
    _spawned: dict[str, _Spawned] = field(default_factory=dict)
    _current: str = ""
    _last_id: int = 0

    async def connect(self) -> Sandbox:
        """Connect and ask what the sandbox can do; ControlError if it speaks another protocol."""
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(sock, self.path)
        except OSError as error:
            sock.close()
            raise ControlError(f"control socket {self.path}: {error.strerror}") from error
        self._sock = sock
        self._reader = asyncio.create_task(self._read(sock))
        hello = await self._ask("hello")
        if hello.get("protocol") != PROTOCOL:
            raise ControlError(
                f"control socket {self.path} speaks protocol {hello.get('protocol')!r}, "
                f"this warden speaks {PROTOCOL}: use the same version of both"
            )
        return Sandbox(
            pid_namespace=hello.get("pidNamespace") is True,
            private_root=hello.get("privateRoot") is True,
            network=str(hello.get("network", "host")),
        )

    async def start(self, invocation: Invocation) -> None:
        """Write the invocation's files and start its process; standard input is /dev/null."""
        name = f"agent-{len(self._spawned) + 1}"
        loop = asyncio.get_running_loop()
        stdout, stderr = OutputPipe(), OutputPipe()
        self._spawned[name] = _Spawned(loop.create_future(), stdout, stderr)
        try:
            await self._ask(
                "spawn",
                fds=(stdout.write_end, stderr.write_end),
                process=name,
                argv=list(invocation.argv),
                env=dict(invocation.env),
                cwd=invocation.cwd,
                uid=self.uid,
                gid=self.gid,
                files=dict(invocation.files),
                rootFiles=dict(invocation.root_files),
            )
        except ControlError:
            stdout.close()
            stderr.close()
            raise
        finally:
            stdout.close_write_end()
            stderr.close_write_end()
        self._current = name

    def output(self) -> AsyncIterator[bytes]:
        """Standard output, until the process has ended and the pipe is empty."""
        spawned = self._spawned[self._current]
        return spawned.stdout.chunks(spawned.exited)

    def errors(self) -> AsyncIterator[bytes]:
        """Standard error, until the process has ended and the pipe is empty."""
        spawned = self._spawned[self._current]
        return spawned.stderr.chunks(spawned.exited)

    async def interrupt(self) -> None:
        """Send SIGINT to the agent's main process."""
        await self._ask("signal", process=self._current, signal="INT")

    async def kill(self) -> None:
        """End every process in the sandbox."""
        await self._ask("killall")

    async def wait(self) -> Exit:
        """Wait until the agent's main process has ended; ControlError if the sandbox is gone."""
        return await asyncio.shield(self._spawned[self._current].exited)

    async def close(self) -> None:
        """Close the connection: the sandbox then ends whatever still lives in it."""
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)
        if self._sock is not None:
            self._sock.close()
        for spawned in self._spawned.values():
            spawned.stdout.close()
            spawned.stderr.close()
            if spawned.exited.done() and not spawned.exited.cancelled():
                spawned.exited.exception()
            else:
                spawned.exited.cancel()

    async def _ask(
        self, operation: str, *, fds: tuple[int, ...] = (), **fields: Any
    ) -> Mapping[str, Any]:
        loop = asyncio.get_running_loop()
        sock = self._sock
        if sock is None or self._reader is None or self._reader.done():
            raise ControlError(f"control socket {self.path} is closed")
        self._last_id += 1
        number = self._last_id
        line = json.dumps({"op": operation, "id": number, **fields}).encode() + b"\n"
        if len(line) > MAX_LINE:
            raise ControlError(
                f"{operation} request has {len(line)} bytes, the limit is {MAX_LINE}"
            )
        reply: asyncio.Future[Mapping[str, Any]] = loop.create_future()
        self._replies[number] = reply
        async with self._lock:
            await _send(sock, line, fds)
        answer = await reply
        if answer.get("ok") is not True:
            raise ControlError(f"the sandbox refused {operation}: {answer.get('error')}")
        return answer

    async def _read(self, sock: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        pending = bytearray()
        why = f"control socket {self.path} was closed by the sandbox"
        try:
            while chunk := await loop.sock_recv(sock, 1 << 16):
                pending += chunk
                *lines, rest = pending.split(b"\n")
                for line in lines:
                    self._take(json.loads(bytes(line)))
                pending = bytearray(rest)
        except (OSError, ValueError) as error:
            why = f"control socket {self.path}: {error}"
        finally:
            self._fail_all(why)

    def _take(self, message: Mapping[str, Any]) -> None:
        if message.get("event") == "exit":
            spawned = self._spawned.get(str(message.get("process")))
            if spawned is not None and not spawned.exited.done():
                spawned.exited.set_result(Exit(message.get("code"), message.get("signal")))
            return
        reply = self._replies.pop(int(message.get("id", 0)), None)
        if reply is not None and not reply.done():
            reply.set_result(message)

    def _fail_all(self, why: str) -> None:
        for reply in self._replies.values():
            if not reply.done():
                reply.set_exception(ControlError(why))
        for spawned in self._spawned.values():
            if not spawned.exited.done():
                spawned.exited.set_exception(ControlError(why))


async def _send(sock: socket.socket, line: bytes, fds: tuple[int, ...]) -> None:
    loop = asyncio.get_running_loop()
    if not fds:
        await loop.sock_sendall(sock, line)
        return
    while True:
        try:
            sent = socket.send_fds(sock, [line], list(fds))
            break
        except BlockingIOError:
            await _writable(sock)
    await loop.sock_sendall(sock, line[sent:])


async def _writable(sock: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()

    def wake() -> None:
        if not ready.done():
            ready.set_result(None)

    loop.add_writer(sock, wake)
    try:
        await ready
    finally:
        loop.remove_writer(sock)
