"""Whether an installation answers as it should: the questions of `helm test`.

    python -m agentbench.pod.reach --health URL --metrics URL --gateway HOST:PORT --key FILE \
        --closed HOST:PORT
    python -m agentbench.pod.reach --api URL --account FOLDER --at-least 1.33

Every question that has an argument is asked, again and again until it is answered well or its
time is over, and each prints a line. Exit code 0: all is well; 1: something is not.
"""

import argparse
import base64
import http.client
import json
import re
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from agentbench.core.credentials import Pass, password
from agentbench.pod.fence import closed, reachable

PAUSE = 0.5
LIFETIME = 300
"""Seconds that the test's own pass is good for."""

LISTED, OTHER = "helm-test.invalid", "not-listed.invalid"
"""Hosts that nobody can have: a gateway that takes the pass fails to find the first one."""

REFUSED = {403, 407}


class Wrong(Exception):
    """A question was answered wrongly; the message says how, and what to do."""


def answers(url: str, want: str) -> str:
    """A page of the operator.

    Raises:
        Wrong: it does not answer, or without the words wanted.
    """
    try:
        with urllib.request.urlopen(url, timeout=5) as page:
            text = page.read().decode(errors="replace")
    except (OSError, http.client.HTTPException) as error:
        raise Wrong(
            f"{url}: {error}; is the operator ready, and does a NetworkPolicy let this pod in?"
        ) from error
    if want not in text:
        raise Wrong(f"{url}: answered without {want!r}: is it the operator of this version?")
    return f"{url}: {len(text)} characters"


def asked(gateway: str, host: str, port: int, credential: tuple[str, str] | None) -> int:
    """The gateway's status for a host.

    Raises:
        Wrong: it does not answer.
    """
    headers = {}
    if credential is not None:
        token = base64.b64encode(":".join(credential).encode()).decode()
        headers["Proxy-Authorization"] = f"Basic {token}"
    name, _, number = gateway.rpartition(":")
    connection = http.client.HTTPConnection(name, int(number), timeout=15)
    try:
        connection.request("GET", f"http://{host}:{port}/", headers=headers)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        raise Wrong(
            f"{gateway}: {error}; is the gateway ready, and does a NetworkPolicy let this pod in?"
        ) from error
    finally:
        connection.close()


def refuses_strangers(gateway: str, port: int, user: str) -> str:
    """A caller without a credential, or with one that the installation's key did not sign."""
    for who, credential in (("no credential", None), ("a forged one", (user, "0" * 64))):
        status = asked(gateway, LISTED, port, credential)
        if status != 407:
            raise Wrong(f"{gateway}: {status} to a caller with {who}, not 407: it is no gateway")
    return f"{gateway}: 407 without a credential, and with a forged one"


def takes_a_pass(gateway: str, port: int, user: str, key: bytes) -> str:
    """A caller with a signed pass, for the host on its list and for another."""
    credential = (user, password(user, key))
    status = asked(gateway, LISTED, port, credential)
    if status in REFUSED:
        raise Wrong(
            f"{gateway}: {status} to a signed pass: has the gateway another key than this test? "
            "Restart both Deployments if the Secret was changed"
        )
    other = asked(gateway, OTHER, port, credential)
    if other != 403:
        raise Wrong(f"{gateway}: {other} for a host that is not on the pass's list, not 403")
    return f"{gateway}: a signed pass is taken ({status}), and for its own hosts only (403)"


def shut(address: str, patience: float) -> str:
    """An address that every policy must refuse."""
    host, _, port = address.rpartition(":")
    if not closed(
        lambda: reachable(host, int(port)),
        limit=patience,
        clock=time.monotonic,
        sleep=time.sleep,
    ):
        raise Wrong(
            f"{address} is open from a pod whose NetworkPolicy forbids it: the cluster's network "
            "plug-in does not enforce NetworkPolicy, and no run would start (NotIsolated)"
        )
    return f"{address}: closed, as for every run"


def recent(api: str, account: Path, least: str) -> str:
    """The API server's version; `account` is the folder of a service account's token."""
    request = urllib.request.Request(f"{api}/version")
    request.add_header("Authorization", f"Bearer {(account / 'token').read_text().strip()}")
    trust = ssl.create_default_context(cafile=str(account / "ca.crt"))
    try:
        with urllib.request.urlopen(request, timeout=5, context=trust) as page:
            version = str(json.load(page)["gitVersion"])
    except (OSError, http.client.HTTPException, ValueError, KeyError) as error:
        raise Wrong(f"{api}/version: {error}") from error
    if _numbers(version) < _numbers(least):
        raise Wrong(f"{api}: Kubernetes {version} is older than {least}: upgrade the cluster")
    return f"{api}: Kubernetes {version}, at least {least}"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:2])


def until_well(question: Callable[[], str], patience: float) -> str:
    """Ask until the answer is good, for so many seconds; then its last Wrong is raised."""
    end = time.monotonic() + patience
    while True:
        try:
            return question()
        except Wrong:
            if time.monotonic() >= end:
                raise
        time.sleep(PAUSE)


def questions(told: argparse.Namespace) -> Iterator[tuple[str, Callable[[], str]]]:
    """Name and question, for every argument that is given."""
    if told.health:
        yield "operator's health", lambda: answers(told.health, "lastTick")
    if told.metrics:
        yield "operator's metrics", lambda: answers(told.metrics, "agentbench_build_info")
    if told.gateway:
        key = told.key.read_bytes().strip()
        entry = Pass(
            caller="helm-test",
            kind="test",
            hosts=(f"{LISTED}:{told.port}",),
            expires=int(time.time()) + LIFETIME,
        )
        user = entry.user()
        yield "gateway, strangers", lambda: refuses_strangers(told.gateway, told.port, user)
        yield "gateway, a pass", lambda: takes_a_pass(told.gateway, told.port, user, key)
    if told.closed:
        yield "forbidden address", lambda: shut(told.closed, told.patience)
    if told.api:
        yield "API server", lambda: recent(told.api, told.account, told.at_least)


def main(argv: Sequence[str] | None = None) -> int:
    """Ask every question; gives the exit code."""
    parser = argparse.ArgumentParser(prog="agentbench.pod.reach")
    parser.add_argument("--health", help="URL of the operator's health")
    parser.add_argument("--metrics", help="URL of the operator's metrics")
    parser.add_argument("--gateway", help="HOST:PORT of the gateway; needs --key")
    parser.add_argument("--key", type=Path, help="file with the installation's key")
    parser.add_argument("--port", type=int, default=443, help="a port that the gateway allows")
    parser.add_argument("--closed", help="HOST:PORT that the pod's policy forbids")
    parser.add_argument("--api", help="URL of the API server; needs --account")
    parser.add_argument("--account", type=Path, help="folder of a service account's token")
    parser.add_argument("--at-least", default="1.33", help="oldest version that will do")
    parser.add_argument("--patience", type=float, default=30, help="seconds for each question")
    told = parser.parse_args(argv)
    for needs, other in (("gateway", "key"), ("api", "account")):
        if getattr(told, needs) and not getattr(told, other):
            parser.error(f"--{needs} needs --{other}")
    good = True
    for name, question in questions(told):
        try:
            print(f"ok    {name}: {until_well(question, told.patience)}", flush=True)
        except Wrong as error:
            good = False
            print(f"WRONG {name}: {error}", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
