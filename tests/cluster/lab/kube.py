"""Talking to the cluster the way its users do: kubectl and helm."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from tests.cluster.lab.shell import run
from tests.cluster.lab.slot import Slot

Programs = Mapping[str, Path]


def kubeconfig(slot: Slot) -> Path:
    """The administrator's kubeconfig."""
    return slot.folder / "admin.kubeconfig"


def kubectl(
    slot: Slot, *words: object, text: str | None = None, check: bool = True, timeout: float = 120
) -> str:
    """Run kubectl as the cluster's administrator and return what it printed."""
    return run(
        slot.folder / "bin/kubectl",
        f"--kubeconfig={kubeconfig(slot)}",
        *words,
        text=text,
        check=check,
        timeout=timeout,
    )


def helm(slot: Slot, *words: object) -> str:
    """Run helm as the cluster's administrator and return what it printed.

    Its caches are in the cluster's folder: nothing is read from, or left in, the user's home.
    """
    home = str(slot.folder / "helm")
    homes = {f"HELM_{kind}_HOME": f"{home}/{kind.lower()}" for kind in ("CACHE", "CONFIG", "DATA")}
    env = {"KUBECONFIG": str(kubeconfig(slot)), **homes}
    return run(slot.folder / "bin/helm", *words, env=env, timeout=300)


def apply(slot: Slot, *objects: Mapping[str, object]) -> None:
    """Create or update objects."""
    listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
    kubectl(slot, "apply", "-f", "-", text=listed)


def discard(folder: Path) -> None:
    """Remove a folder, but nothing that is mounted in it."""
    run("rm", "-rf", "--one-file-system", folder)


def link_programs(slot: Slot, programs: Programs) -> None:
    """Give the cluster a folder of its programs under their usual names."""
    folder = slot.folder / "bin"
    folder.mkdir(parents=True, exist_ok=True)
    for name, path in programs.items():
        link = folder / name
        link.unlink(missing_ok=True)
        link.symlink_to(path)
    kubectl_script = folder / "kubectl"
    kubectl_script.write_text(f'#!/bin/sh\nexec {programs["hyperkube"]} kubectl "$@"\n')
    kubectl_script.chmod(0o755)


def linked_programs(slot: Slot) -> dict[str, Path]:
    """The programs that a running cluster was started with."""
    links = (entry for entry in (slot.folder / "bin").iterdir() if entry.is_symlink())
    return {link.name: link.resolve() for link in links}
