"""A user's way to a cluster: every way in which it fails says what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.fakes.cluster_objects import CAMPAIGNS, a_campaign
from tests.fakes.command import Said
from tests.fakes.kube_server import KubeServer, a_kubeconfig, kube_server, refusal
from tests.fakes.ports import free_port

from agentbench.cli.main import run


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[KubeServer, Path]]:
    with kube_server(tmp_path) as running:
        yield running


@pytest.fixture
def said_by(capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """The command line, run in this process."""

    def say(*words: object) -> Said:
        code = run([str(word) for word in words])
        printed = capsys.readouterr()
        return Said(code, printed.out, printed.err)

    return say


@pytest.fixture
def asked(said_by: Callable[..., Said]) -> Callable[..., Said]:
    return lambda config, *words: said_by(*words, "--cluster", "--kubeconfig", config)


def test_without_a_kubeconfig_it_says_how_to_name_one(
    tmp_path: Path, said_by: Callable[..., Said], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    said = said_by("list", "--cluster")
    assert said.code == 2
    assert f"there is no kubeconfig at {tmp_path / 'none'}: name one with --kubeconfig" in said.err


def test_a_wrong_context_is_told_the_nearest(tmp_path: Path, asked: Callable[..., Said]) -> None:
    config = a_kubeconfig(tmp_path, "http://127.0.0.1:1")
    said = asked(config, "list", "--context", "lap")
    assert said.code == 2
    assert "has no context 'lap'; did you mean lab?" in said.err


def test_a_file_that_is_no_kubeconfig_is_named(tmp_path: Path, asked: Callable[..., Said]) -> None:
    (tmp_path / "config").write_text("[")
    said = asked(tmp_path / "config", "list")
    assert said.code == 2
    assert f"kubeconfig {tmp_path / 'config'} cannot be used" in said.err


def test_an_api_server_that_is_away_is_no_fault_of_the_user(
    tmp_path: Path, asked: Callable[..., Said]
) -> None:
    config = a_kubeconfig(tmp_path, f"http://127.0.0.1:{free_port()}")
    said = asked(config, "list")
    assert said.code == 3
    assert "does not answer" in said.err
    assert "is context 'lab' the right one?" in said.err


def test_a_cluster_without_agent_bench_is_told_how_to_install_it(
    server: tuple[KubeServer, Path], asked: Callable[..., Said]
) -> None:
    said = asked(server[1], "list")
    assert said.code == 2
    assert "the cluster has no agent-bench" in said.err
    assert "Install the chart: docs/kubernetes.md" in said.err


def test_who_may_not_is_told_which_right_is_missing(
    server: tuple[KubeServer, Path], asked: Callable[..., Said]
) -> None:
    message = 'benchmarkcampaigns is forbidden: User "me" cannot list resource'
    server[0].on("GET", CAMPAIGNS, refusal(403, "Forbidden", message))
    said = asked(server[1], "list")
    assert said.code == 3
    assert message in said.err
    assert "Ask for this right" in said.err


def test_whom_the_cluster_does_not_know_should_log_in(
    server: tuple[KubeServer, Path], asked: Callable[..., Said]
) -> None:
    server[0].on("GET", CAMPAIGNS, refusal(401, "Unauthorized", "Unauthorized"))
    said = asked(server[1], "list")
    assert said.code == 3
    assert "the cluster does not know you" in said.err


def test_a_misspelt_campaign_is_told_its_nearest(
    server: tuple[KubeServer, Path], asked: Callable[..., Said]
) -> None:
    server[0].items(CAMPAIGNS, [a_campaign()])
    for name in ("tini", "Tini"):
        server[0].on("GET", f"{CAMPAIGNS}/{name}", refusal(404, "NotFound", "not found"))
    said = asked(server[1], "suspend", "tini")
    assert said.code == 2
    assert "there is no campaign 'tini' in namespace bench: did you mean tiny?" in said.err


def test_options_of_a_cluster_need_a_cluster(tmp_path: Path, said_by: Callable[..., Said]) -> None:
    said = said_by("list", "-n", "bench")
    assert said.code == 2
    assert "--namespace is about a cluster: say --cluster, too." in said.err
    said = said_by("list", "--cluster", "--outcome", "fail")
    assert said.code == 2
    assert "--outcome is about this machine" in said.err


def test_campaigns_are_listed_with_what_keeps_them(
    server: tuple[KubeServer, Path], asked: Callable[..., Said]
) -> None:
    trouble = "there is no Secret 'store'"
    server[0].items(CAMPAIGNS, [a_campaign("Stalled", stalled=trouble, done=1, passed=1)])
    said = asked(server[1], "list")
    assert said.code == 0
    assert "tiny" in said.out
    assert "1/2" in said.out
    assert "$0.50 of 20" in said.out
    assert f"SecretMissing: {trouble}" in said.out
    (found,) = asked(server[1], "list", "--json").json
    assert found["counts"]["passed"] == 1
    assert found["conditions"][0]["reason"] == "SecretMissing"


def test_no_campaigns_are_a_no(server: tuple[KubeServer, Path], asked: Callable[..., Said]) -> None:
    server[0].items(CAMPAIGNS, [])
    said = asked(server[1], "list")
    assert said.code == 1
    assert "No campaigns in namespace bench." in said.err
