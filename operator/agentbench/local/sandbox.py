"""A sandbox as the engine holds it: start it, run processes in it, end it."""

import asyncio
import contextlib
import json
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import agentbench
from agentbench.local.isolation import Isolation
from agentbench.pod.bounded import BoundedLog, LogPipe
from agentbench.pod.process import Exit

SOURCE = str(Path(agentbench.__file__).parents[1])
_INIT = f"import sys; sys.path.insert(0, {SOURCE!r}); from agentbench.local.init.main import main"
_MAX_FDS = 8


class SandboxError(RuntimeError):
    """The sandbox could not be started, or refused a request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSpec:
    """What a sandbox is: see `init.main.Boot`. `join` shares another sandbox's network."""

    isolation: Isolation
    name: str
    view: Mapping[str, Any] | None = None
    place: Path = Path("/nonexistent")
    control: Path | None = None
    join: "Sandbox | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A process to start: the environment is whole, `limits` are resource limits by name."""

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: str
    uid: int
    gid: int
    limits: Mapping[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Running:
    """A process in a sandbox, and what it prints."""

    name: str
    log: BoundedLog
    exited: asyncio.Future[Exit]
    pipe: LogPipe
    pid: int = 0

    async def wait(self) -> Exit:
        """Wait until it has ended; SandboxError if the sandbox is gone."""
        ended = await asyncio.shield(self.exited)
        self.pipe.close()
        return ended


class Sandbox:
    """One sandbox. Everything in it ends when it is closed, or when this process is gone."""

    def __init__(self, process: asyncio.subprocess.Process, sock: socket.socket) -> None:
        self._process = process
        self._sock = sock
        self._pending = bytearray()
        self._fds: list[int] = []
        self._replies: dict[int, asyncio.Future[tuple[Mapping[str, Any], list[int]]]] = {}
        self._running: dict[str, Running] = {}
        self._last_id = 0
        self.gone = asyncio.get_running_loop().create_future()

    @classmethod
    async def start(cls, spec: SandboxSpec) -> "Sandbox":
        """Start a sandbox; SandboxError says why it cannot be."""
        ours, theirs = socket.socketpair()
        joined = await spec.join.network() if spec.join is not None else []
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", "-c", f"{_INIT}; main()"),
                stdin=theirs.fileno(),
                stdout=asyncio.subprocess.DEVNULL,
                pass_fds=joined,
                env={"PATH": os.defpath},
                start_new_session=True,
                umask=0o022,
            )
        finally:
            theirs.close()
        ours.setblocking(False)
        sandbox = cls(process, ours)
        booted = sandbox._expect(0)
        boot = {
            "isolation": spec.isolation.value,
            "join": joined,
            "view": spec.view,
            "place": str(spec.place),
            "control": str(spec.control) if spec.control else None,
            "name": spec.name[:60],
        }
        asyncio.get_running_loop().add_reader(ours.fileno(), sandbox._read)
        try:
            await sandbox._send(json.dumps(boot).encode() + b"\n", ())
            await booted
        except SandboxError:
            await sandbox.close()
            raise
        finally:
            for descriptor in joined:
                os.close(descriptor)
        return sandbox

    async def spawn(self, command: Command) -> Running:
        """Start a process; what it prints on either output is kept in one bounded log."""
        pipe = LogPipe(BoundedLog())
        name = f"p{self._last_id + 1}"
        ended: asyncio.Future[Exit] = asyncio.get_running_loop().create_future()
        running = Running(name, pipe.log, ended, pipe)
        self._running[name] = running
        try:
            reply, _ = await self._ask(
                "spawn",
                fds=(pipe.write_end, pipe.write_end),
                process=name,
                argv=list(command.argv),
                env=dict(command.env),
                cwd=command.cwd,
                uid=command.uid,
                gid=command.gid,
                limits=dict(command.limits),
            )
        except SandboxError:
            del self._running[name]
            pipe.close()
            raise
        running.pid = int(reply["pid"])
        pipe.started()
        return running

    async def run(self, command: Command, timeout: float) -> tuple[Exit | None, BoundedLog]:
        """Run a process to its end; None in place of its exit if time ran out (seconds)."""
        running = await self.spawn(command)
        try:
            ended = await asyncio.wait_for(running.wait(), timeout)
        except TimeoutError:
            await self.signal(running, "KILL", group=True)
            await running.wait()
            return None, running.log
        return ended, running.log

    async def signal(self, running: Running, word: str, *, group: bool = False) -> None:
        """Send a signal, such as INT, to a process or to all of its session's group."""
        await self._ask("signal", process=running.name, signal=word, group=group)

    async def kill_all(self) -> int:
        """End every process in the sandbox; returns how many there were."""
        reply, _ = await self._ask("killall")
        return int(reply["killed"])

    async def listen(self, port: int) -> socket.socket:
        """A socket that listens on the sandbox's loopback, for this process to accept on."""
        _, fds = await self._ask("listen", port=port)
        listening = socket.socket(fileno=fds[0])
        listening.setblocking(False)
        return listening

    async def connect(self, port: int) -> socket.socket | None:
        """A socket connected to a port of the sandbox's loopback; None if nothing listens."""
        try:
            _, fds = await self._ask("connect", port=port)
        except SandboxError:
            if self.gone.done():
                raise
            return None
        connected = socket.socket(fileno=fds[0])
        connected.setblocking(False)
        return connected

    async def alive(self) -> int:
        """How many processes live in the sandbox."""
        reply, _ = await self._ask("alive")
        return int(reply["alive"])

    async def network(self) -> list[int]:
        """Descriptors of the sandbox's namespaces, for one that shares its network."""
        _, fds = await self._ask("network")
        return fds

    async def close(self) -> None:
        """End the sandbox and all in it, and wait until it is gone."""
        if self._sock.fileno() >= 0:
            asyncio.get_running_loop().remove_reader(self._sock.fileno())
            self._sock.close()
        await self._process.wait()
        self._fail("the sandbox was closed")

    async def _ask(
        self, operation: str, *, fds: Sequence[int] = (), **fields: Any
    ) -> tuple[Mapping[str, Any], list[int]]:
        self._last_id += 1
        reply = self._expect(self._last_id)
        line = json.dumps({"op": operation, "id": self._last_id, **fields}).encode() + b"\n"
        await self._send(line, fds)
        return await reply

    def _expect(self, number: int) -> asyncio.Future[tuple[Mapping[str, Any], list[int]]]:
        if self._sock.fileno() < 0 or self.gone.done():
            raise SandboxError("the sandbox is gone")
        reply: asyncio.Future[tuple[Mapping[str, Any], list[int]]]
        reply = asyncio.get_running_loop().create_future()
        self._replies[number] = reply
        return reply

    async def _send(self, line: bytes, fds: Sequence[int]) -> None:
        try:
            if fds:
                sent = socket.send_fds(self._sock, [line], list(fds))
                line = line[sent:]
            await asyncio.get_running_loop().sock_sendall(self._sock, line)
        except OSError as error:
            raise SandboxError(f"the sandbox is gone: {error.strerror}") from error

    def _read(self) -> None:
        try:
            chunk, fds, _, _ = socket.recv_fds(self._sock, 1 << 16, _MAX_FDS)
        except BlockingIOError:
            return
        except OSError:
            chunk, fds = b"", []
        self._fds += fds
        self._pending += chunk
        *lines, rest = self._pending.split(b"\n")
        self._pending = bytearray(rest)
        for line in lines:
            self._take(json.loads(bytes(line)))
        if not chunk:
            asyncio.get_running_loop().remove_reader(self._sock.fileno())
            self._sock.close()
            self._fail("the sandbox ended by itself")

    def _take(self, message: Mapping[str, Any]) -> None:
        if message.get("event") == "exit":
            running = self._running.get(str(message["process"]))
            if running is not None and not running.exited.done():
                running.exited.set_result(Exit(message["code"], message["signal"]))
            return
        reply = self._replies.pop(int(message["id"]), None)
        count = int(message.get("fds", 0))
        fds, self._fds = self._fds[:count], self._fds[count:]
        if reply is None or reply.done():
            for descriptor in fds:
                os.close(descriptor)
        elif message.get("ok") is True:
            reply.set_result((message, fds))
        else:
            reply.set_exception(SandboxError(str(message.get("error"))))

    def _fail(self, why: str) -> None:
        if not self.gone.done():
            self.gone.set_result(why)
        for reply in self._replies.values():
            if not reply.done():
                reply.set_exception(SandboxError(why))
        for running in self._running.values():
            if not running.exited.done():
                running.exited.set_exception(SandboxError(why))
                # An end that nobody waits for is no unhandled error.
                running.exited.exception()
            running.pipe.close()
        with contextlib.suppress(SandboxError):
            for reply in self._replies.values():
                reply.exception()
        self._replies.clear()
