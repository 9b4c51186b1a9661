"""Helm without a cluster: what the chart renders to, and what it says of wrong values."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import yaml
from tests.cluster.conftest import MODE, unavailable
from tests.cluster.lab import build, tools
from tests.cluster.lab.shell import ClusterError, CommandError, run
from tests.cluster.operator.installed import CHART, SYSTEM

Object = dict[str, Any]
Render = Callable[..., list[Object]]

DIGEST = "sha256:" + "0" * 64
IMAGES = tuple(
    word
    for place in ("image", "podImage", "gateway.image")
    for word in (
        *("--set", f"{place}.repository=registry.test/{place}"),
        *("--set", f"{place}.digest={DIGEST}"),
    )
)


def switches(values: Object, place: str = "") -> Iterator[str]:
    """Everything that is off and may be switched on."""
    for name, value in values.items():
        where = f"{place}.{name}".removeprefix(".")
        if isinstance(value, dict):
            yield from switches(value, where)
        elif name == "enabled" and value is False:
            yield where


SWITCHES = tuple(switches(yaml.safe_load((CHART / "values.yaml").read_text())))
EVERYTHING = (
    *(word for name in SWITCHES for word in ("--set", f"{name}=true")),
    *("--set", "gateway.egressCIDRs={10.0.0.0/8}"),
    *("--set", "networkPolicy.operatorEgressCIDRs={10.0.0.0/8}"),
    *("--set", "imagePullSecrets[0].name=registry"),
)
"""Values by which every object of the chart is rendered."""


@pytest.fixture(scope="session")
def helm(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Run helm with these words; no cluster is asked."""
    if MODE == "off":
        pytest.skip("no helm: CLUSTER=off")
    home = tmp_path_factory.mktemp("helm")
    (tool,) = (each for each in tools.BASE if each.name == "helm")
    try:
        program = build.build_all([tool], home, print)["helm"]
    except ClusterError as error:
        unavailable(str(error))
    env = {f"HELM_{kind}_HOME": str(home / kind.lower()) for kind in ("CACHE", "CONFIG", "DATA")}
    env |= {"KUBECONFIG": os.devnull}
    return lambda *words: run(program, *words, env=env, timeout=60)


@pytest.fixture(scope="session")
def render(helm: Callable[..., str]) -> Render:
    """The objects that the chart renders to, with images that are well said."""

    def objects(
        *words: str, images: tuple[str, ...] = IMAGES, namespace: str = SYSTEM
    ) -> list[Object]:
        told = ("--namespace", namespace, "--kube-version", "v1.34.0", *images, *words)
        text = helm("template", "agent-bench", CHART, *told)
        return [body for body in yaml.safe_load_all(text) if body]

    return objects


@pytest.fixture(scope="session")
def refusal(render: Render) -> Callable[..., str]:
    """What helm says of values that it must refuse."""

    def said(*words: str, images: tuple[str, ...] = IMAGES) -> str:
        with pytest.raises(CommandError) as caught:
            render(*words, images=images)
        return caught.value.output

    return said


def of_kind(objects: list[Object], kind: str, end: str = "") -> list[Object]:
    """The objects of a kind whose name ends so."""
    return [
        body for body in objects if body["kind"] == kind and body["metadata"]["name"].endswith(end)
    ]
