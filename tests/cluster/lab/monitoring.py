"""The Prometheus operator's own definitions, out of its Go module: what judges a ServiceMonitor."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.cluster.lab import toolchain
from tests.cluster.lab.build import CACHE, alone
from tests.cluster.lab.shell import run
from tests.cluster.lab.tools import GO

KINDS = ("podmonitors", "prometheusrules", "servicemonitors")
_MODULE = "github.com/prometheus-operator/prometheus-operator"
_PLACE = "example/prometheus-operator-crd/monitoring.coreos.com_{}.yaml"


def definitions() -> Path:
    """The folder of their CustomResourceDefinitions, of the version that `go.mod` pins.

    Raises:
        ClusterError: there is no Go, or the module cannot be had.
    """
    folder = GO / "monitoring"
    version = (folder / "go.mod").read_text().split(f"{_MODULE} ")[1].split()[0]
    target = CACHE / "definitions" / f"monitoring-{version}"
    with alone(target):
        if not target.exists():
            go = toolchain.find(CACHE, (1, 21))
            env = {"GOFLAGS": "", "GOWORK": "off"}
            told = run(go, "mod", "download", "-json", _MODULE, cwd=folder, env=env)
            part = target.with_suffix(".part")
            part.mkdir(parents=True, exist_ok=True)
            for kind in KINDS:
                source = Path(json.loads(told)["Dir"]) / _PLACE.format(kind)
                shutil.copyfile(source, part / f"{kind}.yaml")
            part.rename(target)
    return target
