"""The port to the API server: raw JSON in and out, by the official client's transport.

Reading objects into the client's models costs ten times more than reading JSON, and fails on
fields newer than the client, so views read what they need and nothing else.
"""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import aiohttp
import orjson
from kubernetes.aio import client, config
from kubernetes.aio.client.exceptions import ApiException

from agentbench.kube.clock import ServerClock
from agentbench.kube.errors import (
    ClusterError,
    Denied,
    Expired,
    Invalid,
    Missing,
    QuotaDenied,
    Retry,
    Stale,
    Taken,
)
from agentbench.kube.names import GROUP

Raw = dict[str, Any]

_PATHS: Mapping[str, str] = {
    "Pod": "/api/v1/namespaces/{namespace}/pods",
    "Secret": "/api/v1/namespaces/{namespace}/secrets",
    "ConfigMap": "/api/v1/namespaces/{namespace}/configmaps",
    "Service": "/api/v1/namespaces/{namespace}/services",
    "Event": "/api/v1/namespaces/{namespace}/events",
    "Job": "/apis/batch/v1/namespaces/{namespace}/jobs",
    "CronJob": "/apis/batch/v1/namespaces/{namespace}/cronjobs",
    "NetworkPolicy": "/apis/networking.k8s.io/v1/namespaces/{namespace}/networkpolicies",
    "BenchmarkCampaign": f"/apis/{GROUP}/v1alpha1/namespaces/{{namespace}}/benchmarkcampaigns",
    "BenchmarkRun": f"/apis/{GROUP}/v1alpha1/namespaces/{{namespace}}/benchmarkruns",
    "Node": "/api/v1/nodes",
    "CustomResourceDefinition": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
}
PAGE = 500
TIMEOUT = 30.0  # seconds for one request
WATCH_SECONDS = 240
SILENCE = 150.0
"""Seconds without a word, bookmarks included, after which a watch is taken for dead."""
MERGE = "application/merge-patch+json"

Told = Callable[[str, str, float], None]
"""Hears of each request: its verb, the class of its answer (2xx, ..., none), and its seconds."""


def _nobody(verb: str, code: str, seconds: float) -> None:
    """Hears nothing."""


