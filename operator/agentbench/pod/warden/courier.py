"""Sends requests to the providers, and says how far one got that was not answered."""

import io
from dataclasses import dataclass

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from agentbench.core.calls import Failure

MIB = 1024 * 1024
BROKEN = (aiohttp.ClientError, ConnectionError, TimeoutError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """An HTTP proxy on the way to every upstream; `authorization` is its credential's header."""

    url: str
    authorization: str | None = None

    @classmethod
    def parse(cls, text: str) -> "Gateway":
        """A gateway from a URL, which may hold the credential: `http://name:secret@host:3128`."""
        url = URL(text)
        if url.user is None:
            return cls(url=text)
        credential = aiohttp.encode_basic_auth(url.user, url.password or "")
        return cls(url=str(url.with_user(None)), authorization=credential)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyLimits:
    """Bounds of the proxy. Sizes in bytes, times in seconds.

    Attributes:
        body: of a request.
        buffered: of all requests together that wait for their turn or for their answer.
        requests: at once; a number of them, not a size.
        connections: that may be open at once; a number.
        event: of one event of a stream, or of a whole JSON answer, to be counted.
        connect: until the provider's connection stands.
        idle: of silence from the provider, before and inside an answer.
        client_stall: for which the client may not read; then it is taken as gone.
        drain: for reading on after the client went away.
    """

    body: int = 32 * MIB
    buffered: int = 64 * MIB
    requests: int = 256
    connections: int = 512
    event: int = 32 * MIB
    connect: float = 30.0
    idle: float = 600.0
    client_stall: float = 60.0
    drain: float = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A request as the provider gets it: by a Unix socket, directly, or by the gateway."""

    method: str
    url: URL
    headers: CIMultiDict[str]
    body: bytes
    key: str
    socket: str | None = None
    direct: bool = False


class NotReached(RuntimeError):
    """No response head came; `failure` says how far the call got."""

    def __init__(self, failure: Failure, message: str, silent: bool) -> None:
        super().__init__(message)
        self.failure = failure
        self.silent = silent


class Courier:
    """Sends requests to the providers, over the gateway if there is one."""

    def __init__(self, limits: ProxyLimits, gateway: Gateway | None = None) -> None:
        self._limits = limits
        self._proxy = None if gateway is None else URL(gateway.url)
        self._proxy_headers = (
            {"Proxy-Authorization": gateway.authorization}
            if gateway is not None and gateway.authorization
            else None
        )
        self._sessions: dict[str | None, aiohttp.ClientSession] = {}

    def _session(self, socket: str | None) -> aiohttp.ClientSession:
        """The session of a Unix socket, or of the network."""
        if socket not in self._sessions:
            connector = (
                aiohttp.TCPConnector(limit=0)
                if socket is None
                else aiohttp.UnixConnector(socket, limit=0)
            )
            self._sessions[socket] = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
                timeout=aiohttp.ClientTimeout(
                    total=None, sock_connect=self._limits.connect, sock_read=self._limits.idle
                ),
                # Long header lines are the provider's to send.
                max_line_size=65_536,
                max_field_size=65_536,
            )
        return self._sessions[socket]

    async def send(self, outgoing: Outgoing) -> aiohttp.ClientResponse:
        """Send a request and wait for the response head.

        Raises:
            NotReached: none came.
        """
        # A large body is handed over as a file, which the client library sends in pieces.
        large = len(outgoing.body) > MIB
        # Without TLS there is no tunnel: the gateway reads its credential in the request itself.
        direct = outgoing.direct or outgoing.socket is not None
        proxy = None if direct else self._proxy
        credential = None if direct else self._proxy_headers
        plain = credential is not None and outgoing.url.scheme == "http"
        if plain:
            outgoing.headers.update(credential or {})
        try:
            return await self._session(outgoing.socket).request(
                outgoing.method,
                outgoing.url,
                data=io.BytesIO(outgoing.body) if large else outgoing.body or None,
                headers=outgoing.headers,
                allow_redirects=False,
                proxy=proxy,
                proxy_headers=None if plain else credential,
            )
        except (aiohttp.ClientConnectorError, aiohttp.ClientHttpProxyError) as error:
            raise NotReached(Failure.CONNECT, _said(error), silent=False) from None
        except aiohttp.ConnectionTimeoutError as error:
            raise NotReached(Failure.CONNECT, _said(error), silent=True) from None
        except TimeoutError as error:
            raise NotReached(Failure.NO_ANSWER, _said(error), silent=True) from None
        except BROKEN as error:
            raise NotReached(Failure.NO_ANSWER, _said(error), silent=False) from None

    async def close(self) -> None:
        """Close every connection."""
        for session in self._sessions.values():
            await session.close()


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:300]
