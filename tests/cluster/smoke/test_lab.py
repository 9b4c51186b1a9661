"""The program that makes clusters: slots, builds by content, refusals with their cure."""

from __future__ import annotations

import ipaddress
import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from images import lock
from tests.cluster.faults import sigv4
from tests.cluster.lab import (
    build,
    cgroups,
    oci,
    packages,
    preflight,
    slot,
    toolchain,
    tools,
    versions,
)
from tests.cluster.lab.oci import Archive
from tests.cluster.lab.shell import ClusterError, CommandError, run, wait
from tests.cluster.lab.tools import Tool

linux_root = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="needs root on Linux"
)


@pytest.fixture
def slots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for slots that no real cluster uses."""
    monkeypatch.setattr(slot, "ROOT", tmp_path)
    monkeypatch.setattr(slot, "_routes", lambda: [])
    return tmp_path


@pytest.mark.usefixtures("slots")
def test_each_checkout_gets_a_slot_of_its_own_and_keeps_it() -> None:
    first, second = slot.claim(Path("/one")), slot.claim(Path("/two"))
    assert first != second
    assert slot.claim(Path("/one")) == first
    assert slot.mine(Path("/two")) == second
    assert not {first.prefix, first.net} & {second.prefix, second.net}


@pytest.mark.usefixtures("slots")
def test_a_slot_whose_network_the_machine_uses_is_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    used = ipaddress.ip_network(slot.Slot(0).cidr)
    monkeypatch.setattr(slot, "_routes", lambda: [used])
    assert slot.claim(Path("/one")).number == 1


@pytest.mark.usefixtures("slots")
def test_when_all_slots_are_taken_the_refusal_names_their_holders(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(slot, "SLOTS", range(1))
    slot.claim(Path("/one"))
    with pytest.raises(ClusterError, match=r"(?s)/one.*make cluster-down"):
        slot.claim(Path("/two"))


def test_all_addresses_of_a_slot_are_different_and_in_its_network() -> None:
    one = slot.Slot(3)
    addresses = [
        one.control_ip, one.store_ip, one.registry_ip, one.s3_proxy_ip, one.api_proxy_ip,
        one.simulator_ip, one.host_ip, one.gate_ip, one.dns_ip, one.api_service_ip,
        *(node.ip for node in one.nodes),
    ]  # fmt: skip
    whole = ipaddress.ip_network(one.cidr)
    assert len(set(addresses)) == len(addresses)
    assert all(ipaddress.ip_address(address) in whole for address in addresses)


def test_an_unknown_node_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ClusterError, match=r"node-x.*node-a, node-b, node-c"):
        slot.Slot(0).node("node-x")


def test_the_key_of_a_build_changes_with_its_module_and_nothing_else(tmp_path: Path) -> None:
    go = shutil.which("go") or next(p for p in toolchain.USUAL if Path(p).exists())
    pause = tools.BASE[0]
    assert build.key(pause, go) == build.key(pause, go)
    modfile = tmp_path / "go.mod"
    modfile.write_text(pause.folder.joinpath("go.mod").read_text() + "// changed\n")
    assert build.key(Tool("pause", "pause", modfile=str(modfile)), go) != build.key(pause, go)


def test_every_tool_has_a_module_with_sums_and_a_version() -> None:
    wanted = (*tools.wanted(), *tools.GVISOR, *tools.SEAWEEDFS)
    for tool in wanted:
        assert (tool.folder / tool.modfile).is_file()
    found = versions.of_tools(wanted)
    assert set(found) >= {tool.module for tool in wanted} - {"pause"}


@pytest.mark.parametrize(
    ("variable", "value", "cure"),
    [
        ("CLUSTER_KUBERNETES", "1.12", "1.34, 1.36"),
        ("CLUSTER_GVISOR", "maybe", "on or off"),
        ("CLUSTER_SEAWEEDFS", "1", "on or off"),
    ],
)
def test_a_setting_that_means_nothing_is_refused_with_what_does(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, cure: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ClusterError, match=f"{variable}={value}.*{cure}"):
        tools.wanted()


def test_someone_who_is_not_root_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    (lack,) = preflight.lacks(tmp_path, tmp_path)
    assert "needs root" in lack
    assert "sudo" in lack


def test_another_system_than_linux_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    (lack,) = preflight.lacks(tmp_path, tmp_path)
    assert "needs Linux" in lack


@linux_root
def test_a_machine_without_cgroups_is_told_how_to_get_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cgroups, "MOUNT", tmp_path / "none")
    assert any("--cgroupns=host" in lack for lack in preflight.lacks(tmp_path, tmp_path))


@linux_root
def test_a_folder_on_which_overlayfs_does_not_work_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*words: object) -> str:
        if "overlay" in " ".join(map(str, words)):
            raise CommandError([], 32, "wrong fs type")
        return run(*words)

    monkeypatch.setattr(preflight, "run", refuse)
    assert any("modprobe overlay" in lack for lack in preflight.lacks(tmp_path, tmp_path))


@linux_root
def test_a_full_disk_is_told_with_the_variable_that_moves_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preflight, "DISK_GIB", 1 << 30)
    assert any("CLUSTER_ROOT" in lack for lack in preflight.lacks(tmp_path, tmp_path))


def test_missing_packages_are_named_where_they_cannot_be_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(ClusterError, match=r"no-such-package"):
        packages.ensure({"/no/such/program": "no-such-package"})


def test_an_oci_archive_is_the_same_bytes_each_time_and_gives_its_blobs(tmp_path: Path) -> None:
    def make(name: str) -> Archive:
        root = oci.layer(tmp_path / "layer.tar", {"bin/x": b"x", "etc/y": b"y"}, {"bin/z": "x"})
        return oci.write(Archive(tmp_path / name, "agentbench.test/x:1"), root, {"Cmd": ["x"]})

    one, two = make("one.tar"), make("two.tar")
    assert one.path.read_bytes() == two.path.read_bytes()
    assert one.pinned == f"agentbench.test/x@{one.digest}"
    assert one.blob(one.digest)
    assert one.blob("sha256:" + "0" * 64) is None
    assert oci.rename(one.path, Archive(tmp_path / "three.tar", "other/x:2")).digest == one.digest


def test_a_wait_in_vain_says_for_what_and_where_to_look() -> None:
    with pytest.raises(ClusterError, match="in vain for godot; see the log"):
        wait("godot", lambda: False, seconds=0, hint="see the log")


def test_a_signature_is_the_one_of_the_published_example() -> None:
    # "Example: GET Object" in the Amazon S3 API reference on header signatures; the range header
    # of the example is left out there and here alike by signing host and x-amz-* alone.
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    keys = ("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
    headers = {"host": "examplebucket.s3.amazonaws.com", "x-amz-content-sha256": empty}
    now = datetime(2013, 5, 24, tzinfo=UTC)
    found = sigv4.signed("GET", "/", [("max-keys", "2"), ("prefix", "J")], headers, keys, now)
    published = "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
    assert found["authorization"].endswith(f"Signature={published}")


def test_the_lock_of_the_pods_image_leaves_out_the_operators_libraries() -> None:
    small, large = lock.closure("agent-bench", ()), lock.closure("agent-bench", ["operator"])
    assert {"kopf", "kubernetes", "boto3"} <= large - small
    assert "pydantic" in small
    whole = Path(slot.SOURCE / "requirements/dev.txt").read_text()
    assert lock.part(whole, ["pydantic"]).count("--hash=") > 1
    assert lock.part(whole, ["numpy"]).count("numpy==") > 1, "one for each range of Pythons"
    with pytest.raises(ValueError, match="no-such-thing"):
        lock.part(whole, ["no-such-thing"])


@pytest.mark.parametrize(
    ("value", "outcome", "said"),
    [("off", "skipped", "CLUSTER=off"), ("maybe", "error", "auto, required or off")],
)
def test_the_variable_cluster_decides_over_the_tests(value: str, outcome: str, said: str) -> None:
    test = "tests/cluster/smoke/test_nodes.py::test_every_node_allots_the_same_fixed_resources"
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test]
    done = subprocess.run(
        words, cwd=slot.SOURCE, env={**os.environ, "CLUSTER": value}, text=True,
        capture_output=True, check=False, timeout=120,
    )  # fmt: skip
    assert f"1 {outcome}" in done.stdout
    assert said in done.stdout


@pytest.mark.parametrize(("value", "outcome"), [("auto", "skipped"), ("required", "error")])
def test_a_machine_that_cannot_hold_a_cluster_skips_or_fails_as_asked(
    tmp_path: Path, value: str, outcome: str
) -> None:
    test = "tests/cluster/smoke/test_nodes.py::test_every_node_allots_the_same_fixed_resources"
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test]
    # Nodes cannot see what lies below /run: a refusal that every machine gives.
    env = {**os.environ, "CLUSTER": value, "CLUSTER_ROOT": "/run/nowhere"}
    done = subprocess.run(
        words, cwd=slot.SOURCE, env=env, text=True, capture_output=True, check=False, timeout=120
    )
    assert f"1 {outcome}" in done.stdout
    assert "nodes cannot see" in done.stdout or "needs root" in done.stdout
