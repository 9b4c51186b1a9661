"""What the user may do: asked of the API server, one review for each right."""

from collections.abc import Iterator
from dataclasses import dataclass

from agentbench.cli.cluster.connection import Connection
from agentbench.cli.cluster.paths import CAMPAIGNS, RUNS, group_of
from agentbench.cli.findings import Finding, Health

_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_CURE = "Ask for it: docs/kubernetes.md, From your terminal, has a Role for people."


@dataclass(frozen=True, slots=True)
class Right:
    """Verbs on one kind of object, and what for; `needed` if nothing works without them."""

    plural: str
    verbs: tuple[str, ...]
    why: str
    needed: bool = False
    sub: str = ""

    @property
    def name(self) -> str:
        """The resource as RBAC calls it."""
        return f"{self.plural}/{self.sub}" if self.sub else self.plural


RIGHTS = (
    Right(CAMPAIGNS, ("get", "list", "create", "patch"), "run, list, suspend, cancel", needed=True),
    Right(RUNS, ("get", "list", "watch"), "run, show", needed=True),
    Right("pods", ("list",), "show where pods are, and what they wait for"),
    Right("pods", ("get",), "logs of live pods", sub="log"),
    Right("secrets", ("get",), "the keys of a campaign's store, for push and report"),
    Right("pods", ("get", "create", "delete"), "doctor's probe pods"),
    Right("networkpolicies", ("create", "delete"), "doctor's probe of policies"),
)


def rights(connection: Connection) -> Iterator[Finding]:
    """Whether the user may do what the command line does."""
    for right in RIGHTS:
        lacking = [verb for verb in right.verbs if not may(connection, right, verb)]
        yield judge(right, lacking, connection.namespace)


def may(connection: Connection, right: Right, verb: str) -> bool:
    """Whether the user has one right in the namespace."""
    attributes = {
        "namespace": connection.namespace,
        "verb": verb,
        "group": group_of(right.plural),
        "resource": right.plural,
        **({"subresource": right.sub} if right.sub else {}),
    }
    answer = connection.request(
        "POST",
        _REVIEWS,
        body={
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        },
    )
    return bool(answer["status"].get("allowed"))


def judge(right: Right, lacking: list[str], namespace: str) -> Finding:
    """One right as a finding."""
    what = f"Right to {right.name}"
    if not lacking:
        return Finding(Health.OK, what, f"{', '.join(right.verbs)} in {namespace}: {right.why}")
    health = Health.FAIL if right.needed else Health.WARN
    return Finding(health, what, f"no {', '.join(lacking)} in {namespace}: {right.why}", _CURE)
