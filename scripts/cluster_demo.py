"""The quickstart campaign on a real Kubernetes, from a clean checkout to its verdict.

    python -m scripts.cluster_demo

Starts the test cluster of this machine (three nodes), builds and loads the images, installs the
chart, applies the frozen quickstart, follows it to its verdict, and shows the operator's metrics.
The cluster is left up. Needs Linux and root: docs/testing-on-kubernetes.md.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml
from scripts.dashboards import BOARDS
from tests.cluster.lab import cluster as lab
from tests.cluster.lab import product
from tests.cluster.lab.handle import Cluster
from tests.cluster.lab.shell import ClusterError, wait
from tests.cluster.operator.campaign import Campaign
from tests.cluster.operator.installed import SYSTEM, Chart
from tests.cluster.operator.placing import (
    QUICKSTART,
    ROOMY,
    cluster_store,
    placed,
    push,
    quickstart,
)
from tests.monitoring.prometheus import filled, prometheus

from agentbench.core.keys import latest_key, rows_prefix
from agentbench.store.folder import FolderStore
from agentbench.store.port import Store

ROOT = Path(__file__).parents[1]
OUT = ROOT / ".agent-bench/cluster-demo"
NAMESPACE, NAME, BUCKET = "demo", "quickstart", "demo"
LIMIT = 1800.0  # seconds for the whole campaign, on two cores
PUBLISHED_WAIT = 90.0  # seconds for the analysis to follow the last row
PARALLELISM = 4
SCRAPES = 6.0  # seconds that Prometheus gets, for rates need more than one look
SHOWN = re.compile(
    r"^agentbench_(attempts_total|runs_(planned|done|ended)|spent_dollars|budget_left_dollars"
    r"|caps_hit_total|infra_reruns_total|attempt_tokens_sum|row_write_seconds_count|build_info)\b"
)
"""Metrics that tell of the campaign."""


def say(text: str = "") -> None:
    """One line, at once."""
    print(text, flush=True)


def step(text: str) -> None:
    """What is done now."""
    say(f"\n== {text}")


def kubectl(cluster: Cluster, *words: object, text: str | None = None) -> None:
    """Run kubectl as a person would, and show it."""
    say(f"$ kubectl {' '.join(map(str, words))}")
    say(cluster.kubectl(*words, text=text).rstrip())


def install(cluster: Cluster) -> str:
    """Build and load the images, install the chart; the image of the quickstart's stacks."""
    step("Images: built from this checkout, put on every node")
    images = {}
    for name in (*product.names(), "quickstart"):
        images[name] = product.load(cluster.slot, name)
        say(f"  {images[name]}")
    step("Chart: operator, gateway, policies")
    chart = Chart(cluster, images)
    chart.install()
    chart.scale(1)
    kubectl(cluster, "-n", SYSTEM, "get", "deployments")
    return images["quickstart"]


def apply(cluster: Cluster, image: str) -> tuple[Campaign, Path]:
    """Push the bundle, name this cluster's images and store, and apply the frozen campaign."""
    step("Campaign: the frozen quickstart, with this cluster's images, machines and store")
    cluster.kubectl("delete", "namespace", NAMESPACE, "--ignore-not-found", "--timeout=180s")
    cluster.kubectl("create", "namespace", NAMESPACE)
    if BUCKET not in [each.get("Name") for each in cluster.s3().list_buckets()["Buckets"]]:
        cluster.s3().create_bucket(Bucket=BUCKET)
    prefix = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    where, store = cluster_store(cluster, NAMESPACE, BUCKET, prefix)
    push(QUICKSTART / "frozen/bundle", store)
    spec = placed(quickstart(), image, where, nodeClass=ROOMY, parallelism=PARALLELISM)
    manifest = OUT / "campaign.yaml"
    OUT.mkdir(parents=True, exist_ok=True)
    document = {
        "apiVersion": "agentbench.dev/v1alpha1",
        "kind": "BenchmarkCampaign",
        "metadata": {"name": NAME},
        "spec": spec,
    }
    manifest.write_text(yaml.safe_dump(document, sort_keys=False, allow_unicode=True))
    kubectl(cluster, "-n", NAMESPACE, "apply", "--server-side", "-f", manifest)
    return Campaign(cluster, NAMESPACE, NAME, store), manifest


def follow(campaign: Campaign) -> None:
    """Show the campaign's line whenever it changes, until it is complete.

    Raises:
        ClusterError: it stalled, or was not complete in time.
    """
    step("Progress")
    began, last = time.monotonic(), ""
    while time.monotonic() - began < LIMIT:
        status = campaign.get().get("status", {})
        line = progress(status)
        if line != last:
            say(f"  {time.monotonic() - began:5.0f} s  {line}")
            last = line
        if status.get("phase") == "Complete":
            return
        stalled = campaign.condition("Stalled")
        if stalled.get("status") == "True":
            raise ClusterError(f"the campaign stalled: {stalled.get('message')}")
        time.sleep(2)
    raise ClusterError(f"the campaign was not complete after {LIMIT:.0f} s: {last}")


def progress(status: Mapping[str, Any]) -> str:
    """A campaign's status in one line."""
    counts = status.get("counts", {})
    spent = status.get("spend", {}).get("spentUSD", status.get("spentUSD", ""))
    words = [f"{counts.get('done', 0)} of {counts.get('total', 0)} runs recorded"]
    words += [f"{counts.get(name, 0)} {name}" for name in ("live", "passed", "infra")]
    return ", ".join([status.get("phase", "Pending"), *words, *([f"${spent}"] if spent else [])])


