"""A client of the API server that shares no code with the product it judges."""

from __future__ import annotations

import http.client
import json
import ssl
import threading
import urllib.parse
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from typing import Any

from tests.cluster.lab.slot import Slot

Object = dict[str, Any]
MERGE, STRATEGIC = "application/merge-patch+json", "application/strategic-merge-patch+json"


class ApiError(Exception):
    """The API server refused a request.

    Attributes:
        code: the HTTP status.
        reason: its machine-readable reason, as `AlreadyExists`.
    """

    def __init__(self, code: int, reason: str, message: str) -> None:
        self.code, self.reason = code, reason
        super().__init__(f"{code} {reason}: {message}")


class Api:
    """Requests as the cluster's administrator, or as someone it impersonates."""

    def __init__(self, slot: Slot, user: str | None = None, groups: tuple[str, ...] = ()) -> None:
        self._address = (slot.control_ip, 6443)
        self._context = ssl.create_default_context(cafile=str(slot.pki / "ca.crt"))
        self._context.load_cert_chain(slot.pki / "admin.crt", slot.pki / "admin.key")
        self._headers = {"Accept": "application/json"}
        self._groups = groups
        if user is not None:
            self._headers["Impersonate-User"] = user

    def request(
        self, method: str, path: str, body: object = None, kind: str = "application/json"
    ) -> Any:
        """Send one request and return the object in its answer, or its text if it is none.

        Raises:
            ApiError: the API server refused it.
            OSError: it could not be reached.
        """
        data = None if body is None else json.dumps(body)
        with closing(self._connect()) as connection:
            self._send(connection, method, path, data, kind)
            answer = connection.getresponse()
            text = answer.read().decode()
            structured = (answer.getheader("Content-Type") or "").startswith("application/json")
        if answer.status >= 400:
            raise _refusal(answer.status, text)
        return json.loads(text) if structured else text

    def get(self, path: str) -> Any:
        """Read an object or a list."""
        return self.request("GET", path)

    def create(self, path: str, body: Mapping[str, object]) -> Object:
        """Create an object in the collection at `path`."""
        found: Object = self.request("POST", path, body)
        return found

    def patch(self, path: str, body: object, kind: str = MERGE) -> Object:
        """Patch an object."""
        found: Object = self.request("PATCH", path, body, kind)
        return found

    def delete(self, path: str, grace: int | None = None) -> None:
        """Delete an object; that it is gone already is fine."""
        query = "" if grace is None else f"?gracePeriodSeconds={grace}"
        with suppress_gone():
            self.request("DELETE", path + query)

    def watch(
        self, path: str, version: str, stop: threading.Event, seconds: int = 300
    ) -> Iterator[Object]:
        """Yield watch events until the server ends the watch or `stop` is set.

        Raises:
            ApiError: the version is too old, or the request was refused.
        """
        joint = "&" if "?" in path else "?"
        query = urllib.parse.urlencode(
            {"watch": "1", "resourceVersion": version, "timeoutSeconds": seconds}
        )
        with closing(self._connect(timeout=seconds + 30)) as connection:
            self._send(connection, "GET", f"{path}{joint}{query}", None, "")
            with connection.getresponse() as answer:
                if answer.status >= 400:
                    raise _refusal(answer.status, answer.read().decode())
                while not stop.is_set() and (line := answer.readline()):
                    event: Object = json.loads(line)
                    if event["type"] == "ERROR":
                        status = event["object"]
                        code, reason = status.get("code", 0), status.get("reason", "")
                        raise ApiError(code, reason, str(status))
                    yield event

    def _connect(self, timeout: float = 30) -> http.client.HTTPSConnection:
        host, port = self._address
        return http.client.HTTPSConnection(host, port, context=self._context, timeout=timeout)

    def _send(
        self,
        connection: http.client.HTTPSConnection,
        method: str,
        path: str,
        data: str | None,
        kind: str,
    ) -> None:
        connection.putrequest(method, path)
        for name, value in self._headers.items():
            connection.putheader(name, value)
        for group in self._groups:
            connection.putheader("Impersonate-Group", group)
        encoded = None if data is None else data.encode()
        if encoded is not None:
            connection.putheader("Content-Type", kind)
            connection.putheader("Content-Length", str(len(encoded)))
        connection.endheaders(encoded)


class suppress_gone(suppress):  # noqa: N801 (reads as what it is, a context manager)
    """Take "it is not there" for success."""

    def __init__(self) -> None:
        super().__init__(ApiError)

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        return isinstance(error, ApiError) and error.code == 404


def _refusal(code: int, text: str) -> ApiError:
    try:
        status = json.loads(text)
    except ValueError:
        status = {}
    return ApiError(code, status.get("reason", ""), status.get("message", text[:500]))
