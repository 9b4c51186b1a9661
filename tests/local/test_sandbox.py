"""The sandbox, in every kind of isolation that this machine has."""

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.fakes.waiting import until

from agentbench.agents.port import Invocation
from agentbench.local.isolation import Isolation
from agentbench.local.place import AGENT_UID, Folders, Machine
from agentbench.local.probe import why_not
from agentbench.local.sandbox import Command, Sandbox, SandboxError, SandboxSpec
from agentbench.pod.process import Exit
from agentbench.pod.warden.control_socket import ControlError, ControlSocketProcess

ROOT = Path(__file__).parents[2]
WALLED = [Isolation.NAMESPACE, Isolation.USER_NAMESPACE]
ALL = [*WALLED, Isolation.PROCESS_GROUP]


class Room:
    """A sandbox with a workplace, and the means to look into it."""

    def __init__(self, folders: Folders, sandbox: Sandbox, control: Path) -> None:
        self.folders, self.sandbox, self.control = folders, sandbox, control

    def command(self, script: str) -> Command:
        return Command(
            argv=("sh", "-c", script),
            env=self.folders.env({}),
            cwd=self.folders.machine.seen(self.folders.workspace),
            uid=AGENT_UID,
            gid=AGENT_UID,
        )

    async def sh(self, script: str) -> str:
        ended, log = await self.sandbox.run(self.command(script), 30)
        assert ended is not None, log.text()
        return log.content().decode().strip()


@pytest.fixture(params=ALL)
def isolation(request: pytest.FixtureRequest) -> Isolation:
    kind: Isolation = request.param
    return kind


@pytest.fixture
async def room(isolation: Isolation, tmp_path: Path) -> AsyncIterator[Room]:
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o711)
    machine = Machine(isolation=isolation, hide=[tmp_path / "secret"])
    folders = Folders(root=tmp_path / "room", machine=machine)
    folders.make()
    place = tmp_path / "place"
    place.mkdir()
    control = tmp_path / "control"
    sandbox = await Sandbox.start(
        SandboxSpec(
            isolation=isolation,
            name="test",
            view=machine.view(folders.shares),
            place=place,
            control=control,
        )
    )
    yield Room(folders, sandbox, control)
    await sandbox.close()


async def test_this_machine_allows_every_isolation(isolation: Isolation) -> None:
    assert await why_not(isolation) is None


async def test_a_command_runs_as_the_agent_in_its_workspace(room: Room) -> None:
    told = await room.sh("id -u; echo written > file; echo err >&2; echo $HOME; pwd")
    seen = room.folders.machine.seen
    home, workspace = seen(room.folders.home), seen(room.folders.workspace)
    assert told.split("\n") == ["1000", "err", home, workspace]
    assert (room.folders.workspace.source / "file").read_text() == "written\n"


async def test_an_exit_code_and_a_signal_are_told_apart(room: Room) -> None:
    assert (await room.sandbox.run(room.command("exit 7"), 30))[0] == Exit(7, None)
    assert (await room.sandbox.run(room.command("kill -SEGV $$"), 30))[0] == Exit(None, 11)


async def test_a_program_that_does_not_exist_is_named(room: Room) -> None:
    command = Command(argv=("/no/such",), env={"PATH": "/bin"}, cwd="/", uid=1000, gid=1000)
    with pytest.raises(SandboxError, match="execute /no/such: No such file"):
        await room.sandbox.spawn(command)
    assert await room.sh("echo still alive") == "still alive"


async def test_a_command_that_takes_too_long_is_ended(room: Room) -> None:
    ended, log = await room.sandbox.run(room.command("echo begun; sleep 100; echo never"), 0.5)
    assert ended is None
    assert log.content() == b"begun\n"
    await until(lambda: room.sandbox.alive(), lambda alive: alive == 0)


DAEMONS = """
sleep 1000 &
setsid sleep 1000 &
(setsid sh -c 'sleep 1000 & trap "" TERM; sleep 1000' &)
nohup python3 -c 'import os,time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0: time.sleep(1000)
' >/dev/null 2>&1 &
sleep 0.2
"""


async def test_no_daemon_outlives_a_kill(room: Room) -> None:
    await room.sh(DAEMONS)
    assert await room.sandbox.alive() >= 4
    assert await room.sandbox.kill_all() >= 4
    assert await room.sandbox.alive() == 0


async def test_no_fork_storm_outlives_a_kill(room: Room) -> None:
    storm = await room.sandbox.spawn(
        room.command("storm() { while :; do sleep 0.01 & done; }; storm & storm & storm & wait")
    )
    await until(lambda: room.sandbox.alive(), lambda alive: alive > 20)
    await room.sandbox.kill_all()
    assert await room.sandbox.alive() == 0
    assert (await storm.wait()).signal == signal.SIGKILL


