"""A proxy before an S3 store that fails the way stores and networks do.

Faults are rules: which requests (method, key), what happens to them, and how often. A request that
no rule takes goes through untouched, its signature included.
"""

from __future__ import annotations

import asyncio
import re
import urllib.parse
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

import aiohttp
from aiohttp import web
from tests.cluster.faults import serving, sigv4
from tests.cluster.faults.daemon import Remote, running
from tests.cluster.lab import stores
from tests.cluster.lab.slot import Slot
from yarl import URL

Kind = Literal["unavailable", "slow", "lost-answer", "ignore-condition"]
_CONDITIONS = ("if-match", "if-none-match")
_HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "expect"}
_SIGNED_QUERY = re.compile(r"X-Amz-(Algorithm|Credential|Date|Expires|SignedHeaders|Signature)$")
_SLOW_DOWN = (
    '<?xml version="1.0"?><Error><Code>SlowDown</Code>'
    "<Message>Please reduce your request rate.</Message></Error>"
)


@dataclass
class Rule:
    """One fault.

    Attributes:
        kind: `unavailable` answers 503 SlowDown and does nothing; `slow` waits first;
            `lost-answer` lets the store do it, then breaks the connection; `ignore-condition`
            strips If-Match and If-None-Match, as a store without conditional writes does.
        method: a regular expression for the HTTP method.
        key: a regular expression found anywhere in the path.
        times: how many requests it takes; None for all.
        seconds: how long `slow` waits.
    """

    kind: Kind
    method: str = ".*"
    key: str = ""
    times: int | None = None
    seconds: float = 0.0

    def takes(self, method: str, path: str) -> bool:
        """Whether the rule applies to a request; counts it if so."""
        if self.times == 0 or not re.fullmatch(self.method, method):
            return False
        if not re.search(self.key, urllib.parse.unquote(path)):
            return False
        if self.times is not None:
            self.times -= 1
        return True


class S3Proxy:
    """The proxy in the cluster."""

    def __init__(self, remote: Remote) -> None:
        self._remote = remote
        self.ip = remote.ip
        self.endpoint = f"http://{remote.ip}:9000"

    def inject(self, kind: Kind, **which: str | int | float) -> None:
        """Add a rule; see `Rule` for `method`, `key`, `times` and `seconds`."""
        self._remote.order("rule", kind=kind, **which)

    def heal(self) -> None:
        """Drop all rules."""
        self._remote.order("heal")

    def requests(self) -> list[tuple[str, str, str]]:
        """All requests so far: method, path, and the fault that took it (or `none`)."""
        return [tuple(entry) for entry in self._remote.order("requests")["seen"]]


@contextmanager
def s3_proxy(slot: Slot, store: stores.Store | None = None) -> Iterator[S3Proxy]:
    """Run the proxy before a store (versitygw by default) while the block lasts."""
    upstream = (store or stores.versitygw(slot)).endpoint
    with running(slot, "faults.s3proxy", slot.s3_proxy_ip, port=9000, upstream=upstream) as remote:
        yield S3Proxy(remote)


class Proxy:
    """Forwards requests, and does to them what the rules say."""

    def __init__(self, upstream: str, session: aiohttp.ClientSession) -> None:
        self._upstream, self._session = upstream, session
        self._rules: list[Rule] = []
        self._seen: list[tuple[str, str, str]] = []

    async def add(self, order: dict[str, Any]) -> object:
        """Add a rule."""
        self._rules.append(Rule(**order))
        return {}

    async def heal(self, _: dict[str, Any]) -> object:
        """Drop all rules."""
        self._rules.clear()
        return {}

    async def requests(self, _: dict[str, Any]) -> object:
        """Tell what was asked for."""
        return {"seen": self._seen}

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one request."""
        raw = request.raw_path
        rule = next((r for r in self._rules if r.takes(request.method, request.path)), None)
        kind = rule.kind if rule else "none"
        self._seen.append((request.method, request.path, kind))
        if kind == "unavailable":
            return web.Response(status=503, text=_SLOW_DOWN, content_type="application/xml")
        body = await request.read()
        headers = {
            name.lower(): value
            for name, value in request.headers.items()
            if name.lower() not in _HOP_BY_HOP
        }
        if rule is not None and rule.kind == "slow":
            await asyncio.sleep(rule.seconds)
        if kind == "ignore-condition":
            raw, headers = _unconditional(request.method, raw, headers)
        answer = await self._forward(request.method, raw, headers, body)
        if kind == "lost-answer" and request.transport is not None:
            # The store has done it; the client only sees its connection break.
            request.transport.abort()
        return answer

    async def _forward(
        self, method: str, raw: str, headers: Mapping[str, str], body: bytes
    ) -> web.Response:
        url = URL(self._upstream + raw, encoded=True)
        async with self._session.request(
            method, url, headers=headers, data=body, allow_redirects=False
        ) as answer:
            kept = {
                name: value
                for name, value in answer.headers.items()
                if name.lower() not in _HOP_BY_HOP | {"content-length"}
            }
            data = await answer.read()
            if method == "HEAD":
                kept["Content-Length"] = answer.headers.get("Content-Length", "0")
            return web.Response(status=answer.status, headers=kept, body=data)


def _unconditional(method: str, raw: str, headers: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The request without its conditions, signed anew, since the old signature covered them."""
    path, _, query = raw.partition("?")
    pairs = urllib.parse.parse_qsl(query, keep_blank_values=True)
    kept = [(name, value) for name, value in pairs if not _SIGNED_QUERY.match(name)]
    bare = {name: value for name, value in headers.items() if name not in _CONDITIONS}
    keys = (stores.ACCESS_KEY, stores.SECRET_KEY)
    fresh = sigv4.signed(method, path, kept, bare, keys, datetime.now(UTC))
    return path + ("?" + urllib.parse.urlencode(kept) if kept else ""), fresh


async def main() -> None:
    """Forward requests, and obey orders."""
    words = serving.settings()
    async with aiohttp.ClientSession(auto_decompress=False) as session:
        proxy = Proxy(words["upstream"], session)
        app = web.Application(client_max_size=1 << 30)
        app.router.add_route("*", "/{path:.*}", proxy.handle)
        await serving.serve(app, words["listen"], words["port"])
        orders = {"rule": proxy.add, "heal": proxy.heal, "requests": proxy.requests}
        await serving.listen(words, orders)


if __name__ == "__main__":
    asyncio.run(main())
