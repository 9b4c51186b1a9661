"""Which version of everything a cluster was made of."""

from __future__ import annotations

from collections.abc import Iterable

from tests.cluster.lab.packages import RUNTIME, UNPACKED
from tests.cluster.lab.shell import run
from tests.cluster.lab.tools import Tool

_MODULES = {
    "kubernetes": "k8s.io/kubernetes",
    "coredns": "github.com/coredns/coredns",
    "gvisor": "gvisor.dev/gvisor",
}


def of_tools(tools: Iterable[Tool]) -> dict[str, str]:
    """The version of each module that programs are built from, by the module's short name."""
    found: dict[str, str] = {}
    for tool in tools:
        pinned: dict[str, str] = {}
        for line in (tool.folder / tool.modfile).read_text().splitlines():
            words = line.removeprefix("require").split("//")[0].split()
            if len(words) == 2 and words[1].startswith("v"):
                pinned[words[0]] = words[1]
        module = _MODULES.get(tool.module)
        # A package belongs to the module with the longest path that begins its own.
        owners = [name for name in pinned if tool.package.startswith(name)]
        name = module or max(owners, key=len, default="")
        if name in pinned:
            found[tool.module] = pinned[name]
    return found


def of_packages() -> dict[str, str]:
    """The version of each Debian package that the cluster uses, as far as dpkg knows it."""
    names = sorted(set(RUNTIME.values()))
    listed = run("dpkg-query", "-W", "-f", "${Package} ${Version}\\n", *names, check=False)
    found = dict(line.split() for line in listed.splitlines() if len(line.split()) == 2)
    for package in UNPACKED:
        policy = run("apt-cache", "policy", package, check=False).splitlines()
        found[package] = next((row.split()[1] for row in policy if "Candidate:" in row), "unknown")
    return found
