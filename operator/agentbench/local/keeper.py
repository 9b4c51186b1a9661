"""The keeper: the process that carries one attempt, and that outlives its engine.

It lives in a session of its own and is no child of the engine's, so killing the engine, or all that
descends from it, leaves the agent undisturbed; the next engine finds the keeper by its lock. If no
engine comes, caps and time-outs bring it to its end all the same.
"""

import asyncio
import errno
import fcntl
import json
import os
import signal
import struct
import sys
import traceback
from pathlib import Path

from agentbench.local.attempt import Attempt
from agentbench.local.job import AttemptFolder, read_job
from agentbench.local.warden_process import WardenProcess

LOCK_TAKEN = 75
_FLOCK = "hhqqi"
_FULL = {errno.ENOSPC, errno.EDQUOT}


def keep(root: Path, key: str) -> int:
    """Carry the attempt in a folder to its row; gives the exit code.

    The process must have no threads: the warden is forked from it.
    """
    folder = AttemptFolder(root)
    warden = WardenProcess.fork(folder.root / "warden.log")
    try:
        lock = os.open(folder.lock, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            # Not flock: this kind is not inherited by what we fork, and tells its owner's pid.
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return LOCK_TAKEN
        if folder.row.exists():
            return 0
        attempt = Attempt(folder, read_job(folder), key, warden)
        asyncio.run(_carry_out(attempt))
    except OSError as error:
        if error.errno not in _FULL:
            raise
        _tell_fault(folder, f"no space is left on the disk of {root}: {error}")
        return 1
    finally:
        warden.end()
    return 0


def holder(folder: AttemptFolder) -> int | None:
    """The pid of the keeper that carries an attempt now, or None."""
    try:
        lock = os.open(folder.lock, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        asked = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind, _, _, _, pid = struct.unpack(_FLOCK, fcntl.fcntl(lock, fcntl.F_GETLK, asked))
    finally:
        os.close(lock)
    return None if kind == fcntl.F_UNLCK else int(pid)


async def _carry_out(attempt: Attempt) -> None:
    task = asyncio.ensure_future(attempt.carry_out())
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, task.cancel)
    for ignored in (signal.SIGINT, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    try:
        await task
    except asyncio.CancelledError:
        # Told to stop before the first step: the attempt could not see to its own row.
        attempt.abort()


def _tell_fault(folder: AttemptFolder, message: str) -> None:
    try:
        folder.fault.write_text(json.dumps({"error": message}))
    except OSError:
        # There may be no room even for this: the engine then looks at the disk itself.
        print(message, file=sys.stderr)


def become_keeper(root: Path, key: str) -> None:
    """Turn a freshly forked process into a keeper; never returns."""
    code = 1
    try:
        quiet = os.open(os.devnull, os.O_RDONLY)
        flags = os.O_CREAT | os.O_APPEND | os.O_WRONLY
        log = os.open(AttemptFolder(root).log, flags, 0o600)
        for number, descriptor in enumerate((quiet, log, log)):
            os.dup2(descriptor, number)
        os.closerange(3, 1024)
        os.umask(0o022)
        os.chdir("/")
        code = keep(root, key)
        sys.stderr.flush()
    except BaseException:
        # The last stop before the process's end: nobody above could tell of it.
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)
