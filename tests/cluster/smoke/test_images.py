"""The project's images, built without a registry and pinned by digest."""

from __future__ import annotations

import io
import json
import tarfile

import pytest
from tests.cluster.faults import objects
from tests.cluster.faults.registry import Mode, Registry
from tests.cluster.lab import images, kube, product
from tests.cluster.lab.api import Object
from tests.cluster.lab.handle import Cluster
from tests.cluster.lab.oci import Archive


def test_the_operators_image_runs_by_its_digest_and_has_its_libraries(
    real_cluster: Cluster, namespace: str, product_images: dict[str, str]
) -> None:
    pinned = product_images["operator"]
    assert "@sha256:" in pinned
    look = "import boto3, kopf, kubernetes, agentbench, os; print(os.getuid())"
    assert real_cluster.answer(namespace, "look", ["python3", "-c", look], pinned) == "65532\n"


def test_the_pods_image_has_none_of_the_operators_libraries(
    real_cluster: Cluster, namespace: str, product_images: dict[str, str]
) -> None:
    look = (
        "import importlib.util as u, os\n"
        "print([n for n in ('agentbench', 'kopf', 'kubernetes', 'boto3') if u.find_spec(n)],"
        " os.getuid())"
    )
    command = ["python3", "-c", look]
    said = real_cluster.answer(namespace, "look", command, product_images["pod"])
    assert said.strip() == "['agentbench'] 2000"


def test_the_same_sources_give_the_same_digest(
    real_cluster: Cluster, product_images: dict[str, str]
) -> None:
    first = product.image(real_cluster.slot, "pod")
    first.path.unlink()
    again = product.image(real_cluster.slot, "pod")
    assert again.pinned == product_images["pod"]


@pytest.mark.parametrize("name", product.names())
def test_nothing_is_fetched_while_an_image_is_built_on_a_base_that_has_everything(
    real_cluster: Cluster, product_images: dict[str, str], name: str
) -> None:
    _, *added = layers(product.image(real_cluster.slot, name))
    files = [file for layer in added for file in layer]
    assert any(file.startswith("opt/agent-bench/") for file in files)
    assert [file for file in files if "/apt/" in file] == []


def layers(archive: Archive) -> list[list[str]]:
    """The names of the files of each layer of an image, the base's first."""
    manifest = json.loads(archive.blob(archive.digest) or b"")
    names = []
    for each in manifest["layers"]:
        with tarfile.open(fileobj=io.BytesIO(archive.blob(each["digest"]) or b"")) as layer:
            names.append(layer.getnames())
    return names


MODES: tuple[Mode, ...] = ("missing", "throttled", "broken")


@pytest.mark.parametrize("mode", MODES)
def test_a_pull_fails_until_the_registry_heals(
    real_cluster: Cluster, namespace: str, faulty_registry: Registry, mode: Mode
) -> None:
    programs = kube.linked_programs(real_cluster.slot)
    busybox = images.all_images(programs, real_cluster.slot.folder / "tmp")[1]
    # A repository that no node has an image of, in this run or an earlier one.
    reference = faulty_registry.offer(busybox, namespace)
    faulty_registry.answer(mode)
    real_cluster.run(namespace, "pulls", ["true"], reference)
    real_cluster.wait_event(namespace, "pulls", "Failed")

    def waits(pod: Object) -> bool:
        states = [one["state"] for one in pod["status"].get("containerStatuses", ())]
        reasons = [state.get("waiting", {}).get("reason") for state in states]
        return reasons in (["ErrImagePull"], ["ImagePullBackOff"])

    objects.when(real_cluster.api, objects.pods_path(namespace), "pulls", waits)
    assert faulty_registry.pulls()
    faulty_registry.answer("ok")
    real_cluster.wait_phase(namespace, "pulls", "Succeeded")
