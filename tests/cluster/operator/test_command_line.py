"""The command line on a real cluster: a campaign from its pack to its verdict, typed by a user."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.cluster.lab import stores
from tests.cluster.lab.handle import Cluster
from tests.cluster.lab.shell import wait
from tests.cluster.operator.installed import SYSTEM, Chart
from tests.cluster.operator.process import OperatorProcess
from tests.fakes.cluster_pack import a_cluster_pack
from tests.fakes.command import PROGRAM, Said

from agentbench.cli.main import run
from agentbench.core.digest import digest
from agentbench.core.keys import protocol_key, protocol_prefix
from agentbench.core.registered import encode_registered
from agentbench.pack.load import frozen_pack
from agentbench.store.s3 import connect

RUNS = {"T01-S1-A1-r1", "T01-S1-A2-r1"}
KEYS = {
    "AWS_ACCESS_KEY_ID": stores.ACCESS_KEY,
    "AWS_SECRET_ACCESS_KEY": stores.SECRET_KEY,
}

Typed = Callable[..., Said]
pytestmark = pytest.mark.timeout(600, func_only=True)


@pytest.fixture
def said_by(capsys: pytest.CaptureFixture[str]) -> Typed:
    """A command, run in this process: starting Python for each would take most of the time."""

    def say(*words: object) -> Said:
        code = run([str(word) for word in words])
        printed = capsys.readouterr()
        return Said(code, printed.out, printed.err)

    return say


@pytest.fixture
def typed(real_cluster: Cluster, namespace: str, said_by: Typed) -> Typed:
    """A command about the test's namespace."""
    return lambda *words: said_by(
        *words, "--cluster", "-n", namespace, "--kubeconfig", real_cluster.kubeconfig
    )


@pytest.fixture
def pack(chart: Chart, namespace: str, bucket: str, tmp_path: Path) -> Path:
    """A pack that is frozen for this cluster, and the Secret of its store."""
    cluster = chart.cluster
    cluster.kubectl(
        "-n", namespace, "create", "secret", "generic", "store",
        f"--from-literal=accessKey={stores.ACCESS_KEY}",
        f"--from-literal=secretKey={stores.SECRET_KEY}",
    )  # fmt: skip
    endpoint = stores.versitygw(cluster.slot).endpoint
    return a_cluster_pack(tmp_path, bucket=bucket, endpoint=endpoint, image=chart.images["pod"])


