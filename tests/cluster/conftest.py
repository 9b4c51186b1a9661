"""Fixtures of the tests that need a real Kubernetes, and what a failure shows of it.

CLUSTER says what happens on a machine that cannot hold a cluster: `auto` (the default) skips these
tests with the reason, `required` fails them, `off` never tries.
"""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING

import pytest
from tests.cluster.faults.apiproxy import ApiProxy, api_proxy
from tests.cluster.faults.registry import Registry, registry
from tests.cluster.faults.s3proxy import S3Proxy, s3_proxy
from tests.cluster.lab import build, cluster, preflight, product, slot, stores, tools
from tests.cluster.lab.ahead import Ahead
from tests.cluster.lab.handle import Cluster
from tests.cluster.lab.s3 import s3_client
from tests.cluster.lab.shell import ClusterError, die_with_parent, wait
from tests.cluster.simulated.kubelet import SimulatedNodes, simulated_nodes
from tests.cluster.witness.observe import Witness, witness

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

MODE = os.environ.get("CLUSTER", "auto")
SOAK = os.environ.get("CLUSTER_SOAK", "off") == "on"
_NAMESPACES = itertools.count(1)
_CLUSTER_FIXTURE = "real_cluster"
_AHEAD = pytest.StashKey[Ahead]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs the cluster; a time limit counts the test alone, not a build before it."""
    for item in items:
        if not SOAK and item.get_closest_marker("soak"):
            item.add_marker(pytest.mark.skip(reason="a soak: set CLUSTER_SOAK=on"))
        if _CLUSTER_FIXTURE in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.cluster)
            if item.get_closest_marker("timeout") is None:
                item.add_marker(pytest.mark.timeout(300, func_only=True))
    # Last, so that the cluster's programs are built while all else is tested.
    items.sort(key=lambda item: item.get_closest_marker("cluster") is not None)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Begin to build what the cluster needs, if a test that was chosen needs the cluster."""
    chosen = [item for item in session.items if not item.get_closest_marker("skip")]
    if (
        any(item.get_closest_marker("cluster") for item in chosen)
        and MODE in ("auto", "required")
        and not session.config.option.collectonly
        and not preflight.lacks(slot.ROOT, build.CACHE)
    ):
        session.config.stash[_AHEAD] = Ahead()


def pytest_unconfigure(config: pytest.Config) -> None:
    """End a build that nobody waited for."""
    if _AHEAD in config.stash:
        config.stash[_AHEAD].end()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Add events, pod states and the operator's log to the report of a failed test."""
    report: pytest.TestReport = yield  # type: ignore[assignment]
    arguments = getattr(item, "funcargs", {})
    real = arguments.get(_CLUSTER_FIXTURE)
    if report.failed and isinstance(real, Cluster):
        with suppress(ClusterError, OSError):
            story = real.story(arguments.get("namespace", "default"))
            report.sections.append(("the cluster", story))
    return report  # type: ignore[return-value]


def unavailable(reason: str) -> None:
    """End the test that wanted a cluster as CLUSTER says.

    Raises:
        pytest.fail.Exception: a cluster is required.
        pytest.skip.Exception: it is not.
    """
    if MODE == "required":
        pytest.fail(f"CLUSTER=required, and there is no cluster: {reason}", pytrace=False)
    pytest.skip(f"no cluster: {reason}")


@pytest.fixture(scope="session")
def real_cluster(pytestconfig: pytest.Config) -> Iterator[Cluster]:
    """The cluster of this checkout; one that was not up is taken down after the last test."""
    if MODE not in ("auto", "required", "off"):
        pytest.fail(f"CLUSTER={MODE} means nothing: set it to auto, required or off", pytrace=False)
    if MODE == "off":
        pytest.skip("no cluster: CLUSTER=off")
    lacks = preflight.lacks(slot.ROOT, build.CACHE)
    if lacks:
        unavailable("; ".join(lacks))
    if _AHEAD in pytestconfig.stash:
        pytestconfig.stash[_AHEAD].wait()
    before = slot.mine()
    was_up = before is not None and cluster.is_up(before)
    # A process of its own, so that nothing of a start that was cut short is left in this one.
    command = [sys.executable, "-m", "tests.cluster.lab.cli", "up"]
    started = subprocess.run(
        command, cwd=slot.SOURCE, text=True, capture_output=True, check=False,
        preexec_fn=die_with_parent,
    )  # fmt: skip
    mine = slot.mine()
    if started.returncode or mine is None:
        unavailable(started.stdout[-2000:] + started.stderr[-4000:])
        return
    yield Cluster(mine)
    if not was_up:
        cluster.down(mine)


