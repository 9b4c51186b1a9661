"""A user's connection to one API server: raw JSON in and out, one request after the other."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import urllib3
from kubernetes import client
from kubernetes.client.exceptions import ApiException

from agentbench.cli.cluster.errors import refusal
from agentbench.cli.cluster.kubeconfig import Found, find
from agentbench.cli.cluster.paths import path
from agentbench.kube.errors import Missing, Retry, Stale

Raw = dict[str, Any]

MANAGER = "agent-bench"
"""The field manager of everything that the command line writes."""
PAGE = 500
CONNECT, READ = 5.0, 30.0  # seconds
MERGE = "application/merge-patch+json"
APPLY = "application/apply-patch+yaml"


@dataclass(frozen=True, slots=True)
class Page:
    """A list of one instant, and the version from which a watch goes on."""

    items: list[Raw]
    version: str


class Connection:
    """Requests with the user's own rights, in one namespace unless another is named."""

    def __init__(self, found: Found) -> None:
        self.namespace = found.namespace
        self.context = found.context
        found.configuration.retries = False
        self._api = client.ApiClient(found.configuration)

    @property
    def server(self) -> str:
        """The API server's address."""
        return str(self._api.configuration.host)

    def get(self, plural: str, name: str, namespace: str | None = None) -> Raw:
        """One object; Missing if there is none."""
        return self.request("GET", path(plural, self._of(plural, namespace), name))

    def find(self, plural: str, name: str, namespace: str | None = None) -> Raw | None:
        """One object, or None."""
        try:
            return self.get(plural, name, namespace)
        except Missing:
            return None

    def list(
        self, plural: str, namespace: str | None = None, *, labels: str = "", fields: str = ""
    ) -> Page:
        """Every object of a kind; a namespace of "" means all of them."""
        query = {"limit": str(PAGE), "labelSelector": labels, "fieldSelector": fields}
        items: list[Raw] = []
        where = path(plural, self._of(plural, namespace))
        while True:
            found = self.request("GET", where, query=query)
            items += found["items"]
            meta = found["metadata"]
            if not meta.get("continue"):
                return Page(items, meta.get("resourceVersion", ""))
            query["continue"] = meta["continue"]

    def watch(
        self, plural: str, version: str, *, labels: str, seconds: int
    ) -> Iterator[tuple[str, Raw]]:
        """What changes from a version on, for some seconds: type and object.

        Raises:
            Stale: the version is too old; list again.
        """
        query = {
            "watch": "1",
            "resourceVersion": version,
            "labelSelector": labels,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(seconds),
        }
        with self.lines(path(plural, self.namespace), query) as lines:
            for line in lines:
                event = json.loads(line)
                if event["type"] == "ERROR":
                    raise Stale(str(event["object"].get("message", "the watch has ended")))
                yield event["type"], event["object"]

    def create(self, plural: str, manifest: Raw) -> Raw:
        """Create an object; Taken if one of its name is there."""
        where = path(plural, manifest["metadata"].get("namespace", self.namespace))
        query = {"fieldValidation": "Strict", "fieldManager": MANAGER}
        return self.request("POST", where, query=query, body=manifest)

    def apply(self, plural: str, manifest: Raw) -> Raw:
        """Server-side apply, without force; FieldConflict names what others have set."""
        meta = manifest["metadata"]
        where = path(plural, meta.get("namespace", self.namespace), meta["name"])
        query = {"fieldValidation": "Strict", "fieldManager": MANAGER}
        return self.request("PATCH", where, query=query, body=manifest, content=APPLY)

    def merge(self, plural: str, name: str, patch: Raw) -> Raw:
        """Merge a patch into an object."""
        where = path(plural, self.namespace, name)
        return self.request(
            "PATCH", where, query={"fieldManager": MANAGER}, body=patch, content=MERGE
        )

    def delete(self, plural: str, name: str, *, grace: int | None = None) -> None:
        """Delete an object; one that is gone is success."""
        body: Raw = {"propagationPolicy": "Background"}
        if grace is not None:
            body["gracePeriodSeconds"] = grace
        try:
            self.request("DELETE", path(plural, self.namespace, name), body=body)
        except Missing:
            return

    def request(
        self,
        method: str,
        where: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Raw | None = None,
        content: str = "application/json",
    ) -> Raw:
        """One request, and the object in its answer."""
        answer = self._send(method, where, query, body, content, READ)
        text = answer.read()
        found: Raw = json.loads(text) if text else {}
        return found

    @contextmanager
    def lines(
        self, where: str, query: Mapping[str, str] | None = None, *, patience: float | None = 60
    ) -> Iterator[Iterator[bytes]]:
        """The lines of an answer as they come.

        `patience` is for how many seconds none may come; None is for ever.
        """
        answer = self._send("GET", where, query, None, "application/json", patience)
        try:
            yield _lines(answer, where)
        finally:
            answer.close()
            answer.release_conn()

    def _send(
        self,
        method: str,
        where: str,
        query: Mapping[str, str] | None,
        body: Raw | None,
        content: str,
        patience: float | None,
    ) -> urllib3.BaseHTTPResponse:
        verb, url, headers, payload, _ = self._api.param_serialize(
            method,
            where,
            query_params=[(name, value) for name, value in (query or {}).items() if value],
            header_params={"Accept": "application/json, */*", "Content-Type": content},
            body=body,
            auth_settings=["BearerToken"],
        )
        try:
            answer = self._api.call_api(
                verb, url, header_params=headers, body=payload, _request_timeout=(CONNECT, patience)
            )
        except ApiException as error:
            raise self._refused(
                method, where, error.status, str(error.body or error.reason)
            ) from None
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise self._away(error) from error
        raw: urllib3.BaseHTTPResponse = answer.response
        if raw.status >= 300:
            raise self._refused(method, where, raw.status, raw.read().decode(errors="replace"))
        return raw

    def _refused(self, method: str, where: str, status: int | None, body: str) -> Exception:
        if not status:
            return self._away(RuntimeError(body))
        return refusal(f"{method} {where}", status, body)

    def _away(self, error: Exception) -> Retry:
        return Retry(
            f"the API server {self.server} does not answer ({_in_short(error)}): is the cluster "
            f"up, and is context {self.context!r} the right one?"
        )

    def _of(self, plural: str, namespace: str | None) -> str:
        if plural in _OF_NO_NAMESPACE:
            return ""
        return self.namespace if namespace is None else namespace


_OF_NO_NAMESPACE = frozenset(
    {
        "nodes",
        "namespaces",
        "customresourcedefinitions",
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
    }
)


def connect(kubeconfig: Path | None, context: str | None, namespace: str | None) -> Connection:
    """Connect as `kubectl` would.

    Raises:
        BadCluster: there is no kubeconfig, or no such context in it.
    """
    return Connection(find(kubeconfig, context, namespace))


def _lines(answer: urllib3.BaseHTTPResponse, where: str) -> Iterator[bytes]:
    rest = b""
    try:
        for chunk in answer.stream(amt=None, decode_content=True):
            *whole, rest = (rest + chunk).split(b"\n")
            yield from (line for line in whole if line)
    except (urllib3.exceptions.HTTPError, OSError) as error:
        raise Retry(f"GET {where}: the answer broke off: {_in_short(error)}") from error
    if rest:
        yield rest


def _in_short(error: Exception) -> str:
    reason = getattr(error, "reason", None) or error
    text = str(reason)
    return text.rsplit(": ", 1)[-1][:200]
