"""The warden as a sidecar: claims the attempt, runs the session, uploads the record.

    python -m agentbench.pod.sidecar TOLD

Before anything is started it creates the mark of the attempt's start in the store. A mark that is
there already means that an agent was started for this attempt before: then none is started. When
it is told to stop, the agent is gone and the final state is packed; everything is uploaded, the
summary last, and the summary is also the termination message.
"""

import asyncio
import json
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from agentbench.agents.port import Invocation
from agentbench.core.record import nothing_spent
from agentbench.core.summary import Ending, Measure, StoredFile, Summary
from agentbench.pod import capture
from agentbench.pod.mock_provider import MockProvider, read_script
from agentbench.pod.refused import Refused
from agentbench.pod.termination import message
from agentbench.pod.told import SetUp, SidecarTold, Upload
from agentbench.pod.transfer import Put, Transfer, TransferError
from agentbench.pod.warden.archive import scan_archive
from agentbench.pod.warden.config import WardenConfig
from agentbench.pod.warden.folder import FolderProcess
from agentbench.pod.warden.main import run
from agentbench.pod.warden.publish import publish, stored_file
from agentbench.pod.warden.redact import Redactor
from agentbench_analysis.rows.words import Availability

CONTROL, SNAPSHOT, RECORD = (
    Path("/agentbench/control"),
    Path("/agentbench/snapshot"),
    Path("/agentbench/record"),
)
KEY = Path("/agentbench/key/key")
MESSAGE = Path("/dev/termination-log")
STARTED_BEFORE = "an agent was started for this attempt before: none is started again"
ENDED_BEFORE = "its pod was ended before an agent could be started"
NOTHING_SPENT: Mapping[str, Measure] = {
    name: Measure(value=metric.value, availability=metric.availability, reason=metric.reason)
    for name, metric in nothing_spent().items()
}
CAPTURE_WAIT = 300.0  # seconds for the final state to be packed
UPLOAD_WAIT = 540.0  # seconds from kubelet's TERM until everything must be stored; grace is 600
LISTENING = "listening"


