"""Builds the project's images with buildah: `python -m images.build NAME --output ARCHIVE`.

The same inputs give the same image, down to its digest: times are fixed and nothing is fetched
while it is built. `--base` takes any image with Python 3.11, or an archive of one
(`oci-archive:PATH`).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from images import lock

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "images"
EXTRAS: Mapping[str, Sequence[str]] = {"operator": ("operator",), "pod": (), "gateway": ()}
"""Images with the project in them: which of its extras."""
PACKAGES: Mapping[str, Sequence[str]] = {"quickstart": ("starlette", "uvicorn")}
"""Images without it: which packages of the lock they have."""
# What a small image does without: the analysis is the operator's alone.
LEFT_OUT: Mapping[str, frozenset[str]] = {
    name: frozenset({"numpy", "scipy"}) for name in ("pod", "gateway")
}
LAUNCHER = "#!/usr/bin/env python3\nfrom agentbench.cli.main import main\n\nmain()\n"


def run(*words: object, cwd: Path = ROOT, env: Mapping[str, str] | None = None) -> str:
    """Run a command and return what it printed.

    Raises:
        SystemExit: it failed; the text has its words.
    """
    argv = [str(word) for word in words]
    settings = {**os.environ, **(env or {})}
    done = subprocess.run(argv, cwd=cwd, env=settings, text=True, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(f"`{' '.join(argv)}` failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def names() -> list[str]:
    """The images that there are."""
    return sorted(path.parent.name for path in HERE.glob("*/Containerfile"))


_PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
_PLACE = ("--no-compile", "--no-deps", "--target")


def project(target: Path, name: str, scratch: Path) -> None:
    """Install the project and what an image of it needs into a folder, by the lock's hashes."""
    needed = lock.closure("agent-bench", EXTRAS[name]) - LEFT_OUT.get(name, frozenset())
    packages(target, needed, scratch)
    # The wheel's own time stamps would make every build another image.
    epoch = {"SOURCE_DATE_EPOCH": "315532800"}
    run(*_PIP, "wheel", "--no-deps", "--no-build-isolation", "-w", scratch, ROOT, env=epoch)
    (wheel,) = scratch.glob("agent_bench-*.whl")
    run(*_PIP, "install", *_PLACE, target, "--upgrade", wheel)
    _finish(target)


def packages(target: Path, names: Iterable[str], scratch: Path) -> None:
    """Install packages of the lock into a folder, by their hashes."""
    wanted = scratch / "requirements.txt"
    wanted.write_text(lock.part((ROOT / "requirements/dev.txt").read_text(), names))
    platform = ("--only-binary", ":all:", "--python-version", "3.11")
    run(*_PIP, "install", *_PLACE, target, *platform, "--require-hashes", "-r", wanted)
    _finish(target)


def _finish(target: Path) -> None:
    """Drop what differs from builder to builder, and compile: containers start often.

    Bytecode goes by the hash of its source, never by its time, and names no folder of the builder.
    One process compiles it all: what two would write depends on which of them did which file.
    A builder with another Python than 3.11 leaves bytecode that the image's Python passes over.
    """
    shutil.rmtree(target / "bin", ignore_errors=True)
    for name in ("direct_url.json", "RECORD"):
        for record in target.glob(f"*.dist-info/{name}"):
            record.unlink()
    by_hash = ("--invalidation-mode", "unchecked-hash")
    run(sys.executable, "-m", "compileall", "-q", *by_hash, "-s", target, "-p", "/opt", target)


def build(name: str, base: str | None, output: Path, scratch: Path) -> str:
    """Build an image into an OCI archive, and return its digest.

    Raises:
        SystemExit: there is no such image, no buildah, or the build failed.
    """
    if name not in names():
        raise SystemExit(f"there is no image {name!r}; there are: {', '.join(names())}")
    if shutil.which("buildah") is None:
        raise SystemExit("buildah is missing; Debian: apt-get install buildah")
    context = scratch / "context"
    shutil.copytree(HERE / name, context)
    if name in EXTRAS:
        project(context / "site", name, scratch)
        launcher = context / "agent-bench"
        launcher.write_text(LAUNCHER)
        launcher.chmod(0o755)
    if name in PACKAGES:
        needed = {need for each in PACKAGES[name] for need in (each, *lock.closure(each, ()))}
        packages(context / "site", needed, scratch)
    _even(context)
    buildah = (
        "buildah", "--root", scratch / "storage", "--runroot", scratch / "run",
        "--storage-driver", "overlay",
    )  # fmt: skip
    argument = ("--build-arg", f"BASE={base}") if base else ()
    env = {"TMPDIR": str(scratch)}
    policy = scratch / "policy.json"
    policy.write_text('{"default": [{"type": "insecureAcceptAnything"}]}')
    trust = ("--signature-policy", policy)
    run(
        *buildah, "build-using-dockerfile", *trust, "--isolation", "chroot", "--format", "oci",
        "--timestamp", 0, *argument, "-t", f"localhost/{name}", context, env=env,
    )  # fmt: skip
    digest = scratch / "digest"
    output.parent.mkdir(parents=True, exist_ok=True)
    output.unlink(missing_ok=True)
    run(
        *buildah, "push", *trust, "--digestfile", digest, f"localhost/{name}",
        f"oci-archive:{output.resolve()}", env=env,
    )  # fmt: skip
    return digest.read_text().strip()


def _even(folder: Path) -> None:
    """Give all files modes that do not depend on the builder's umask."""
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=names())
    parser.add_argument("--base", help="image with Python 3.11 (default: the Containerfile's)")
    parser.add_argument("--output", type=Path, required=True, help="OCI archive to write")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    words = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="agent-bench-image-") as scratch:
        digest = build(words.name, words.base, words.output, Path(scratch))
    result = {"image": words.name, "digest": digest, "archive": str(words.output)}
    print(json.dumps(result) if words.json else f"{words.output}: {digest}")


if __name__ == "__main__":
    main()