class Cluster:
    """A connection to one API server."""

    def __init__(self, api: client.ApiClient, told: Told | None = None) -> None:
        self._api = api
        self.clock = ServerClock()
        self._told = told or _nobody

    @classmethod
    async def connect(
        cls, kubeconfig: str | None = None, context: str | None = None, told: Told | None = None
    ) -> "Cluster":
        """Connect as a pod of the cluster, or by a kubeconfig file; `told` hears every request."""
        if kubeconfig is None and context is None:
            try:
                config.load_incluster_config()
            except config.ConfigException:
                await config.load_kube_config()
        else:
            await config.load_kube_config(config_file=kubeconfig, context=context)
        return cls(client.ApiClient(), told)

    async def close(self) -> None:
        """Close the connection."""
        await self._api.close()

    async def get(self, kind: str, namespace: str, name: str) -> Raw:
        """One object; Missing if there is none."""
        return await self._request("GET", self._path(kind, namespace, name))

    async def list(
        self, kind: str, namespace: str = "", *, labels: str = "", limit: int = PAGE
    ) -> AsyncIterator[Raw]:
        """Objects of a kind, a page at a time, all of one instant."""
        async for page in self.pages(kind, namespace, labels=labels, limit=limit):
            for item in page["items"]:
                yield item

    async def pages(
        self, kind: str, namespace: str = "", *, labels: str = "", limit: int = PAGE
    ) -> AsyncIterator[Raw]:
        """The same as lists, whose metadata names the version from which to watch."""
        token = ""
        while True:
            query = {"limit": str(limit), "labelSelector": labels, "continue": token}
            page = await self._request("GET", self._path(kind, namespace), query=query)
            yield page
            token = page["metadata"].get("continue", "")
            if not token:
                return

    async def watch(
        self, kind: str, namespace: str = "", *, labels: str = "", version: str
    ) -> AsyncIterator[tuple[str, Raw]]:
        """What changed since a version: ADDED, MODIFIED, DELETED or BOOKMARK, and the object.

        Ends by itself after some minutes; take it up again from the last version.

        Raises:
            Expired: the version is too old: list again.
            Retry: the API server does not answer.
        """
        query = {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "resourceVersion": version,
            "timeoutSeconds": str(WATCH_SECONDS),
            "labelSelector": labels,
        }
        path = self._path(kind, namespace)
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=TIMEOUT, sock_read=SILENCE)
        answer = await self._send("GET", path, query=query, timeout=timeout)
        where = f"WATCH {path}"
        try:
            if answer.status >= 300:
                content: bytes = await answer.read()
                raise _meaning(where, answer.status, content.decode(errors="replace"))
            async for line in answer.content:
                event = orjson.loads(line)
                if event["type"] == "ERROR":
                    said = event["object"]
                    raise _meaning(where, int(said.get("code", 500)), json.dumps(said))
                yield event["type"], event["object"]
        except (TimeoutError, aiohttp.ClientError, ValueError) as error:  # half a line is no JSON
            raise Retry(f"{where}: it broke off: {error!r}", after=1) from error
        finally:
            answer.close()

    async def create(self, manifest: Raw) -> Raw:
        """Create an object; Taken if one of its name is there."""
        meta = manifest["metadata"]
        path = self._path(manifest["kind"], meta.get("namespace", ""))
        return await self._request("POST", path, body=manifest, query={"fieldValidation": "Strict"})

    async def delete(
        self,
        kind: str,
        namespace: str,
        name: str,
        uid: str | None = None,
        *,
        grace: int | None = None,
    ) -> None:
        """Delete an object, only the one with that uid; one that is gone is success."""
        body: Raw = {"propagationPolicy": "Background"}
        if grace is not None:
            body["gracePeriodSeconds"] = grace
        if uid:
            body["preconditions"] = {"uid": uid}
        try:
            await self._request("DELETE", self._path(kind, namespace, name), body=body)
        except (Missing, Stale):
            return

    async def replace(self, manifest: Raw) -> Raw:
        """Make an object that is there what the manifest says; Missing if there is none."""
        meta = manifest["metadata"]
        path = self._path(manifest["kind"], meta["namespace"], meta["name"])
        return await self._request("PUT", path, body=manifest, query={"fieldValidation": "Strict"})

    async def patch(self, kind: str, namespace: str, name: str, patch: Raw) -> Raw:
        """Merge a patch into an object."""
        path = self._path(kind, namespace, name)
        return await self._request("PATCH", path, body=patch, content=MERGE)

    async def patch_status(self, kind: str, namespace: str, name: str, status: Raw) -> Raw:
        """Merge a status into an object's status."""
        path = self._path(kind, namespace, name) + "/status"
        return await self._request("PATCH", path, body={"status": status}, content=MERGE)

    async def version(self) -> str:
        """The API server's version."""
        return str((await self._request("GET", "/version"))["gitVersion"])

    async def raw(self, method: str, path: str, body: Raw | None = None) -> Raw:
        """One request to any path."""
        return await self._request(method, path, body=body)

    def _path(self, kind: str, namespace: str, name: str = "") -> str:
        if not namespace and kind != "Node":
            base = _PATHS[kind].replace("/namespaces/{namespace}", "")
        else:
            base = _PATHS[kind].format(namespace=namespace)
        return f"{base}/{name}" if name else base

    async def _request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Raw | None = None,
        content: str = "application/json",
    ) -> Raw:
        where = f"{method} {path}"
        try:
            answer = await self._send(
                method, path, query=query, body=body, content=content, timeout=TIMEOUT
            )
            content_bytes: bytes = await answer.read()
        except (TimeoutError, aiohttp.ClientError, asyncio.IncompleteReadError) as error:
            raise Retry(f"{where}: the API server does not answer: {error!r}") from error
        if answer.status >= 300:
            raise _meaning(where, answer.status, content_bytes.decode(errors="replace"))
        found: Raw = orjson.loads(content_bytes)
        return found

    async def _send(
        self,
        method: str,
        path: str,
        *,
        timeout: float | aiohttp.ClientTimeout,
        query: Mapping[str, str] | None = None,
        body: Raw | None = None,
        content: str = "application/json",
    ) -> aiohttp.ClientResponse:
        """Send one request; the answer is not read yet."""
        began, code = time.monotonic(), "none"
        verb: str
        url: str
        headers: dict[str, str]
        payload: Any
        verb, url, headers, payload, _ = await self._api.param_serialize(
            method,
            path,
            query_params=[(name, value) for name, value in (query or {}).items() if value],
            header_params={"Accept": "application/json", "Content-Type": content},
            body=body,
            auth_settings=["BearerToken"],
        )
        where = f"{method} {path}"
        try:
            answer = await self._api.call_api(
                verb, url, header_params=headers, body=payload, _request_timeout=timeout
            )
            code = f"{answer.status // 100}xx"
        except ApiException as error:
            code = f"{error.status // 100}xx" if error.status else "none"
            raise _meaning(where, int(error.status or 0), str(error.body or error.reason)) from None
        except (TimeoutError, aiohttp.ClientError) as error:
            raise Retry(f"{where}: the API server does not answer: {error!r}") from error
        finally:
            self._told(method.lower(), code, time.monotonic() - began)
        response: aiohttp.ClientResponse = answer.response
        self.clock.heard(response.headers.get("Date"))
        return response


def _meaning(where: str, status: int, body: str) -> ClusterError:
    """Who must act on an answer of the API server."""
    try:
        said = json.loads(body)
        message, reason = str(said.get("message", "")), str(said.get("reason", ""))
    except ValueError:
        message, reason = body[:500], ""
    text = f"{where}: {message}"
    if status == 404:
        return Missing(text)
    if status == 410:
        return Expired(text)
    if status == 409:
        return Taken(text) if reason == "AlreadyExists" else Stale(text)
    if status == 403:
        return QuotaDenied(text) if "exceeded quota" in message else Denied(text)
    if status in (400, 413, 422):
        return Invalid(text)
    return Retry(f"{text} ({status})", after=10 if status == 429 else 5)
