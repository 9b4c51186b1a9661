"""The warden's program: reads its configuration, runs one agent, writes the record.

    python -m agentbench.pod.warden < configuration

Exit codes: 0 the record is written; 2 the configuration is not usable; 1 the sandbox failed (then
the record goes as far as the run did) or anything else. The last line on standard output is the
summary as JSON.
"""

import asyncio
import contextlib
import ctypes
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from agentbench.agents.port import Adapter
from agentbench.agents.registry import adapter_of
from agentbench.agents.settings import SettingsError
from agentbench.core.pricing import PriceListError
from agentbench.core.summary import Summary
from agentbench.pod.process import ProcessError, Sandbox
from agentbench.pod.warden.atif import TrajectoryHead
from agentbench.pod.warden.config import ConfigError, WardenConfig, read_config
from agentbench.pod.warden.hooks import HookServer
from agentbench.pod.warden.ledger import Ledger
from agentbench.pod.warden.meter import Meter
from agentbench.pod.warden.publish import Published, publish
from agentbench.pod.warden.record import measures_of, not_started, summary_of
from agentbench.pod.warden.session import Course, Pace, Session
from agentbench.pod.warden.stamps import Stamps
from agentbench.pod.warden.telemetry import TelemetryMissing
from agentbench.pod.warden.trace import Trace
from agentbench.pod.warden.wiring import (
    launch_of,
    listen,
    meter_of,
    process_of,
    proxy_of,
    redactor_of,
    telemetry_of,
)

LEDGER_FILE = "usage.jsonl"
SUMMARY_FILE = "summary.json"
DRAIN = 30.0  # seconds that calls get to end when the agent is gone, so that they are counted
PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4


async def run(config: WardenConfig, engine_gone: asyncio.Event) -> tuple[Summary, bool]:
    """Run the agent and write its record; the summary, and whether the sandbox held.

    Raises:
        SettingsError, PriceListError, TelemetryMissing: the configuration names what there is not.
        ProcessError: the sandbox cannot be reached.
    """
    output = Path(config.output)
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="warden-", dir=output) as private:
        summary, held = await _run(config, engine_gone, output, Path(private))
    text = summary.model_dump_json()
    draft = output / f".{SUMMARY_FILE}"
    draft.write_text(text + "\n")
    draft.replace(output / SUMMARY_FILE)
    return summary, held


async def _run(
    config: WardenConfig, engine_gone: asyncio.Event, output: Path, private: Path
) -> tuple[Summary, bool]:
    adapter = adapter_of(config.agent.adapter)
    ledger = Ledger(private / LEDGER_FILE)
    telemetry = telemetry_of(config)
    meter = meter_of(config, adapter, ledger, telemetry)
    stamps = Stamps()
    trace = Trace(private, stamps)
    if telemetry is not None:
        trace.tool_ended = telemetry.tool_finished
    hooks = HookServer(meter, trace.tool)
    proxy = proxy_of(config, meter)
    process = process_of(config)
    try:
        sandbox = await process.connect()
        await listen(config, proxy, hooks)
        session = Session(
            adapter=adapter,
            launch=launch_of(config, sandbox),
            process=process,
            meter=meter,
            hooks=hooks,
            trace=trace,
            reply=config.reply,
            interventions=config.caps.interventions,
            pace=Pace(wall=config.caps.wall_seconds),
            clock=stamps.seconds,
        )
        watch = asyncio.create_task(_stop_when(engine_gone, session))
        try:
            course = await session.run()
        finally:
            watch.cancel()
    finally:
        await proxy.stop(drain=DRAIN)
        await hooks.stop()
        await process.close()
        ledger.close()
        if telemetry is not None:
            await asyncio.to_thread(telemetry.close)
    summary = _record(config, adapter, sandbox, course, meter, trace, output, private)
    return summary, course.lost is None


def _record(
    config: WardenConfig,
    adapter: Adapter,
    sandbox: Sandbox,
    course: Course,
    meter: Meter,
    trace: Trace,
    output: Path,
    private: Path,
) -> Summary:
    redactor = redactor_of(config)
    measures = measures_of(course, meter, trace.repair, adapter.tool_count, sandbox)
    head = TrajectoryHead(
        run=config.run,
        attempt=config.attempt,
        session=course.session,
        agent=config.agent.name,
        version=config.agent.version,
        model=(meter.models or (config.agent.model or None,))[0],
        metrics=measures,
        extra={"adapter": adapter.kind, "interventions": course.interventions},
    )
    files: dict[str, Published] = trace.finish(head, output, redactor)
    files[LEDGER_FILE] = publish(private / LEDGER_FILE, output / LEDGER_FILE, redactor)
    if config.originals is not None:
        _keep_originals(private, Path(config.originals), files)
    return summary_of(config, course, meter, measures, files, trace.problem)


def _keep_originals(private: Path, folder: Path, files: dict[str, Published]) -> None:
    """Keep, for the harness's eyes alone, what redaction changed or withheld."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for name, published in files.items():
        source = private / name.removesuffix(".zst")
        if (published.redacted or published.file.withheld) and source.exists():
            target = folder / source.name
            shutil.copyfile(source, target)
            target.chmod(0o600)


async def _stop_when(engine_gone: asyncio.Event, session: Session) -> None:
    await engine_gone.wait()
    session.stop("the engine is gone or asked for it")


async def _watch_stdin(engine_gone: asyncio.Event) -> None:
    """Standard input ends when the engine does."""
    loop = asyncio.get_running_loop()
    fd = sys.stdin.fileno()
    os.set_blocking(fd, False)
    ended: asyncio.Future[None] = loop.create_future()

    def read() -> None:
        try:
            if os.read(fd, 4096):
                return
        except BlockingIOError:
            return
        loop.remove_reader(fd)
        ended.set_result(None)

    loop.add_reader(fd, read)
    try:
        await ended
    finally:
        loop.remove_reader(fd)
    engine_gone.set()


async def _main(config: WardenConfig) -> tuple[Summary, bool]:
    engine_gone = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, engine_gone.set)
    # Ctrl-C in a terminal reaches the engine, which decides what becomes of its runs.
    loop.add_signal_handler(signal.SIGINT, lambda: None)
    watch = asyncio.create_task(_watch_stdin(engine_gone))
    try:
        return await run(config, engine_gone)
    finally:
        watch.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watch


def main() -> int:
    """Run the warden; gives its exit code."""
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    # Where the agent has our user, it could otherwise read the model key out of our memory.
    libc.prctl(PR_SET_DUMPABLE, 0)
    line = bytearray()
    while not line.endswith(b"\n") and (part := os.read(sys.stdin.fileno(), 1 << 16)):
        line += part
    try:
        config = read_config(bytes(line))
        summary, held = asyncio.run(_main(config))
    except (ConfigError, SettingsError, PriceListError, TelemetryMissing) as error:
        print(f"warden: {error}", file=sys.stderr)
        return 2
    except ProcessError as error:
        print(f"warden: {error}", file=sys.stderr)
        print(not_started(config, str(error)).model_dump_json())
        return 1
    print(summary.model_dump_json())
    return 0 if held else 1