def interrupted(cluster: Cluster, namespace: str, pack: Path) -> tuple[int, list[Any], str]:
    """Run a campaign and press Ctrl-C when its first run has begun."""
    words = [
        "run",
        pack,
        "--json",
        "--cluster",
        "-n",
        namespace,
        "--kubeconfig",
        cluster.kubeconfig,
    ]
    process = subprocess.Popen(
        [PROGRAM, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    events = []
    for line in process.stdout:
        events.append(json.loads(line))
        if events[-1]["event"] == "RunStarted":
            process.send_signal(signal.SIGINT)
            break
    _, remarks = process.communicate(timeout=30)
    return process.returncode, events, remarks


def test_a_campaign_is_pushed_run_left_alone_watched_again_and_read(
    real_cluster: Cluster, namespace: str, pack: Path, typed: Typed, bucket: str,
    operating: OperatorProcess, tmp_path: Path, said_by: Typed, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    code, events, remarks = interrupted(real_cluster, namespace, pack)
    assert code == 130
    assert events[0]["event"] == "CampaignStarted"
    assert "Pushing the bundle" in remarks
    assert "The campaign goes on in the cluster." in remarks
    assert "agent-bench cancel bench --cluster" in remarks

    said = typed("run", pack, "--json")
    assert said.code == 0, said.err
    assert "Pushing the bundle" not in said.err
    events = [json.loads(line) for line in said.out.splitlines()]
    ended = {each["run"]: each["outcome"] for each in events if each["event"] == "RunEnded"}
    assert set(ended) <= RUNS
    assert events[-1]["phase"] == "Complete"
    assert events[-1]["tally"]["passed"] == events[-1]["tally"]["failed"] == 1

    said = typed("run", pack)  # once more tells its end, and changes nothing
    assert said.code == 0
    assert "2 of 2 done, 1 pass, 1 fail" in said.out

    (listed,) = typed("list", "--json").json
    assert (listed["campaign"], listed["phase"]) == ("bench", "Complete")
    shown = typed("show", "bench", "--json").json
    assert {run["run"]: run["attempts"][0]["outcome"] for run in shown["runs"]} == {
        "T01-S1-A1-r1": "pass", "T01-S1-A2-r1": "fail",
    }  # fmt: skip
    assert all(run["attempts"][0]["node"] for run in shown["runs"])
    run = typed("show", "T01-S1-A2-r1", "--json").json
    assert run["rows"][0]["outcome"] == "fail"
    assert {pod["role"] for pod in run["pods"]} <= {"run", "grader"}
    assert "greets" in typed("logs", "T01-S1-A2-r1", "--part", "checks").out
    assert "Add `GET /greet?name=NAME`" in typed("logs", "T01-S1-A1-r1").out

    said = typed("report", "bench", "--json")
    assert said.code == 0, said.err
    assert json.loads(said.out)["verdict"]["scoredRuns"] == 2
    endpoint = stores.versitygw(real_cluster.slot).endpoint
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    rows = said_by("list", pack, "--store", f"s3://{bucket}/rows", "--endpoint", endpoint, "--json")
    assert {row["run"] for row in rows.json} == RUNS
    register(pack, bucket, endpoint)
    for address in (f"s3://{bucket}/rows/bench", f"s3://{bucket}/rows"):
        said = said_by("report", address, "--endpoint", endpoint, "--json")
        assert said.code == 0, said.err
        assert json.loads(said.out)["verdict"]["scoredRuns"] == 2
    said = said_by("list", f"s3://{bucket}/elsewhere", "--endpoint", endpoint)
    assert said.code == 1
    assert f"s3://{bucket}/elsewhere: there is no campaign" in said.err
    said = typed("site", "bench", "--out", tmp_path / "site")
    assert said.code == 0, said.err
    assert (tmp_path / "site/index.html").exists()
    said = typed("cancel", "bench", "--yes")
    assert said.code == 2
    assert "is Complete: it cannot be cancelled any more" in said.err


def register(pack: Path, bucket: str, endpoint: str) -> None:
    """Put the protocol into the store, if the operator has not."""
    store = connect(
        bucket=bucket, prefix="rows", endpoint=endpoint, access_key=stores.ACCESS_KEY,
        secret_key=stores.SECRET_KEY,
    )  # fmt: skip
    if not list(store.list(protocol_prefix("bench"))):
        spec = frozen_pack(pack).spec
        content = encode_registered("bench", digest(spec), spec)
        store.create_only(protocol_key("bench", 0), content)


def test_a_suspended_campaign_is_resumed_or_cancelled_by_hand(
    namespace: str, pack: Path, typed: Typed, operating: OperatorProcess, real_cluster: Cluster,
) -> None:  # fmt: skip
    operating.kill()  # what a user asks for is written with the operator down, too
    manifest = yaml.safe_load((pack / "frozen/campaign.yaml").read_text())
    manifest["metadata"]["namespace"] = namespace
    manifest["spec"] |= {"suspend": True, "parallelism": 3}
    real_cluster.kubectl("apply", "--server-side", "-f", "-", text=json.dumps(manifest))
    operating.start()
    said = typed("run", pack)
    assert said.code == 130
    assert "spec.parallelism stays as somebody else has set it" in said.err
    assert "agent-bench resume bench" in said.err
    assert typed("suspend", "bench").out == "bench was suspended already.\n"
    said = typed("cancel", "bench")
    assert said.code == 2
    assert "2 runs will never start" in said.err
    assert "say --yes" in said.err
    assert typed("cancel", "bench", "--yes", "--json").json["changed"]
    wait("the end", lambda: typed("list", "--json").json[0]["phase"] == "Cancelled", 60)
    assert typed("run", pack).code == 1
    assert typed("resume", "bench").code == 2


def test_another_freeze_under_the_same_name_is_refused(
    chart: Chart, namespace: str, pack: Path, typed: Typed, bucket: str, tmp_path: Path
) -> None:
    manifest = yaml.safe_load((pack / "frozen/campaign.yaml").read_text())
    manifest["metadata"]["namespace"] = namespace
    manifest["spec"]["suspend"] = True
    chart.cluster.kubectl("apply", "--server-side", "-f", "-", text=json.dumps(manifest))
    other = a_cluster_pack(
        tmp_path / "other", bucket=bucket, endpoint=stores.versitygw(chart.cluster.slot).endpoint,
        image=chart.images["pod"], repeats=2,
    )  # fmt: skip
    said = typed("run", other)
    assert said.code == 2
    assert f"namespace {namespace} has a campaign bench of another protocol" in said.err


def test_a_doctor_probes_policies_images_and_the_way_to_the_store(
    real_cluster: Cluster, namespace: str, pack: Path, typed: Typed
) -> None:
    said = typed("doctor", pack, "--json", "--system-namespace", SYSTEM)
    found = {each["what"]: each for each in said.json["findings"]}
    assert found["NetworkPolicy"]["health"] == "ok", found
    assert "a control reached both" in found["NetworkPolicy"]["found"]
    for what in ("API server", "Node class", "Store", "Store from a pod", "Gateway", "Images"):
        assert found[what]["health"] == "ok", found[what]
    assert "node-a" in found["Node class"]["found"]
    assert found["benchmarkcampaigns.agentbench.dev"]["health"] == "ok"
    assert found["Operator"]["health"] == "fail"  # tests run it as a process of their own
    assert "is scaled to 0" in found["Operator"]["found"]
    assert said.code == 1
    assert left(real_cluster, namespace) == ""


def test_a_doctor_that_is_interrupted_leaves_nothing(
    real_cluster: Cluster, namespace: str, chart: Chart
) -> None:
    words = ["doctor", "--cluster", "-n", namespace, "--kubeconfig", real_cluster.kubeconfig]
    process = subprocess.Popen(
        [PROGRAM, *map(str, words), "--system-namespace", SYSTEM],
        cwd=real_cluster.slot.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    wait("a probe pod", lambda: bool(left(real_cluster, namespace)), 60)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    wait("the end of its pods", lambda: left(real_cluster, namespace) == "", 30)


def left(cluster: Cluster, namespace: str) -> str:
    """Pods and policies of a doctor."""
    return cluster.kubectl(
        "-n", namespace, "get", "pods,networkpolicies", "-l", "agentbench.dev/doctor", "-o", "name"
    ).strip()


def test_who_has_no_rights_is_told_which_are_missing(
    real_cluster: Cluster, namespace: str, tmp_path: Path, chart: Chart, said_by: Typed,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    token = real_cluster.kubectl("-n", namespace, "create", "token", "default").strip()
    document = yaml.safe_load(real_cluster.kubeconfig.read_text())
    for user in document["users"]:
        user["user"] = {"token": token}
    config = tmp_path / "nobody"
    config.write_text(yaml.safe_dump(document))
    reach = ["--cluster", "-n", namespace, "--kubeconfig", config]
    said = said_by("list", *reach)
    assert said.code == 3
    assert 'cannot list resource "benchmarkcampaigns"' in said.err
    said = said_by("doctor", *reach, "--no-probe", "--json")
    assert said.code == 1
    found = {each["what"]: each for each in said.json["findings"]}
    assert found["Right to benchmarkcampaigns"]["health"] == "fail"
    assert "no get, list, create, patch" in found["Right to benchmarkcampaigns"]["found"]
    assert found["Operator"]["health"] == "warn"


def test_campaigns_complete_in_the_shell(real_cluster: Cluster, namespace: str, pack: Path) -> None:
    manifest = yaml.safe_load((pack / "frozen/campaign.yaml").read_text())
    manifest["metadata"]["namespace"] = namespace
    manifest["spec"]["suspend"] = True
    real_cluster.kubectl("apply", "--server-side", "-f", "-", text=json.dumps(manifest))
    words = f"agent-bench cancel -n {namespace} b"
    done = subprocess.run(
        [PROGRAM], capture_output=True, text=True, check=True,
        env={
            **os.environ, "KUBECONFIG": str(real_cluster.kubeconfig),
            "_AGENT_BENCH_COMPLETE": "bash_complete", "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split(" ")) - 1),
        },
    )  # fmt: skip
    assert done.stdout == "plain,bench\n"
