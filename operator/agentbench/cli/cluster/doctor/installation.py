"""The operator's installation: where it is, what it was told, whether it runs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agentbench import __version__
from agentbench.cli.cluster.connection import Connection, Raw
from agentbench.cli.findings import Finding, Health
from agentbench.kube.errors import Denied

WHAT = "Operator"
SELECTOR = "app.kubernetes.io/component=operator"
USUAL = "agent-bench-system"
_INSTALL = "Install it: docs/kubernetes.md, Install."


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """One operator: its Deployment, and the settings that matter to a user."""

    namespace: str
    name: str
    version: str
    wanted: int
    ready: int
    image: str
    pull_policy: str
    pull_secrets: tuple[str, ...]
    gateway: str  # name of its Service
    gateway_port: int
    gateway_secret: str
    watches: tuple[str, ...]  # empty: every namespace

    def sees(self, namespace: str) -> bool:
        """Whether it looks at campaigns of a namespace."""
        return not self.watches or namespace in self.watches


def installations(connection: Connection, system: str | None) -> list[Installation]:
    """Every operator that the user may see; Denied if that is none for want of rights."""
    try:
        page = connection.list("deployments", system or "", labels=SELECTOR)
    except Denied:
        if system is not None:
            raise
        page = connection.list("deployments", USUAL, labels=SELECTOR)
    found = (installation(raw) for raw in page.items)
    return [each for each in found if each is not None]


def installation(raw: Raw) -> Installation | None:
    """Read a Deployment; None if it is no operator of ours."""
    container = raw["spec"]["template"]["spec"]["containers"][0]
    env = {each["name"]: each.get("value", "") for each in container.get("env") or ()}
    if "AGENTBENCH_IMAGE" not in env:
        return None
    service, _, port = env.get("AGENTBENCH_GATEWAY", "").removeprefix("service/").rpartition(":")
    labels = raw["metadata"].get("labels") or {}
    return Installation(
        namespace=raw["metadata"]["namespace"],
        name=raw["metadata"]["name"],
        version=labels.get("app.kubernetes.io/version", ""),
        wanted=raw["spec"].get("replicas", 1),
        ready=(raw.get("status") or {}).get("readyReplicas", 0),
        image=env["AGENTBENCH_IMAGE"],
        pull_policy=env.get("AGENTBENCH_PULL_POLICY") or "IfNotPresent",
        pull_secrets=tuple(env.get("AGENTBENCH_PULL_SECRETS", "").split()),
        gateway=service,
        gateway_port=int(port) if port.isdigit() else 3128,
        gateway_secret=_secret(raw) or service,
        watches=tuple(env.get("AGENTBENCH_WATCH_NAMESPACES", "").replace(",", " ").split()),
    )


def _secret(raw: Raw) -> str:
    """The Secret with the gateway's key, as the operator mounts it."""
    volumes = raw["spec"]["template"]["spec"].get("volumes") or ()
    named = [each["secret"]["secretName"] for each in volumes if each.get("secret")]
    return str(named[0]) if named else ""


def chosen(found: Sequence[Installation], namespace: str) -> Installation | None:
    """The one that looks at a namespace, and of several one that runs."""
    ranked = sorted(found, key=lambda each: (each.sees(namespace), each.ready), reverse=True)
    return ranked[0] if ranked else None


def judge(found: Sequence[Installation], namespace: str) -> Iterator[Finding]:
    """Whether an operator runs, is of this version, and looks at a namespace."""
    mine = chosen(found, namespace)
    if mine is None:
        yield Finding(Health.FAIL, WHAT, "there is none", _INSTALL)
        return
    where = f"{mine.namespace}/{mine.name}"
    log = f"kubectl -n {mine.namespace} logs deployment/{mine.name}"
    if mine.wanted == 0:
        cure = f"kubectl -n {mine.namespace} scale deployment/{mine.name} --replicas=1"
        yield Finding(Health.FAIL, WHAT, f"{where} is scaled to 0", f"Start it: {cure}.")
    elif mine.ready < 1:
        yield Finding(Health.FAIL, WHAT, f"{where} is not ready", f"See what it says: {log}.")
    elif not mine.sees(namespace):
        yield Finding(
            Health.FAIL, WHAT, f"{where} looks at {', '.join(mine.watches)}, not at {namespace}",
            f"Use one of these namespaces, or add {namespace} to rbac.watchNamespaces.",
        )  # fmt: skip
    elif mine.version != __version__:
        yield Finding(
            Health.WARN, WHAT, f"{where} runs, version {mine.version}; this is {__version__}",
            "Use one version for both: helm upgrade, or install that version here.",
        )  # fmt: skip
    else:
        yield Finding(Health.OK, WHAT, f"{where} runs, version {mine.version}")
    seeing = [
        f"{each.namespace}/{each.name}" for each in found if each.sees(namespace) and each.ready
    ]
    if len(seeing) > 1:
        yield Finding(
            Health.FAIL, WHAT, f"{' and '.join(seeing)} all look at {namespace}",
            "Let one operator watch a namespace: rbac.namespaced and rbac.watchNamespaces.",
        )  # fmt: skip