class Sidecar:
    """One attempt, from claim to upload."""

    def __init__(self, told: SidecarTold) -> None:
        self.told = told
        self.transfer = Transfer(told.gateway)
        self.refused = Refused(told.refusals)
        self.stop = asyncio.Event()  # ends the session
        self.term = asyncio.Event()  # kubelet: the agent's container has ended
        self.config = WardenConfig.model_validate(_with_key(told.warden))

    async def run(self) -> Summary:
        """Run the attempt; nothing is started twice."""
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self.term.set)
        (RECORD / LISTENING).touch()
        process = FolderProcess(CONTROL)
        summary = await self._attempt(process)
        interrupted = (CONTROL / "end").exists()
        process.end()
        await self._told_to_stop()
        await self.refused.finish()
        summary = summary.model_copy(
            update={
                "interrupted": "its pod was deleted while it ran"
                if interrupted and summary.ending is Ending.STOPPED and not summary.caps_hit
                else summary.interrupted,
                "denied_egress": self.refused.lines,
                "notes": (*summary.notes, *self.refused.notes),
            }
        )
        return await asyncio.to_thread(self._upload, summary)

    async def _attempt(self, process: FolderProcess) -> Summary:
        """Claim the attempt and run it, once the agent's container is there."""
        if not await self._there(process):
            return self._not_started(ENDED_BEFORE).model_copy(update={"interrupted": ENDED_BEFORE})
        try:
            claimed = await asyncio.to_thread(self._claim)
        except TransferError as error:
            return self._not_started(f"the attempt could not be claimed: {error}")
        if not claimed:  # what the agent that was started before has spent is not known here
            return self._not_started(STARTED_BEFORE, spent={})
        return await self._session(process)

    async def _there(self, process: FolderProcess) -> bool:
        """Wait for the agent's container; whether it came before the pod was ended."""
        ready = asyncio.create_task(process.ready())
        ended = asyncio.create_task(self.term.wait())
        await asyncio.wait((ready, ended), return_when=asyncio.FIRST_COMPLETED)
        came = ready.done()
        for task in (ready, ended):
            task.cancel()
        await asyncio.gather(ready, ended, return_exceptions=True)
        return came

    def _claim(self) -> bool:
        """Whether this is the first start of the attempt."""
        mark = {"run": self.config.run, "attempt": self.config.attempt, "pod": self.told.pod}
        content = json.dumps(mark, sort_keys=True).encode() + b"\n"
        return self.transfer.upload(self.told.claim, content) is Put.CREATED

    async def _session(self, process: FolderProcess) -> Summary:
        began = asyncio.get_running_loop().time()
        failed = None
        for step in self.told.setup:
            failed = failed or await self._set_up(process, step)
        took = asyncio.get_running_loop().time() - began
        if failed is not None:
            return self._not_started(failed).model_copy(update={"set_up_failed": failed})
        (CONTROL / capture.REMEMBER).touch()
        while not (CONTROL / capture.REMEMBERED).exists():
            await asyncio.sleep(capture.TICK)
        ended = asyncio.create_task(self._pod_ends())
        asking = asyncio.create_task(self.refused.watch())
        mock = await self._mock()
        try:
            summary, _ = await run(self.config, self.stop)
        finally:
            for task in (ended, asking):
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
            if mock is not None:
                await mock.stop()
        measure = Measure(value=round(took, 3), availability=Availability.MEASURED)
        return summary.model_copy(update={"metrics": {"setup_seconds": measure, **summary.metrics}})

    async def _mock(self) -> MockProvider | None:
        """Serve the mock provider where the protocol has one in place of a model."""
        told = self.told.mock
        if told is None:
            return None
        mock = MockProvider(read_script(told.script, told.path))
        await mock.start_unix(told.socket)
        return mock

    async def _pod_ends(self) -> None:
        """The shim was told by kubelet to end: the session must not start another process."""
        while not (CONTROL / "end").exists():
            await asyncio.sleep(capture.TICK)
        self.stop.set()

    async def _set_up(self, process: FolderProcess, setup: SetUp) -> str | None:
        """Run one command of the set-up; why it failed, or None."""
        place = self.config.place
        env = {"PATH": place.path, "HOME": place.home, "TMPDIR": place.tmp, **place.env}
        await process.start(
            Invocation(argv=("sh", "-c", setup.run), env={**env, **setup.env}, cwd=place.workspace)
        )
        said: list[bytes] = []
        try:
            async with asyncio.timeout(setup.timeout):
                async for chunk in process.errors():
                    said = [*said[-3:], chunk]
                ended = await process.wait()
        except TimeoutError:
            await process.kill()
            return f"{setup.name} did not end within {setup.timeout:.0f} s"
        if ended.code == 0:
            return None
        words = b"".join(said)[-1000:].decode("utf-8", "replace").strip()
        return f"{setup.name} ended with {ended.code or ended.signal}: {words}"

    async def _told_to_stop(self) -> None:
        """Wait until the pod ends this sidecar, which is after the capture."""
        await self.term.wait()
        began = asyncio.get_running_loop().time()
        with suppress(TimeoutError):
            async with asyncio.timeout(CAPTURE_WAIT):
                while not (SNAPSHOT / capture.REPORT).exists():
                    await asyncio.sleep(capture.TICK)
        self.transfer.allow(UPLOAD_WAIT - (asyncio.get_running_loop().time() - began))

    def _upload(self, summary: Summary) -> Summary:
        files = dict(summary.files)
        output = Path(self.config.output)
        output.mkdir(parents=True, exist_ok=True)
        notes = list(summary.notes)
        if summary.ending is not Ending.NOT_STARTED:
            notes += self._captured(files, output)
        for name, stored in list(files.items()):
            upload = self.told.uploads.get(name)
            if upload is None or stored.withheld is not None:
                continue
            try:
                self._send(upload, output / name)
            except TransferError as error:
                files[name] = stored.model_copy(update={"withheld": f"not stored: {error}"})
                notes.append(f"{name} was not stored: {error}")
        summary = summary.model_copy(update={"files": files, "notes": tuple(notes)})
        with suppress(TransferError):
            self.transfer.upload(self.told.summary, summary.model_dump_json().encode())
        return summary

    def _send(self, upload: Upload, path: Path) -> None:
        self.transfer.upload(upload, path)

    def _captured(self, files: dict[str, StoredFile], output: Path) -> list[str]:
        """Put the final state and its diff beside the trace, as far as they may be given out."""
        report: dict[str, Any] = {}
        with suppress(FileNotFoundError, ValueError):
            report = json.loads((SNAPSHOT / capture.REPORT).read_text())
        if not report:
            return ["the final state was not captured"]
        notes = [*report["notes"], *([report["error"]] if report["error"] else [])]
        secrets = dict(self.config.secrets)
        archive = SNAPSHOT / capture.ARCHIVE
        if archive.exists():
            found = scan_archive(archive, Redactor(secrets, rules=()))
            stored = stored_file(archive)
            if found:
                stored = stored.model_copy(update={"withheld": f"it holds {', '.join(found)}"})
            else:
                (output / archive.name).unlink(missing_ok=True)
                (output / archive.name).symlink_to(archive)
            files[archive.name] = stored
        published = publish(
            SNAPSHOT / capture.DIFF,
            output / capture.DIFF,
            Redactor(secrets),
            truncated=bool(report["diffTruncated"]),
        )
        files[capture.DIFF] = published.file
        return notes

    def _not_started(self, why: str, spent: Mapping[str, Measure] = NOTHING_SPENT) -> Summary:
        return Summary(
            run=self.config.run,
            attempt=self.config.attempt,
            ending=Ending.NOT_STARTED,
            metrics=dict(spent),
            notes=(why,),
        )


def _with_key(warden: Mapping[str, Any]) -> dict[str, Any]:
    """The warden's configuration with the model key, which only this container mounts."""
    config = json.loads(json.dumps(warden))
    if KEY.exists():
        key = KEY.read_text().strip()
        for api in ("anthropic", "openai"):
            if config["upstreams"].get(api):
                config["upstreams"][api]["key"] = key
        config.setdefault("secrets", {})["model-key"] = key
    return dict(config)


def main(argv: list[str]) -> int:
    """Run the sidecar; gives its exit code."""
    told = SidecarTold.model_validate_json(Path(argv[0]).read_bytes())
    summary = asyncio.run(Sidecar(told).run())
    if MESSAGE.exists():
        MESSAGE.write_text(message(summary))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
