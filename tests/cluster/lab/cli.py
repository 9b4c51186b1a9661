"""A real Kubernetes cluster of three nodes on this machine, for tests.

    python -m tests.cluster.lab.cli up | down [--all] | status | build | env
    python -m tests.cluster.lab.cli kubectl ARGUMENTS... | helm ARGUMENTS...
    python -m tests.cluster.lab.cli node kill|start|freeze|thaw|cut|heal NAME
    python -m tests.cluster.lab.cli store kill|start
    python -m tests.cluster.lab.cli load ARCHIVE NAME

Each checkout has at most one cluster. See docs/testing-on-kubernetes.md.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from tests.cluster.faults import nodes
from tests.cluster.lab import build, cluster, images, kube, slot, stores, tools
from tests.cluster.lab.oci import Archive
from tests.cluster.lab.shell import ClusterError
from tests.cluster.lab.slot import Slot

_NODE_VERBS = {
    "kill": nodes.kill,
    "start": nodes.give_back,
    "freeze": nodes.freeze,
    "thaw": nodes.thaw,
    "cut": nodes.cut,
    "heal": nodes.heal,
}


def running() -> Slot:
    """The slot of this checkout's cluster.

    Raises:
        ClusterError: it is not up.
    """
    mine = slot.mine()
    if mine is None or not cluster.is_up(mine):
        raise ClusterError("this checkout's cluster is not up: start it with `make cluster`")
    return mine


def how_to_use(mine: Slot) -> str:
    """What to type to use the cluster."""
    return (
        f"Kubernetes {tools.kubernetes_version()}: three nodes, S3 at "
        f"{stores.versitygw(mine).endpoint} ({stores.ACCESS_KEY} / {stores.SECRET_KEY})\n"
        f"  export KUBECONFIG={kube.kubeconfig(mine)} PATH={mine.folder}/bin:$PATH\n"
        f"  kubectl get nodes\n"
        f"logs: {mine.logs}; stop and remove it: make cluster-down"
    )


def perform(words: list[str]) -> str:
    """Do what the command line asks and return what there is to say."""
    match words:
        case ["up"]:
            return how_to_use(cluster.up(lambda line: print(line, flush=True), enclosed=True))
        case ["down"]:
            mine = slot.mine()
            if mine is None:
                return "this checkout has no cluster"
            cluster.down(mine)
            return "nothing of the cluster is left"
        case ["down", "--all"]:
            for taken in slot.taken():
                cluster.down(taken)
            return "nothing of any cluster is left on this machine"
        case ["build"]:
            scratch = slot.ROOT / f"build-{os.getpid()}"
            scratch.mkdir(parents=True)
            try:
                built = build.build_all(tools.wanted(), scratch, lambda line: print(line))
            finally:
                kube.discard(scratch)
            return "\n".join(map(str, built.values()))
        case ["env"]:
            return how_to_use(running())
        case ["status"]:
            return cluster.status(running())
        case [("kubectl" | "helm") as program, *rest]:
            mine = running()
            os.environ["KUBECONFIG"] = str(kube.kubeconfig(mine))
            os.execv(mine.folder / "bin" / program, [program, *rest])
        case ["node", verb, name] if verb in _NODE_VERBS:
            _NODE_VERBS[verb](running().node(name))
            return f"{name}: {verb}"
        case ["store", "kill"]:
            stores.versitygw(running()).kill()
            return "the store is dead"
        case ["store", "start"]:
            mine = running()
            stores.versitygw(mine).start(kube.linked_programs(mine))
            return "the store is up"
        case ["load", path, name]:
            mine = running()
            archive = Archive(Path(path), name)
            for node in mine.nodes:
                images.load(node, kube.linked_programs(mine)["ctr"], [archive])
            return archive.pinned
    raise ClusterError(__doc__ or "")


def main() -> None:
    """Run the command line."""
    # A terminated start must take down what it began, as an interrupted one does.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    try:
        print(perform(sys.argv[1:]))
    except ClusterError as refusal:
        sys.exit(str(refusal))


if __name__ == "__main__":
    main()