async def test_nothing_outlives_its_sandbox(room: Room) -> None:
    mark = str(room.folders.root / "here")
    await room.sh(f"(setsid sh -c 'exec -a x sleep 1000; : {mark}' &); {DAEMONS}")
    await room.sandbox.close()
    left = [path for path in Path("/proc").glob("[0-9]*/cmdline") if mark.encode() in _read(path)]
    assert left == []


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


async def test_output_beyond_the_bound_is_counted_and_not_kept(room: Room) -> None:
    script = "head -c 200000000 /dev/zero | tr '\\0' x; echo; echo the end"
    ended, log = await room.sandbox.run(room.command(script), 60)
    assert ended == Exit(0, None)
    content = log.content()
    assert log.total == 200_000_000 + 1 + len("the end\n")
    assert len(content) < 300_000
    assert b"bytes left out]" in content
    assert content.endswith(b"the end\n")


async def test_a_port_of_the_sandbox_is_reached_from_outside_and_back(room: Room) -> None:
    listening = await room.sandbox.listen(0)
    port = listening.getsockname()[1]
    got: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        got.set_result(await reader.readline())
        writer.close()

    async with await asyncio.start_server(take, sock=listening):
        client = (
            "import socket; s = socket.create_connection(('127.0.0.1', %d)); s.sendall(b'hi\\n')"
        )
        await room.sh(f'python3 -c "{client % port}"')
        assert await asyncio.wait_for(got, 10) == b"hi\n"
    assert not await _reachable(room, 1)


async def test_a_sandbox_that_is_gone_says_so(room: Room) -> None:
    running = await room.sandbox.spawn(room.command("sleep 1000"))
    await room.sandbox.close()
    with pytest.raises(SandboxError, match="closed"):
        await running.wait()
    with pytest.raises(SandboxError, match="gone"):
        await room.sandbox.kill_all()


def way_to_python(folder: str) -> set[str]:
    """What a checkout below a folder leaves there: the first step to its Python."""
    prefix = Path(sys.prefix)
    if not prefix.is_relative_to(folder):
        return set()
    return {prefix.relative_to(folder).parts[0]}


@pytest.mark.parametrize("isolation", WALLED, indirect=True)
async def test_only_what_is_shared_is_there(room: Room, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "check.py").write_text("answer")
    assert (await room.sh(f"ls {ROOT}/pyproject.toml {ROOT}/tests 2>&1")).count("No such") == 2
    assert await room.sh(f"cat {tmp_path}/secret/check.py 2>&1 | grep -c 'No such file'") == "1"
    assert set((await room.sh("ls -A /home")).split()) == {"agent"} | way_to_python("/home")
    assert set((await room.sh("ls -A /tmp")).split()) == way_to_python("/tmp")
    assert await room.sh("cat /etc/passwd | cut -d: -f1") == "root\nagent\ncheck\nservice\nnobody"


@pytest.mark.parametrize("isolation", WALLED, indirect=True)
async def test_there_is_no_network_but_loopback(room: Room) -> None:
    script = (
        "import socket\n"
        "for address in (('198.51.100.1', 80), ('10.0.0.1', 80), ('8.8.8.8', 53)):\n"
        "    try: socket.create_connection(address, 2)\n"
        "    except OSError as error: print(error.errno)\n"
    )
    assert await room.sh(f'python3 -c "{script}"') == "101\n101\n101"
    with socket.socket() as ours:
        ours.bind(("127.0.0.1", 0))
        ours.listen()
        port = ours.getsockname()[1]
        connect = f"import socket; socket.create_connection(('127.0.0.1', {port}))"
        assert "refused" in await room.sh(f'python3 -c "{connect}" 2>&1')


@pytest.mark.parametrize("isolation", WALLED, indirect=True)
async def test_the_agent_has_no_power_over_its_sandbox(room: Room) -> None:
    tries = (
        "mount -t tmpfs none /usr; umount /usr; touch /usr/x; touch /etc/x; kill -9 1;"
        "cat /proc/1/environ; cat /proc/1/mem; ls /proc/1/fd; hostname other;"
        "echo x > /run/agentbench/clock/now; rm -rf /usr/bin/env"
    )
    await room.sh(f"({tries}) 2>/dev/null; true")
    assert await room.sh("ls /usr/x /etc/x 2>/dev/null; cat /proc/1/environ 2>&1 | tail -1") == (
        "cat: /proc/1/environ: Permission denied"
    )
    assert await room.sh("grep -h -E 'NoNewPrivs|CapEff' /proc/self/status | tr -s '\\t ' ' '") == (
        "CapEff: 0000000000000000\nNoNewPrivs: 1"
    )
    assert not (room.folders.clock.source / "now").exists()


