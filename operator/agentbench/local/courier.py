"""Follows one attempt from outside: starts its keeper or finds it, waits, and stores its row."""

import asyncio
import json
import os
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agentbench.core.keys import row_key
from agentbench.core.record import decode_row
from agentbench.local.job import AttemptFolder, Job, write_durably
from agentbench.local.journal import Journal, Mark
from agentbench.local.keeper import holder
from agentbench.local.nursery import Nursery
from agentbench.pod.trees import remove_tree
from agentbench.store.port import Store
from agentbench_analysis.rows.model import Row

LAUNCHES = 3
ROOM = 16 << 20  # bytes; a disk with less is taken for full
_LOOK = 0.1  # seconds between two looks at a journal

Told = Callable[[str, float], None]


class KeeperFailed(RuntimeError):
    """An attempt came to no row, which is the engine's own fault or a full disk's."""


@dataclass(slots=True, kw_only=True)
class Courier:
    """One attempt's way into the store."""

    folder: AttemptFolder
    job: Job
    key: str
    store: Store
    nursery: Nursery
    keep_work: bool = False
    _stopping: bool = False

    async def deliver(self, told: Told) -> Row:
        """See the attempt through to its row in the store, and return that.

        Raises:
            KeeperFailed: there is no row after several keepers; it says why.
            StoreError: the row or an artifact could not be stored.
        """
        self.folder.root.mkdir(parents=True, exist_ok=True, mode=0o711)
        if not self.folder.job.exists():
            content = json.dumps(self.job.model_dump(mode="json")).encode()
            write_durably(self.folder.job, content)
        for _ in range(LAUNCHES):
            if self.folder.row.exists():
                break
            self.folder.fault.unlink(missing_ok=True)
            pid = holder(self.folder) or await self.nursery.keeper(self.folder.root, self.key)
            await self._follow(pid, told)
            self._raise_fault()
        if not self.folder.row.exists():
            raise KeeperFailed(self._last_words())
        return await asyncio.to_thread(self._store)

    def stop(self) -> None:
        """Have the attempt ended now; its row will say `aborted`."""
        self._stopping = True

    async def _follow(self, pid: int, told: Told) -> None:
        """Wait until a keeper has ended, and pass on what its journal says."""
        began = time.monotonic()
        seen = 0
        try:
            watched = os.pidfd_open(pid)
        except ProcessLookupError:
            return
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        loop.add_reader(watched, ended.set)
        stopped = False
        try:
            while not ended.is_set():
                if self._stopping and not stopped:
                    stopped = True
                    signal.pidfd_send_signal(watched, signal.SIGTERM)
                entries = list(Journal(self.folder.journal).entries())
                for entry in entries[seen:]:
                    text = entry.data.get("text") if entry.mark is Mark.NOTE else entry.mark.value
                    told(str(text), time.monotonic() - began)
                seen = len(entries)
                try:
                    await asyncio.wait_for(ended.wait(), _LOOK)
                except TimeoutError:
                    continue
        finally:
            loop.remove_reader(watched)
            os.close(watched)

    def _store(self) -> Row:
        """Store artifacts first, the row last: a row never names what is not there."""
        content = self.folder.row.read_bytes()
        row = decode_row(content, str(self.folder.row))
        for artifact in row.artifacts.values():
            if artifact.withheld is None:
                path = self.folder.record / Path(artifact.key).name
                self.store.put_file(artifact.key, path)
        self.store.create_only(row_key(row.campaign, row.run, row.attempt), content)
        self.clear()
        return row

    def clear(self) -> None:
        """Remove the attempt's files, once its row is stored."""
        if not self.keep_work:
            # The job first: a folder without one is no attempt that somebody should take up.
            self.folder.job.unlink(missing_ok=True)
            remove_tree(self.folder.root)

    def _raise_fault(self) -> None:
        if not self.folder.row.exists() and self.folder.fault.exists():
            told = json.loads(self.folder.fault.read_bytes())
            raise KeeperFailed(
                f"run {self._name()}: {told['error']}. Free some space and run the same command "
                "again: the campaign goes on where it stopped"
            )

    def _last_words(self) -> str:
        if shutil.disk_usage(self.folder.root).free < ROOM:
            return (
                f"run {self._name()}: no space is left on the disk of {self.folder.root}. Free "
                "some and run the same command again: the campaign goes on where it stopped"
            )
        try:
            log = self.folder.log.read_bytes()[-3000:].decode("utf-8", "replace").strip()
        except FileNotFoundError:
            log = "it left no word"
        return f"run {self._name()}: its keeper ended {LAUNCHES} times without a row: {log}"

    def _name(self) -> str:
        return f"{self.job.run['id']}, attempt {self.job.attempt}"
