"""The folder store's promise through kill -9, between processes, and on a full disk."""

import os
import subprocess
import sys
import time
from pathlib import Path

from agentbench.store.folder import PRIVATE, FolderStore

ROOT = Path(__file__).parents[2]
ENV = {**os.environ, "PYTHONPATH": f"{ROOT / 'operator'}:{ROOT / 'analysis'}"}

WRITE_FOR_EVER = """
import sys
from pathlib import Path
from agentbench.store.folder import FolderStore
store = FolderStore(Path(sys.argv[1]))
n = 0
while True:
    store.create_only(f"rows/{n}", str(n).encode() * 50_000)
    store.compare_and_swap("latest", str(n).encode() * 50_000,
                           (e := store.read("latest")) and e.etag)
    n += 1
"""

RACE = """
import sys
from pathlib import Path
from agentbench.store.folder import FolderStore
from agentbench.store.port import Conflict
store = FolderStore(Path(sys.argv[1]))
sys.stdin.readline()
for n in range(60):
    try:
        print(n, store.create_only(f"rows/{n}", sys.argv[2].encode() * 1000), flush=True)
    except Conflict:
        print(n, "conflict", flush=True)
"""

COUNT = """
import sys
from pathlib import Path
from agentbench.store.folder import FolderStore
from agentbench.store.port import Changed
store = FolderStore(Path(sys.argv[1]))
for _ in range(50):
    while True:
        entry = store.read("counter")
        value = int(entry.content) if entry else 0
        try:
            store.compare_and_swap("counter", str(value + 1).encode(), entry and entry.etag)
            break
        except Changed:
            pass
"""

FILL = """
import sys
from pathlib import Path
from agentbench.store.folder import FolderStore
from agentbench.store.port import StoreFull
store = FolderStore(Path(sys.argv[1]))
store.create_only("before", b"kept")
big = Path(sys.argv[2])
for act in (lambda: store.create_only("big", big.read_bytes()), lambda: store.put_file("big", big)):
    try:
        act()
    except StoreFull as error:
        assert "free some space" in str(error)
    else:
        raise SystemExit("stored more than there is room for")
    assert list(store.list("")) == ["before"], list(store.list(""))
assert store.get("before") == b"kept"
store.create_only("after", b"room again")
"""


def test_a_writer_killed_at_any_instant_leaves_whole_content_or_none(tmp_path: Path) -> None:
    for step in range(6):
        folder = tmp_path / str(step)
        writer = subprocess.Popen([sys.executable, "-c", WRITE_FOR_EVER, str(folder)], env=ENV)
        try:
            latest = folder / "latest"
            while not latest.exists():
                assert writer.poll() is None
                time.sleep(0.005)
            time.sleep(0.007 * step)
        finally:
            writer.kill()
            writer.wait()
        store = FolderStore(folder)
        for key in store.list("rows/"):
            assert store.get(key) == key.removeprefix("rows/").encode() * 50_000
        latest_content = store.get("latest")
        assert latest_content == latest_content[: len(latest_content) // 50_000] * 50_000
        store.compare_and_swap("latest", b"a dead process holds no lock", _etag(store))


def _etag(store: FolderStore) -> str | None:
    entry = store.read("latest")
    return entry.etag if entry else None


def test_of_two_processes_that_create_one_key_exactly_one_wins(tmp_path: Path) -> None:
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACE, str(tmp_path), name],
            env=ENV,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("left", "right")
    ]
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    left, right = (racer.communicate()[0].split("\n") for racer in racers)
    for n in range(60):
        assert {left[n], right[n]} == {f"{n} created", f"{n} conflict"}


def test_no_swap_is_lost_between_processes(tmp_path: Path) -> None:
    counters = [
        subprocess.Popen([sys.executable, "-c", COUNT, str(tmp_path)], env=ENV) for _ in range(2)
    ]
    assert [counter.wait() for counter in counters] == [0, 0]
    assert FolderStore(tmp_path).get("counter") == b"100"


def test_a_full_disk_is_named_and_leaves_nothing_half_written(tmp_path: Path) -> None:
    big = tmp_path / "big"
    big.write_bytes(os.urandom(1 << 20))
    place = tmp_path / "small"
    place.mkdir()
    script = 'mount -t tmpfs -o size=256k none "$1" && exec "$2" -c "$3" "$1" "$4"'
    subprocess.run(
        [
            *["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"],
            script,
            "sh",
            *[str(place), sys.executable, FILL, str(big)],
        ],
        env=ENV,
        check=True,
    )


def test_a_crash_leaves_no_unfinished_files_behind(tmp_path: Path) -> None:
    writer = subprocess.Popen([sys.executable, "-c", WRITE_FOR_EVER, str(tmp_path)], env=ENV)
    while not (tmp_path / "rows" / "3").exists():
        assert writer.poll() is None
        time.sleep(0.005)
    writer.kill()
    writer.wait()
    FolderStore(tmp_path)
    left = {path.name for path in (tmp_path / PRIVATE).iterdir()}
    assert left <= {"swap.lock"}, "an unfinished swap stays at most until the store is opened"
