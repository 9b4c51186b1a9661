"""The chart, an operator as a pod or as a process, and campaigns for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.cluster.lab.api import Object
from tests.cluster.lab.handle import Cluster
from tests.cluster.operator.applying import apply_pack, create_secret, freeze_pack
from tests.cluster.operator.campaign import Campaign
from tests.cluster.operator.installed import IMAGES_KEPT, KEPT, Chart, images_of_release
from tests.cluster.operator.process import OperatorProcess
from tests.fakes.local_pack import TinyPack

from agentbench.store.s3 import S3Store


@pytest.fixture(scope="session")
def chart(real_cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[Chart]:
    """The chart, installed by Helm with the images of this checkout; its operator does not run."""
    if KEPT and IMAGES_KEPT:
        yield Chart(real_cluster, images_of_release(real_cluster))
        return
    installed = Chart(real_cluster, request.getfixturevalue("product_images"))
    if KEPT:
        yield installed
        return
    installed.install()
    yield installed
    installed.remove()


@pytest.fixture(scope="module")
def operator(chart: Chart) -> Iterator[Chart]:
    """The operator as a pod, while the tests of a module run."""
    if KEPT:
        pytest.skip("CLUSTER_CHART=kept: the release that is there is not to be touched")
    chart.scale(1)
    yield chart
    chart.scale(0)


@pytest.fixture
def operating(chart: Chart, namespace: str, tmp_path: Path) -> Iterator[OperatorProcess]:
    """The operator as a process that sees this test's namespace alone."""
    process = OperatorProcess(chart, namespace, tmp_path / "operator")
    process.start()
    yield process
    process.kill()
    if chart.cluster.kubectl("-n", namespace, "get", "benchmarkcampaigns", "-o", "name").strip():
        process.start()  # deleting a campaign is the operator's work
        chart.cluster.kubectl(
            "-n", namespace, "delete", "benchmarkcampaigns", "--all", "--timeout=120s"
        )
        process.kill()  # nothing is left to do in order, and that would take seconds


@pytest.fixture
def frozen(
    chart: Chart, namespace: str, bucket: str, tmp_path: Path
) -> Callable[..., tuple[Object, S3Store]]:
    """What freezes a tiny pack into the store, and gives its manifest."""
    create_secret(chart.cluster, namespace)

    def make(
        pack: TinyPack | None = None, name: str = "tiny", **spec: Any
    ) -> tuple[Object, S3Store]:
        chosen = pack or TinyPack(folder=tmp_path / name)
        return freeze_pack(chart, namespace, bucket, chosen, name, **spec)

    return make


@pytest.fixture
def apply(chart: Chart, namespace: str, bucket: str, tmp_path: Path) -> Callable[..., Campaign]:
    """What freezes a tiny pack into the store and applies its campaign."""
    create_secret(chart.cluster, namespace)

    def start(pack: TinyPack | None = None, name: str = "tiny", **spec: Any) -> Campaign:
        chosen = pack or TinyPack(folder=tmp_path / name)
        return apply_pack(chart, namespace, bucket, chosen, name, **spec)

    return start