@pytest.mark.parametrize("isolation", WALLED, indirect=True)
async def test_a_second_sandbox_shares_the_network_and_nothing_else(
    room: Room, isolation: Isolation, tmp_path: Path
) -> None:
    machine = Machine(isolation=isolation)
    folders = Folders(root=tmp_path / "other", machine=machine)
    folders.make()
    (tmp_path / "place2").mkdir()
    other = await Sandbox.start(
        SandboxSpec(
            isolation=isolation,
            name="other",
            view=machine.view(folders.shares),
            place=tmp_path / "place2",
            join=room.sandbox,
        )
    )
    try:
        server = await room.sandbox.spawn(
            room.command("echo mine > page; exec python3 -m http.server --bind 127.0.0.1 8080")
        )
        await until(lambda: _reachable(room, 8080), bool)
        second = Room(folders, other, tmp_path)
        fetch = "import urllib.request as u; print(u.urlopen('http://127.0.0.1:8080/page').read())"
        assert "mine" in await second.sh(f'python3 -c "{fetch}"')
        assert "http.server" not in await second.sh("cat /proc/[0-9]*/cmdline | tr '\\0' ' '")
        assert not server.exited.done()
        await other.kill_all()
        assert not server.exited.done()
    finally:
        await other.close()


async def test_the_warden_reaches_the_sandbox_through_its_control_socket(room: Room) -> None:
    warden = ControlSocketProcess(str(room.control), AGENT_UID, AGENT_UID)
    able = await warden.connect()
    walled = room.folders.machine.walled
    assert (able.pid_namespace, able.private_root) == (walled, walled)
    assert able.network == ("loopback" if walled else "host")
    env = room.folders.env({})
    script = (
        "cat $HOME/.conf/deep/file; stat -c %a $HOME/.conf $HOME/.conf/deep/file; sleep 1000 & "
    )
    await warden.start(
        Invocation(
            argv=["sh", "-c", script],
            env=env,
            cwd=room.folders.machine.seen(room.folders.workspace),
            files={".conf/deep/file": "given\n"},
        )
    )
    printed = b"".join([chunk async for chunk in warden.output()])
    assert printed == b"given\n700\n600\n"
    assert await warden.wait() == Exit(0, None)
    await warden.start(Invocation(argv=["sleep", "1000"], env=env, cwd="/"))
    await warden.interrupt()
    assert await warden.wait() == Exit(None, signal.SIGINT)
    assert await room.sandbox.alive() == 1, "the sleep that the first process left"
    await warden.close()
    await until(lambda: room.sandbox.alive(), lambda alive: alive == 0)


@pytest.mark.parametrize("isolation", WALLED, indirect=True)
async def test_root_files_are_the_sandboxes_own(room: Room) -> None:
    warden = ControlSocketProcess(str(room.control), AGENT_UID, AGENT_UID)
    await warden.connect()
    path = "/etc/agent-bench-test/managed.json"
    await warden.start(
        Invocation(
            argv=["sh", "-c", f"cat {path}; echo x > {path} || rm {path}"],
            env=room.folders.env({}),
            cwd="/",
            root_files={path: json.dumps({"hook": 1})},
        )
    )
    printed = b"".join([chunk async for chunk in warden.output()])
    await warden.wait()
    assert printed == b'{"hook": 1}'
    assert await room.sh(f"cat {path}") == '{"hook": 1}'
    assert not Path(path).exists()
    await warden.close()


@pytest.mark.parametrize("isolation", [Isolation.PROCESS_GROUP], indirect=True)
async def test_root_files_are_refused_where_they_would_be_the_machines(room: Room) -> None:
    warden = ControlSocketProcess(str(room.control), AGENT_UID, AGENT_UID)
    await warden.connect()
    with pytest.raises(ControlError, match="root of its own"):
        await warden.start(
            Invocation(argv=["true"], env={"PATH": "/bin"}, cwd="/", root_files={"/etc/x-y": ""})
        )
    await warden.close()
    assert not Path("/etc/x-y").exists()


async def test_a_sandbox_ends_when_its_engine_is_killed(isolation: Isolation) -> None:
    program = f"""
import asyncio, os
from agentbench.local.isolation import Isolation
from agentbench.local.sandbox import Command, Sandbox, SandboxSpec
async def main():
    sandbox = await Sandbox.start(SandboxSpec(isolation=Isolation({isolation.value!r}), name="x"))
    command = Command(argv=("sleep", "1000"), env={{"PATH": "/bin"}}, cwd="/", uid=1000, gid=1000)
    await sandbox.spawn(command)
    inits = os.popen(f"pgrep -P {{os.getpid()}}").read().split()
    print(*inits, *os.popen("pgrep -P " + inits[0]).read().split(), flush=True)
    await asyncio.sleep(1000)
asyncio.run(main())
"""
    engine = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", program), stdout=asyncio.subprocess.PIPE
    )
    assert engine.stdout is not None
    pids = [int(pid) for pid in (await engine.stdout.readline()).split()]
    assert len(pids) >= 2
    engine.kill()
    await engine.wait()

    async def alive() -> list[int]:
        return [pid for pid in pids if _alive(pid)]

    await until(alive, lambda left: left == [])


async def _reachable(room: Room, port: int) -> bool:
    connected = await room.sandbox.connect(port)
    if connected is not None:
        connected.close()
    return connected is not None


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return b") Z " not in _read(Path(f"/proc/{pid}/stat"))
