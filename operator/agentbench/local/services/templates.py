"""A PostgreSQL data folder made once, of which every fresh server gets a copy."""

import asyncio
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentbench.local.place import Machine, Share
from agentbench.local.sandbox import Command, Sandbox, SandboxSpec
from agentbench.local.services.kinds import USER, ServiceUnavailable, postgres_program
from agentbench.pod.trees import remove_tree

INITDB_TIMEOUT = 120.0
CREATE = (
    # No superuser: the app's own SQL must not be able to end the server.
    f"CREATE ROLE {USER} LOGIN CREATEDB PASSWORD '{USER}'",
    f"CREATE DATABASE {USER} OWNER {USER}",
)


class Templates:
    """Data folders to copy, kept in a folder of the engine's state."""

    def __init__(self, folder: Path, machine: Machine) -> None:
        self.folder = folder
        self.machine = machine

    async def postgres(self) -> Path:
        """The data folder of a PostgreSQL server with an empty database and its owner."""
        program = Path(postgres_program("initdb"))
        version = program.parts[-3] if len(program.parts) > 3 else "x"
        ready = self.folder / f"postgres-{version}"
        if ready.exists():
            return ready
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o711)
        self.folder.chmod(0o711)
        with self._alone():
            if not ready.exists():
                await self._initdb(program, ready)
        return ready

    async def _initdb(self, program: Path, ready: Path) -> None:
        making = self.folder / "making"
        remove_tree(making)
        (making / "data").mkdir(parents=True)
        (making / "place").mkdir()
        making.chmod(0o711)
        owner = self.machine.owner(self.machine.service_uid)
        if owner is not None:
            os.chown(making / "data", *owner)
        share = Share(making / "data", "/services/data", writable=True)
        sandbox = await Sandbox.start(
            SandboxSpec(
                isolation=self.machine.isolation,
                name="initdb",
                view=self.machine.view([share]),
                place=making / "place",
            )
        )
        data = self.machine.seen(share)
        script = (
            f"set -e; '{program}' -D '{data}' -U postgres -A trust -E UTF8 --locale=C.UTF-8 "
            "--no-sync --wal-segsize=1 >/dev/null; cat <<'SQL' | "
            f"'{program.with_name('postgres')}' --single -F -D '{data}' postgres >/dev/null\n"
            + "\n".join(CREATE)
            + "\nSQL\n"
        )
        try:
            ended, log = await sandbox.run(
                Command(
                    argv=("sh", "-c", script),
                    env={"PATH": self.machine.path, "LANG": "C.UTF-8", "HOME": data},
                    cwd="/",
                    uid=self.machine.service_uid,
                    gid=self.machine.service_uid,
                ),
                INITDB_TIMEOUT,
            )
        finally:
            await sandbox.close()
        if ended is None or ended.code != 0:
            raise ServiceUnavailable(f"PostgreSQL's initdb failed: {log.text(2000)}")
        (making / "data").rename(ready)
        remove_tree(making)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        lock = os.open(self.folder / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)


async def copy_data(template: Path, target: Path) -> None:
    """Copy a data folder, with its owner, into an empty one."""
    # One program that clones where the file system can; Python would copy a thousand files singly.
    copying = await asyncio.create_subprocess_exec(
        *("cp", "-a", "--reflink=auto", f"{template}/.", str(target)),
        stderr=asyncio.subprocess.PIPE,
    )
    _, errors = await copying.communicate()
    if copying.returncode != 0:
        raise OSError(errors.decode("utf-8", "replace").strip())
