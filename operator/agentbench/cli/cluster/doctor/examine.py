"""`agent-bench doctor --cluster`: every look at a cluster, in order."""

import base64
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from agentbench.api.campaign import CampaignSpec
from agentbench.api.place import NodeClass
from agentbench.cli.cluster.access import store_of
from agentbench.cli.cluster.connection import Connection
from agentbench.cli.cluster.doctor import installation as operators
from agentbench.cli.cluster.doctor.nodes import nodes
from agentbench.cli.cluster.doctor.pods import Bench
from agentbench.cli.cluster.doctor.probing import Seen, Wanted, probe
from agentbench.cli.cluster.doctor.rights import rights
from agentbench.cli.cluster.doctor.server import admission_policy, definitions, version
from agentbench.cli.cluster.doctor.storage import conditions
from agentbench.cli.cluster.doctor.verdicts import judge
from agentbench.cli.cluster.errors import BadCluster
from agentbench.cli.findings import Finding, Health
from agentbench.cli.remote import Remote
from agentbench.core.credentials import Pass, password
from agentbench.kube.errors import ClusterError, Denied, Missing, Retry

CREDENTIAL = 600
"""Seconds that the probe's own credential for the gateway is good for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """What a doctor is asked about. `spec` is a campaign's, where one is meant."""

    spec: CampaignSpec | None
    node_class: NodeClass
    system: str | None
    probe: bool
    given: Remote
    patience: float


def examine(
    connection: Connection, asked: Questions, note: Callable[[str], None]
) -> Iterator[Finding]:
    """Look at a cluster; each finding as soon as it is known.

    Raises:
        Retry: the API server does not answer at all.
    """
    said = connection.request("GET", "/version")
    yield version(said)
    yield from _definitions(connection)
    yield from rights(connection)
    found, findings = _operators(connection, asked)
    yield from findings
    yield admission_policy(connection)
    yield nodes(connection, asked.node_class)
    remote = None
    if asked.spec is not None:
        remote, trouble = _store(connection, asked)
        if trouble is not None:
            yield trouble
        if remote is not None:
            yield conditions(remote)
    if asked.probe and found is not None:
        yield from _probe(connection, asked, found, remote, note)


def _definitions(connection: Connection) -> Iterator[Finding]:
    try:
        yield from definitions(connection)
    except BadCluster as error:
        yield Finding(Health.FAIL, "Definitions", str(error))


def _operators(
    connection: Connection, asked: Questions
) -> tuple[operators.Installation | None, list[Finding]]:
    try:
        found = operators.installations(connection, asked.system)
    except (Denied, Missing) as error:
        cure = "Name its namespace with --system-namespace, or ask for the right to read it."
        return None, [Finding(Health.WARN, operators.WHAT, f"not looked at: {error}", cure)]
    mine = operators.chosen(found, connection.namespace)
    return mine, list(operators.judge(found, connection.namespace))


def _store(connection: Connection, asked: Questions) -> tuple[Remote | None, Finding | None]:
    assert asked.spec is not None  # or there would be no store to look at
    try:
        return store_of(connection, asked.spec.store, asked.given), None
    except BadCluster as error:
        return None, Finding(Health.FAIL, "Store", str(error))


def _probe(
    connection: Connection,
    asked: Questions,
    found: operators.Installation,
    remote: Remote | None,
    note: Callable[[str], None],
) -> Iterator[Finding]:
    bench = Bench(
        namespace=connection.namespace,
        ident=secrets.token_hex(4),
        installation=found,
        node_class=asked.node_class,
    )
    gateway = _gateway(connection, found)
    requests = _requests(connection, found, gateway, remote)
    wanted = Wanted(
        gateway=gateway,
        asked=requests,
        images=images_of(asked.spec) if asked.spec else (),
        patience=asked.patience,
    )
    note("Probing with pods; this takes some seconds, or as long as the images take to pull.")
    try:
        seen: Seen = probe(connection, bench, wanted, note)
    except Retry:
        raise
    except ClusterError as error:
        yield Finding(
            Health.FAIL, "Probe pods", f"could not be made: {error}",
            "Ask for the rights, or make room: the namespace must take restricted pods.",
        )  # fmt: skip
        return
    yield from judge(seen, gateway=gateway, store="store" in requests)
    if remote is not None and "store" not in requests and seen.shut is not None:
        yield Finding(
            Health.WARN, "Store from a pod",
            "not looked at: it takes the gateway's key, which you may not read",
        )  # fmt: skip


def images_of(spec: CampaignSpec) -> tuple[str, ...]:
    """Every image that a campaign's pods have, each once."""
    found = [image for agent in spec.agents for image in agent.images.values()]
    for stack in spec.stacks:
        found += [image for image in (stack.image, *(s.image for s in stack.services)) if image]
    return tuple(dict.fromkeys(found))


def _gateway(connection: Connection, found: operators.Installation) -> str:
    """The gateway's address by number, since run pods have no DNS; empty if it is not known."""
    try:
        raw = connection.find("services", found.gateway, found.namespace)
    except Denied:
        return ""
    address = (raw or {}).get("spec", {}).get("clusterIP", "")
    if not address or address == "None":
        return ""
    host = f"[{address}]" if ":" in address else address
    return f"{host}:{found.gateway_port}"


def _requests(
    connection: Connection, found: operators.Installation, gateway: str, remote: Remote | None
) -> Mapping[str, Mapping[str, str]]:
    """What the pod that is shut in asks of the gateway: as a stranger, and for the store."""
    if not gateway:
        return {}
    asked = {
        "stranger": {"gateway": gateway, "url": "https://agent-bench.invalid", "credential": ""}
    }
    key = _gateway_key(connection, found)
    if remote is None or key is None:
        return asked
    url = remote.endpoint or f"https://s3.{remote.region or 'us-east-1'}.amazonaws.com"
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    host = str(parts.hostname) if port == 443 else f"{parts.hostname}:{port}"
    expires = int(time.time()) + CREDENTIAL
    user = Pass(caller="agent-bench-doctor", kind="store", hosts=(host,), expires=expires).user()
    credential = f"{user}:{password(user, key)}"
    return {**asked, "store": {"gateway": gateway, "url": url, "credential": credential}}


def _gateway_key(connection: Connection, found: operators.Installation) -> bytes | None:
    try:
        raw = connection.find("secrets", found.gateway_secret, found.namespace)
    except Denied:
        return None
    key = ((raw or {}).get("data") or {}).get("key")
    return base64.b64decode(key).strip() if key else None