def show_verdict(campaign: Campaign, manifest: Path) -> None:
    """What the cluster's analysis published, and the same analysis, here, over the same rows."""
    step("Verdict")
    say(f"published: {json.loads(campaign.store.get(latest_key(NAME)))['number']}")
    kubectl(
        campaign.cluster, "-n", NAMESPACE, "get", f"benchmarkcampaign/{NAME}",
        "-o", "jsonpath={.status.verdict}",
    )  # fmt: skip
    rows = OUT / "rows"
    shutil.rmtree(rows, ignore_errors=True)
    copy_rows(campaign.store, FolderStore(rows))
    say(f"$ agent-bench report {manifest.relative_to(ROOT)} --store {rows.relative_to(ROOT)}")
    program = Path(sys.executable).with_name("agent-bench")
    subprocess.run([program, "report", manifest, "--store", rows, "--brief"], check=True)


def _analysed(campaign: Campaign) -> bool:
    """Whether every row is in what was published last, and the status tells of that."""
    latest = campaign.store.read(latest_key(NAME))
    if latest is None:
        return False
    published = json.loads(latest.content)
    told = campaign.get()["status"].get("verdict", {}).get("published")
    whole = published["rows"] == sum(1 for _ in campaign.store.list(rows_prefix(NAME)))
    return bool(whole and told == published["number"])


def copy_rows(source: Store, target: Store) -> None:
    """Bring a campaign's rows from object storage into a folder."""
    for key in source.list(rows_prefix(NAME)):
        target.create_only(key, source.get(key))


@contextmanager
def forwarded(cluster: Cluster) -> Iterator[str]:
    """The operator's metrics on a port of this machine: its policy lets in no one but pods."""
    words = ["-n", SYSTEM, "port-forward", "service/agent-bench-metrics", ":9090"]
    say(f"$ kubectl {' '.join(words)}")
    environment = {**os.environ, "KUBECONFIG": str(cluster.kubeconfig)}
    with subprocess.Popen(
        [cluster.slot.folder / "bin/kubectl", *words],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            said = process.stdout.readline()
            found = re.search(r"127\.0\.0\.1:\d+", said)
            if found is None:
                raise ClusterError(f"kubectl port-forward said {said!r}, and no address")
            yield found[0]
        finally:
            process.terminate()


def metrics(target: str) -> Iterator[str]:
    """Lines of the operator's metrics that tell of the campaign; those of 0 are left out."""
    with urllib.request.urlopen(f"http://{target}/metrics", timeout=10) as answer:
        for line in answer.read().decode().splitlines():
            if SHOWN.match(line) and not line.endswith(" 0.0"):
                yield line


def dashboards(cluster: Cluster, target: str) -> Iterator[str]:
    """What the queries of the chart's dashboards answer, in a Prometheus that scrapes it."""
    with (
        tempfile.TemporaryDirectory(prefix="agent-bench-demo-") as folder,
        prometheus(cluster.programs, Path(folder), target) as one,
    ):
        time.sleep(SCRAPES)
        for name, board in BOARDS.items():
            for place, query in board.queries():
                found = one.query(filled(query))
                values = ", ".join(each["value"][1] for each in found[:4])
                more = f" and {len(found) - 4} more" if len(found) > 4 else ""
                yield f"{name}: {place}: {values or 'nothing yet'}{more}"


def farewell(cluster: Cluster, manifest: Path) -> None:
    """How to look around, and how to remove everything."""
    step("The cluster is up, for you to look around")
    say(f"  export KUBECONFIG={cluster.kubeconfig} PATH={cluster.slot.folder}/bin:$PATH")
    say(f"  kubectl -n {NAMESPACE} get benchmarkcampaigns,benchmarkruns")
    say(f"  kubectl -n {NAMESPACE} get pods -L agentbench.dev/role,agentbench.dev/task")
    say(f"  kubectl -n {SYSTEM} logs deployment/agent-bench-gateway -c squid   # what was refused")
    say(f"  less {manifest.relative_to(ROOT)}")
    say("Remove it without a trace: make cluster-down")


def main() -> None:
    """Run the demo."""
    began = time.monotonic()
    try:
        step("Cluster: a control plane and three nodes, an S3 store")
        cluster = Cluster(lab.up(say, enclosed=True))
        image = install(cluster)
        campaign, manifest = apply(cluster, image)
        follow(campaign)
        wait("the analysis of all rows", lambda: _analysed(campaign), PUBLISHED_WAIT)
        kubectl(cluster, "-n", NAMESPACE, "get", "benchmarkcampaigns")
        kubectl(cluster, "-n", NAMESPACE, "get", "benchmarkruns")
        show_verdict(campaign, manifest)
        step("Metrics of the operator")
        with forwarded(cluster) as target:
            say(f"$ curl http://{target}/metrics   # zeros are left out")
            for line in metrics(target):
                say(f"  {line}")
            step("Queries of the dashboards, asked of a Prometheus")
            for line in dashboards(cluster, target):
                say(f"  {line}")
        farewell(cluster, manifest)
    except ClusterError as error:
        sys.exit(f"cluster-demo: {error}")
    say(f"\nIt took {time.monotonic() - began:.0f} s.")


if __name__ == "__main__":
    main()
