"""Runs per second of a campaign, through the real API server and the operator, on simulated nodes.

    python -m bench.operator_scale [--runs 10000] [--parallelism 200] [--failures 0] [--json]
                                   [--beside indexed|jobs]

Needs this checkout's cluster: `make cluster`, and nothing else on it meanwhile. Prints one number;
`--json` says the rest: writes per run by the API server's audit log, slot turnaround, memory,
restart, sizes. `--failures 100` fills the disk of every agent, so that no run is graded; with 0
every run is graded by two more pods.
`--beside` runs as many pods as plain Jobs instead: what a user without the operator would do.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import plain_jobs
from bench.operator_watch import Gauge, Pace
from bench.processor_time import ProcessorTime, program
from tests.cluster.lab import audit, cgroups, product, slot
from tests.cluster.lab.handle import Cluster
from tests.cluster.operator.applying import apply_pack, create_secret
from tests.cluster.operator.campaign import Campaign
from tests.cluster.operator.installed import SYSTEM, Chart, images_of_release
from tests.cluster.operator.process import OperatorProcess
from tests.cluster.simulated import runs as simulated
from tests.cluster.simulated.kubelet import simulated_nodes

NAMESPACE = "bench-scale"
NODES = 4
STACKS, AGENTS = 5, 2


def main() -> None:
    words = _words()
    mine = slot.mine()
    if mine is None:
        sys.exit("no cluster: start it with `make cluster`")
    cluster = Cluster(mine)
    with (
        tempfile.TemporaryDirectory() as folder,
        _namespace(cluster),
        _firewall_held(mine),
        simulated_nodes(mine, NODES) as nodes,
    ):
        script = {"seconds": words.seconds, "spread": words.spread, "failures": words.failures}
        nodes.script(**simulated.script(**script))
        if words.beside:
            used = ProcessorTime(mine, benchmark=os.getpid())
            found = plain_jobs.run(cluster, NAMESPACE, words.beside, words.runs, words.parallelism)
            found["processorMsPerRun"] = _in_all(used.milliseconds(words.runs))
        else:
            found = _campaign(_chart(cluster), words, Path(folder))
    print(json.dumps(found, indent=2) if words.json else f"{found['runsPerSecond']:.1f}")


def _campaign(chart: Chart, words: argparse.Namespace, folder: Path) -> dict[str, Any]:
    cluster, bucket = chart.cluster, f"scale-{int(time.time())}"
    cluster.s3().create_bucket(Bucket=bucket)
    create_secret(cluster, NAMESPACE)
    operator = OperatorProcess(chart, NAMESPACE, folder / "operator")
    operator.start()
    repeats = max(10, words.runs // 100)
    tasks = words.runs // (STACKS * AGENTS * repeats)
    total = tasks * STACKS * AGENTS * repeats
    pack = simulated.pack(folder / "pack", tasks=tasks, stacks=STACKS, agents=AGENTS)
    with Pace(cluster.slot, NAMESPACE, words.parallelism) as pace:
        used = ProcessorTime(cluster.slot, operator=operator.pid, benchmark=os.getpid())
        began = time.monotonic()
        campaign = apply_pack(
            chart, NAMESPACE, bucket, pack, "scale", **simulated.spec(repeats, words.parallelism)
        )
        gauge = Gauge(operator, campaign)
        restart = None
        while campaign.phase != "Complete":
            gauge.read()
            if words.restart and restart is None and gauge.done > words.runs / 2:
                restart = _restart(operator, pace)
            time.sleep(1)
        took = time.monotonic() - began
        milliseconds = used.milliseconds(total)
        gauge.read()
    writes = Counter(
        f"{each.verb} {each.resource}" for each in audit.writes(cluster.slot, NAMESPACE)
    )
    found = {
        "runs": total,
        "parallelism": words.parallelism,
        "gradedPercent": 100 - words.failures,
        "seconds": round(took, 1),
        "runsPerSecond": round(total / took, 2),
        "turnaroundSeconds": pace.turnaround(),
        "mostLive": pace.most_live,
        "processorMsPerRun": _in_all(milliseconds),
        "writesPerRun": round(sum(writes.values()) / total, 2),
        "writes": {name: round(count / total, 3) for name, count in writes.most_common()},
        "restartSeconds": restart,
        **gauge.found(),
    }
    _end(operator, campaign)
    return found


def _in_all(milliseconds: dict[str, float]) -> dict[str, float]:
    return {"all": round(sum(milliseconds.values()), 1), **milliseconds}


def _restart(operator: OperatorProcess, pace: Pace) -> float:
    """Kill the operator and start it; seconds from the start to the first pod it creates."""
    operator.kill()
    time.sleep(5)  # slots fall free meanwhile
    before, began = pace.created, time.monotonic()
    operator.start()
    while pace.created == before:
        time.sleep(0.05)
    return round(time.monotonic() - began, 1)


def _end(operator: OperatorProcess, campaign: Campaign) -> None:
    campaign.cluster.kubectl(
        "-n", NAMESPACE, "delete", "benchmarkcampaign", campaign.name, "--timeout=300s"
    )
    operator.stop()


def _chart(cluster: Cluster) -> Chart:
    """The release that is there, or one of this checkout's images."""
    there = cluster.kubectl("-n", SYSTEM, "get", "deployment", "-o", "name", check=False)
    if "agent-bench" in there:
        return Chart(cluster, images_of_release(cluster))
    chart = Chart(cluster, product.load_all(cluster.slot))
    chart.install()
    return chart


@contextmanager
def _firewall_held(mine: slot.Slot) -> Iterator[None]:
    """Hold the policy firewalls of the real nodes, which run no pod of this benchmark.

    Each of the three follows every pod of the cluster, on the two cores that are measured.
    """
    pids = [pid for pid in cgroups.processes(mine) if program(pid) == "kube-router"]
    try:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
        yield
    finally:
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


@contextmanager
def _namespace(cluster: Cluster) -> Iterator[None]:
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    cluster.api.create("/api/v1/namespaces", body)
    (cluster.slot.folder / "audit.log").write_text("")  # the API server appends to it
    try:
        yield
    finally:
        cluster.kubectl("delete", "namespace", NAMESPACE, "--timeout=600s")


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--parallelism", type=int, default=200)
    parser.add_argument("--failures", type=int, default=0, help="of 100 runs, not graded")
    parser.add_argument("--seconds", type=float, default=2.0, help="that a run pod is live")
    parser.add_argument("--spread", type=float, default=0.0, help="share of it, up and down")
    parser.add_argument("--restart", action="store_true", help="kill the operator halfway")
    parser.add_argument("--beside", choices=plain_jobs.KINDS, help="plain Jobs instead")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
