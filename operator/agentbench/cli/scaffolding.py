"""Making a pack from the templates that the package ships."""

import re
import shutil
import tempfile
from pathlib import Path

from agentbench.api.campaign import CAMPAIGN_NAME
from agentbench.pack.load import CAMPAIGN_FILE
from agentbench.pack.problems import PackInvalid, Problem

TEMPLATES = Path(__file__).parent / "scaffold"


def scaffold(
    folder: Path, *, name: str | None = None, protocol: str | None = None, seed: int
) -> list[str]:
    """Make a pack; the names of its files.

    Raises:
        PackInvalid: the folder is in use, or a name cannot be one. Nothing was written.
    """
    name = name or re.sub(r"[^a-z0-9]+", "-", folder.resolve().name.lower()).strip("-")
    protocol = protocol or f"{name.upper()}-1"[:40]
    problems = _problems(folder, name, protocol)
    if problems:
        raise PackInvalid(problems)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".agent-bench-init-") as scratch:
        draft = Path(scratch) / "pack"
        shutil.copytree(TEMPLATES, draft, ignore=shutil.ignore_patterns("__pycache__"))
        campaign = draft / CAMPAIGN_FILE
        text = campaign.read_text("utf-8").format(name=name, protocol=protocol, seed=seed)
        campaign.write_text(text, "utf-8")
        for check in (draft / "checks").iterdir():
            check.chmod(0o755)
        (draft / ".gitignore").write_text(".agent-bench/\n__pycache__/\n", "utf-8")
        draft.replace(folder)
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def _problems(folder: Path, name: str, protocol: str) -> list[Problem]:
    found = []
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
        found.append(
            Problem(file=str(folder), message="is there already", cure="Name a new folder.")
        )
    if not CAMPAIGN_NAME.fullmatch(name):
        found.append(
            Problem(
                file=str(folder),
                field="--name",
                value=repr(name),
                message="is no campaign name",
                cure="Use at most 63 lower-case letters, digits and dashes.",
            )
        )
    if not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,38}[A-Za-z0-9])?", protocol):
        found.append(
            Problem(
                file=str(folder),
                field="--protocol",
                value=repr(protocol),
                message="is no protocol id",
                cure="Use at most 40 letters, digits, dots, dashes and underscores.",
            )
        )
    return found
