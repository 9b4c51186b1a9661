"""Packs in folders: the scaffold that `agent-bench init` writes, whole or with one fault."""

import re
from pathlib import Path

from agentbench.cli.scaffolding import scaffold
from agentbench.pack.freeze import Frozen, freeze
from agentbench.pack.load import GATES_FILE, load_pack
from agentbench.pack.prepare import prepare
from agentbench.pack.records import GateResult, Gates, encode

AT = "2026-10-14T08:00:00Z"


def a_pack(folder: Path, name: str = "bench") -> Path:
    """A valid pack; its folder."""
    scaffold(folder / name, seed=7)
    return folder / name


def edit(pack: Path, old: str, new: str) -> None:
    """Replace a text of campaign.yaml that is there once."""
    campaign = pack / "campaign.yaml"
    text = campaign.read_text()
    assert len(re.findall(re.escape(old), text)) == 1, old
    campaign.write_text(text.replace(old, new))


def line_of(pack: Path, text: str) -> int:
    """The line of campaign.yaml that holds a text."""
    lines = (pack / "campaign.yaml").read_text().splitlines()
    return 1 + next(n for n, line in enumerate(lines) if text in line)


def with_gates(pack: Path, *, ok: bool = True) -> None:
    """Write evidence for exactly the files of a pack, as the gate command does."""
    result = GateResult(
        task="T01", stack="S1", subject="reference", expected="pass", found="pass", ok=ok
    )
    gates = Gates(digest=prepare(load_pack(pack)).digest, at=AT, results=(result,))
    (pack / "locks").mkdir(exist_ok=True)
    (pack / GATES_FILE).write_bytes(encode(gates))


def frozen(pack: Path) -> Frozen:
    """Freeze a pack with evidence."""
    with_gates(pack)
    return freeze(load_pack(pack), now=AT, commit="abcdef1")


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its bytes: what "nothing was written" is measured by."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }
