"""Which headers pass the model proxy, and which stay behind."""

from collections.abc import Iterable

from multidict import CIMultiDict, CIMultiDictProxy

from agentbench.core.calls import Provider

HOP_BY_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
# The client's own credentials go no further, whatever they are; the rest is set anew.
NOT_FORWARDED = frozenset(
    {
        "accept-encoding",
        "authorization",
        "content-length",
        "cookie",
        "expect",
        "host",
        "x-api-key",
        "x-goog-api-key",
        "api-key",
    }
)


def upstream_headers(
    client: CIMultiDictProxy[str], provider: Provider, key: str
) -> CIMultiDict[str]:
    """The client's headers as the provider gets them: the real key, and no compression."""
    headers = _passing(client.items(), _named(client) | HOP_BY_HOP | NOT_FORWARDED)
    headers["accept-encoding"] = "identity"
    if provider is Provider.ANTHROPIC:
        headers["x-api-key"] = key
    else:
        headers["authorization"] = f"Bearer {key}"
    return headers


def client_headers(provider: CIMultiDictProxy[str], key: str) -> CIMultiDict[str]:
    """The provider's headers as the client gets them; one that shows the key stays behind."""
    headers = _passing(provider.items(), _named(provider) | HOP_BY_HOP)
    if key:
        for name in [name for name, value in headers.items() if key in value]:
            headers.popall(name, None)
    return headers


def _named(headers: CIMultiDictProxy[str]) -> frozenset[str]:
    """The headers that a Connection header declares to be for this hop alone."""
    return frozenset(
        name.strip().lower()
        for value in headers.getall("connection", ())
        for name in value.split(",")
    )


def _passing(items: Iterable[tuple[str, str]], stopped: frozenset[str]) -> CIMultiDict[str]:
    return CIMultiDict((name, value) for name, value in items if name.lower() not in stopped)
