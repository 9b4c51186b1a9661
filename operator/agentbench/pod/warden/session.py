"""One run of an agent, from its first prompt to its stop: started, answered, stopped at a cap."""

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from agentbench.agents.port import Adapter, EventReader, Invocation, Launch
from agentbench.core.summary import Cap, Ending
from agentbench.pod.process import AgentProcess, Exit, ProcessError
from agentbench.pod.warden.bounds import LineSplitter
from agentbench.pod.warden.hooks import HookServer
from agentbench.pod.warden.meter import Meter
from agentbench.pod.warden.trace import Trace

ENDS_THE_RUN = (Cap.WALL, Cap.COST, Cap.TOOL_CALLS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How long the agent gets, in seconds of a monotonic clock."""

    wall: float  # from the first prompt
    farewell: float = 5.0  # to end by itself when cost or tool calls are used up
    interrupt: float = 5.0  # from SIGINT to the end of every process


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """How a run went. Seconds are from the first prompt to the agent's stop."""

    ending: Ending
    exit: Exit = field(default_factory=Exit)
    caps: tuple[Cap, ...] = ()  # those that the session itself saw: wall and interventions
    interventions: int = 0
    invocations: int = 0
    seconds: float | None = None
    session: str | None = None
    reported: dict[str, int | str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    lost: str | None = None  # why the sandbox, not the agent, ended the run


class Session:
    """Runs one agent inside its caps."""

    def __init__(
        self,
        *,
        adapter: Adapter,
        launch: Launch,
        process: AgentProcess,
        meter: Meter,
        hooks: HookServer,
        trace: Trace,
        reply: str,
        interventions: int,
        pace: Pace,
        clock: Callable[[], float],
    ) -> None:
        self._adapter = adapter
        self._launch = launch
        self._process = process
        self._meter = meter
        self._hooks = hooks
        self._trace = trace
        self._reply = reply
        self._allowed_interventions = interventions
        self._pace = pace
        self._clock = clock
        self._stop = asyncio.Event()
        self._at_once = False
        self._began = 0.0
        self._course = Course(ending=Ending.NOT_STARTED)
        meter.on_cap = self._cap
        meter.on_unpriced = self._unpriced

    def stop(self, reason: str) -> None:
        """End the run from outside: the agent is stopped at once, the record is written."""
        self._at_once = True
        self._note(f"ended from outside: {reason}")
        self._over(reason)

    async def run(self) -> Course:
        """Run the agent to its end; nothing of it lives afterwards."""
        invocation = self._adapter.start(self._launch)
        self._trace.prompt(self._launch.prompt)
        self._began = self._clock()
        try:
            await self._turns(invocation)
        except ProcessError as error:
            self._note(f"the sandbox failed: {error}")
            self._course = replace(self._course, ending=Ending.CRASHED, lost=str(error))
        finally:
            if self._course.invocations:
                self._course = replace(self._course, seconds=self._clock() - self._began)
            self._over("the run is over")
            with contextlib.suppress(ProcessError):
                await self._process.kill()
        return self._course

    async def _turns(self, invocation: Invocation) -> None:
        while not self._stop.is_set():
            reader = self._adapter.reader()
            try:
                await self._process.start(invocation)
            except ProcessError as error:
                self._note(f"the agent was not started: {error}")
                return
            self._course = replace(self._course, invocations=self._course.invocations + 1)
            ended = await self._one(reader)
            ending = reader.ending(ended.code, ended.signal)
            if self._stop.is_set():
                ending = Ending.STOPPED
            self._course = replace(
                self._course,
                ending=ending,
                exit=ended,
                session=reader.session or self._course.session,
                reported=dict(reader.reported()) or self._course.reported,
            )
            self._trace.warden("exit", code=ended.code, signal=ended.signal, ending=ending.value)
            if not self._adapter.question(reader.last_message, ending):
                return
            self._intervene()
            invocation = self._adapter.resume(self._launch, self._course.session, self._reply)

    def _intervene(self) -> None:
        count = self._course.interventions + 1
        self._course = replace(self._course, interventions=count)
        self._trace.reply(self._reply, count)
        if count == self._allowed_interventions + 1:
            self._course = replace(self._course, caps=(*self._course.caps, Cap.INTERVENTIONS))
            self._trace.warden("cap", cap=Cap.INTERVENTIONS.value)

    async def _one(self, reader: EventReader) -> Exit:
        """One process of the agent, to its end."""
        pumps = [
            asyncio.create_task(self._read_output(reader)),
            asyncio.create_task(self._read_errors()),
        ]
        exited = asyncio.create_task(self._process.wait())
        stopped = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait(
                (exited, stopped), timeout=self._left(), return_when=asyncio.FIRST_COMPLETED
            )
            if not exited.done():
                await self._end(exited)
            return await exited
        finally:
            stopped.cancel()
            exited.cancel()
            await asyncio.gather(*pumps, stopped, exited, return_exceptions=True)

    async def _end(self, exited: "asyncio.Task[Exit]") -> None:
        """Stop a process that is still there: it may say farewell, but not go on."""
        if not self._stop.is_set():
            self._wall()
        elif not self._at_once:
            await asyncio.wait((exited,), timeout=min(self._pace.farewell, self._left()))
        if not exited.done():
            self._trace.warden("interrupt")
            await self._process.interrupt()
            await asyncio.wait((exited,), timeout=self._pace.interrupt)
        if not exited.done():
            self._trace.warden("kill")
        await self._process.kill()

    async def _read_output(self, reader: EventReader) -> None:
        splitter = LineSplitter()
        async for chunk in self._process.output():
            for line in splitter.feed(chunk):
                self._trace.line(line, tuple(reader.feed(line)))
        for line in splitter.finish():
            self._trace.line(line, tuple(reader.feed(line)))
        if held_back := tuple(reader.feed(b"")):
            self._trace.line(b"", held_back)

    async def _read_errors(self) -> None:
        splitter = LineSplitter(limit=64 * 1024)
        async for chunk in self._process.errors():
            for line in splitter.feed(chunk):
                self._trace.stderr(line)
        for line in splitter.finish():
            self._trace.stderr(line)

    def _left(self) -> float:
        return max(0.0, self._pace.wall - (self._clock() - self._began))

    def _wall(self) -> None:
        self._course = replace(self._course, caps=(*self._course.caps, Cap.WALL))
        self._trace.warden("cap", cap=Cap.WALL.value)
        self._over("wall time cap reached")

    def _cap(self, cap: Cap) -> None:
        self._trace.warden("cap", cap=cap.value)
        self._over(f"{cap.value} cap reached")

    def _unpriced(self, model: str) -> None:
        self._at_once = True
        self._note(f"no price for model {model}")
        self._over(f"no price for model {model}")

    def _note(self, text: str) -> None:
        self._trace.warden("note", text=text)
        self._course = replace(self._course, notes=(*self._course.notes, text))

    def _over(self, reason: str) -> None:
        """From here on no model call and no tool call is let through."""
        self._meter.close(reason)
        self._hooks.end(reason)
        self._stop.set()