@pytest.fixture
def namespace(real_cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[str]:
    """A fresh namespace; it and all in it are deleted after the test."""
    words = re.sub(r"[^a-z0-9]+", "-", request.node.name.lower().removeprefix("test_"))
    name = f"{words[:40].strip('-')}-{os.getpid()}-{next(_NAMESPACES)}"
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    real_cluster.api.create("/api/v1/namespaces", body)
    account = f"/api/v1/namespaces/{name}/serviceaccounts?fieldSelector=metadata.name%3Ddefault"
    wait(f"the service account of {name}", lambda: bool(real_cluster.api.get(account)["items"]), 30)
    yield name
    real_cluster.api.delete(f"/api/v1/namespaces/{name}")


@pytest.fixture(scope="session")
def product_images(real_cluster: Cluster) -> dict[str, str]:
    """The project's own images on every node: name to pinned reference."""
    return product.load_all(real_cluster.slot)


@pytest.fixture
def bucket(real_cluster: Cluster) -> str:
    """A fresh bucket in the S3 store."""
    name = f"bucket-{os.getpid()}-{next(_NAMESPACES)}"
    real_cluster.s3().create_bucket(Bucket=name)
    return name


_STORES = {stores.VERSITYGW: stores.versitygw}
if tools.seaweedfs_wanted():
    _STORES[stores.SEAWEEDFS] = stores.seaweedfs


@pytest.fixture(params=sorted(_STORES))
def each_store(real_cluster: Cluster, request: pytest.FixtureRequest) -> stores.Store:
    """Each S3 store in turn; the second one where CLUSTER_SEAWEEDFS=on."""
    store = _STORES[request.param](real_cluster.slot)
    if not store.answers():
        pytest.fail(f"{store.name} does not answer: was the cluster started without it?")
    return store


@pytest.fixture
def s3(each_store: stores.Store) -> S3Client:
    """A client of each S3 store in turn."""
    return s3_client(each_store.endpoint)


@pytest.fixture
def faulty_api(real_cluster: Cluster) -> Iterator[ApiProxy]:
    """The proxy before the API server."""
    with api_proxy(real_cluster.slot) as proxy:
        yield proxy


@pytest.fixture
def faulty_s3(real_cluster: Cluster) -> Iterator[S3Proxy]:
    """The proxy before the S3 store."""
    with s3_proxy(real_cluster.slot) as proxy:
        yield proxy


@pytest.fixture
def faulty_registry(real_cluster: Cluster) -> Iterator[Registry]:
    """The image registry that can be made to fail."""
    with registry(real_cluster.slot) as one:
        yield one


@pytest.fixture
def simulated(real_cluster: Cluster) -> Iterator[SimulatedNodes]:
    """Simulated nodes for scale."""
    with simulated_nodes(real_cluster.slot) as nodes:
        yield nodes


@pytest.fixture
def watching(
    real_cluster: Cluster, namespace: str, bucket: str
) -> Callable[..., AbstractContextManager[Witness]]:
    """What starts an independent witness of the test's namespace and bucket, in a `with`."""

    def start(**rest: object) -> AbstractContextManager[Witness]:
        settings: dict[str, object] = {"store": real_cluster.s3(), "bucket": bucket, **rest}
        return witness(real_cluster.slot, namespace, **settings)

    return start


def pytest_report_header() -> str:
    """Say which cluster the tests would use."""
    return f"cluster: {MODE}, Kubernetes {tools.kubernetes_version()}"
