"""Which requests the model proxy serves, by method and path."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from agentbench.core.calls import Api, Provider
from agentbench.core.provider_errors import Fault

METERED: Mapping[str, Api] = {
    "/v1/messages": Api.MESSAGES,
    "/v1/responses": Api.RESPONSES,
    "/v1/responses/compact": Api.RESPONSES,
    "/v1/chat/completions": Api.CHAT,
}
# The providers bill nothing for these; they are passed on and not counted.
FREE: Mapping[str, str] = {"/v1/messages/count_tokens": "POST", "/v1/models": "GET"}
ONE_MODEL = re.compile(r"/v1/models/(?!\.)[A-Za-z0-9._:-]{1,200}")
# Agents ask these to see whether the base URL is alive; the proxy answers by itself.
PROBES = frozenset({"/", "/api/hello"})


@dataclass(frozen=True, slots=True)
class Route:
    """Where a request goes: to a metered API, or on for nothing, or to no place (`fault`)."""

    provider: Provider
    api: Api | None = None
    probe: bool = False
    fault: Fault | None = None


def route(method: str, path: str, headers: Mapping[str, str]) -> Route:
    """Find a request's route by its path as it was sent, without the query.

    Nothing is decoded or resolved, so that the provider cannot read another path in it. The headers
    tell whose shape of error an unknown path gets.
    """
    if (api := METERED.get(path)) is not None:
        fault = None if method == "POST" else Fault.WRONG_METHOD
        return Route(api.provider, api, fault=fault)
    provider = (
        Provider.ANTHROPIC
        if "anthropic-version" in headers or "x-api-key" in headers or "/messages" in path
        else Provider.OPENAI
    )
    if path in PROBES and method in ("GET", "HEAD"):
        return Route(provider, probe=True)
    wanted = FREE.get("/v1/models" if ONE_MODEL.fullmatch(path) else path)
    if wanted is None:
        return Route(provider, fault=Fault.UNKNOWN_PATH)
    return Route(provider, fault=None if method == wanted else Fault.WRONG_METHOD)
