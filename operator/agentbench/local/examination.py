"""One execution of one check on a fresh copy of a final state."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from agentbench.api.factors import Stack
from agentbench.core.execution import verdict_of
from agentbench.core.reasons import Reason
from agentbench.local.app import APP_PORT, App
from agentbench.local.clock import Clock
from agentbench.local.place import CHECK_UID, Folders, Machine, Share
from agentbench.local.ports import free_port
from agentbench.local.sandbox import Command, Sandbox, SandboxError, SandboxSpec
from agentbench.local.services.group import Services
from agentbench.local.services.templates import Templates
from agentbench.pod.check_report import Line, read_report
from agentbench.pod.harness import Harness
from agentbench.pod.process import Exit
from agentbench.pod.snapshot import copy_into, restore
from agentbench.pod.surroundings import AppNotStarted, ServiceDied
from agentbench.pod.trees import remove_tree
from agentbench_analysis.rows.words import CheckVerdict

HARNESS_PORT = 8700
REPORT = "report.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What every execution starts from.

    `archive` is the final state, `checks` the unpacked layer of checks, `scripts` that of mock
    model servers' scripts, `root` an empty folder of our own.
    """

    machine: Machine
    templates: Templates
    archive: Path
    checks: Path
    scripts: Path | None
    root: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """How an execution ended. `reason` is set where the verdict is not the exit code's."""

    verdict: CheckVerdict
    exit_code: int | None = None
    seconds: float | None = None
    reason: Reason | None = None
    detail: str = ""
    lines: tuple[Line, ...] = ()
    output: bytes = b""
    app_log: bytes = b""


async def examine(bench: Bench, stack: Stack, program: str, repeat: int, limit: float) -> Examined:
    """Run a check once; `program` is its path in the checks' layer, `limit` in seconds."""
    app: App | None = None
    try:
        async with _surroundings(bench, stack) as (app, services, checker):
            harness = Harness(app=app, services=services)
            wanted = HARNESS_PORT if bench.machine.walled else 0
            listening = await app.sandbox.listen(wanted)
            port = listening.getsockname()[1]
            await harness.serve(listening)
            try:
                await app.prepare()
                await app.start()
                told = {
                    "APP_URL": f"http://127.0.0.1:{app.port}",
                    "HARNESS_URL": f"http://127.0.0.1:{port}",
                    "HARNESS_TOKEN": harness.token,
                }
                database = services.urls().get("postgres")
                if database is not None:
                    told["DATABASE_URL"] = database
                examined = await _run(bench, checker, program, repeat, limit, harness, told)
                services.check()
            finally:
                await harness.close()
            return examined
    except AppNotStarted as error:
        return Examined(
            verdict=CheckVerdict.FAIL,
            reason=Reason.APP_NOT_STARTED,
            detail=str(error),
            app_log=app.printed() if app else b"",
        )
    except ServiceDied as error:
        return Examined(verdict=CheckVerdict.ERROR, reason=Reason.SERVICE_DIED, detail=str(error))
    except SandboxError as error:
        return Examined(verdict=CheckVerdict.ERROR, reason=Reason.CHECK_ERROR, detail=str(error))


async def _run(
    bench: Bench,
    checker: Sandbox,
    program: str,
    repeat: int,
    limit: float,
    harness: Harness,
    told: Mapping[str, str],
) -> Examined:
    home, pack = _home(bench), _pack(bench)
    seen = bench.machine.seen
    app = harness.app
    env = {
        "PATH": bench.machine.path,
        "HOME": seen(home),
        "TMPDIR": seen(home),
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        **told,
        "CHECK_REPEAT": str(repeat),
        "CHECK_REPORT": f"{seen(home)}/{REPORT}",
    }
    began = time.monotonic()
    ended, log = await checker.run(
        Command(
            argv=(f"{seen(pack)}/{program}",),
            env=env,
            cwd=seen(pack),
            uid=CHECK_UID,
            gid=CHECK_UID,
        ),
        limit,
    )
    took = time.monotonic() - began
    await checker.kill_all()
    verdict, reason = verdict_of(_code(ended))
    detail = ""
    if ended is None:
        detail = f"no end within {limit:.0f} s"
    elif harness.fault is not None:
        verdict, reason = CheckVerdict.ERROR, Reason.SERVICE_DIED
        detail = str(harness.fault)
    elif reason is not None:
        end = f"exit {ended.code}" if ended.signal is None else f"signal {ended.signal}"
        detail = f"{end}: {log.text(1000)}"
    return Examined(
        verdict=verdict,
        exit_code=ended.code if ended else None,
        seconds=took,
        reason=reason,
        detail=detail,
        lines=read_report(home.source / REPORT),
        output=log.content(),
        app_log=app.printed(),
    )


def _code(ended: Exit | None) -> int | None:
    """The exit code as a shell tells it, a signal being 128 and its number; None for no end."""
    if ended is None:
        return None
    return ended.code if ended.code is not None else 128 + (ended.signal or 0)


@asynccontextmanager
async def _surroundings(bench: Bench, stack: Stack) -> AsyncIterator[tuple[App, Services, Sandbox]]:
    """A fresh workspace with its services, an app that is not started, and the check's sandbox."""
    machine = bench.machine
    remove_tree(bench.root)
    folders = Folders(root=bench.root / "app", machine=machine)
    home = _home(bench)
    folders.make()
    for path in (home.source, bench.root / "app-root", bench.root / "check-root"):
        path.mkdir(mode=0o700)
    owner = machine.owner(CHECK_UID)
    if owner is not None:
        os.chown(home.source, *owner)
    if not machine.walled:
        bench.root.chmod(0o711)
        pack = _pack(bench).source
        pack.mkdir(mode=0o700)
        copy_into(bench.checks, pack, owner)
        if owner is not None:
            os.chown(pack, *owner)
    await asyncio.to_thread(
        restore, bench.archive, folders.workspace.source, machine.owner(folders.uid)
    )
    async with AsyncExitStack() as closing:
        sandbox = await Sandbox.start(
            SandboxSpec(
                isolation=machine.isolation,
                name="app",
                view=machine.view(folders.shares),
                place=bench.root / "app-root",
            )
        )
        closing.push_async_callback(sandbox.close)
        services = Services(
            folder=bench.root / "services",
            machine=machine,
            beside=sandbox,
            templates=bench.templates,
        )
        closing.push_async_callback(services.close)
        checking = asyncio.create_task(
            Sandbox.start(
                SandboxSpec(
                    isolation=machine.isolation,
                    name="check",
                    view=machine.view((_pack(bench), home)),
                    place=bench.root / "check-root",
                    join=sandbox if machine.walled else None,
                )
            )
        )
        closing.push_async_callback(_close_started, checking)
        await services.start(stack.services, bench.scripts)
        checker = await checking
        port = APP_PORT if machine.walled else await free_port(sandbox)
        yield (
            App(
                sandbox=sandbox,
                folders=folders,
                stack=stack,
                env={**stack.env, **services.env()},
                clock=Clock(folders),
                port=port,
            ),
            services,
            checker,
        )
    await asyncio.to_thread(remove_tree, bench.root)


async def _close_started(starting: asyncio.Task[Sandbox]) -> None:
    """Close a sandbox that may still be on its way."""
    with suppress(SandboxError):
        await (await starting).close()


def _home(bench: Bench) -> Share:
    return Share(bench.root / "check-home", "/home/check", writable=True)


def _pack(bench: Bench) -> Share:
    """The checks: without walls a copy of their own, that only the check's user may read."""
    walled = bench.machine.walled
    return Share(bench.checks if walled else bench.root / "pack", "/pack")
