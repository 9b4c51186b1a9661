"""The edge where the command line learns the time and asks git."""

import subprocess
from datetime import UTC, datetime
from pathlib import Path


def now() -> str:
    """This instant in UTC, to the second, as RFC 3339 writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def git_commit(folder: Path) -> str | None:
    """The commit that a folder's files are at, None outside a repository or without git."""
    return _git(folder, "rev-parse", "HEAD")


def git_changes(folder: Path) -> bool:
    """Whether a folder has changes that its commit does not have."""
    return bool(_git(folder, "status", "--porcelain", "--", "."))


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
