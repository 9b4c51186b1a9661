"""What the proxy must know of a request before it lets it out; anything it cannot meter is refused.

A request is refused when its price is not in the price list: an unknown model, a paid tool that
the provider runs itself, another service tier, an answer that is fetched later.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agentbench.core.calls import Api
from agentbench.core.pricing import NoPrice, PriceList
from agentbench.core.provider_errors import Fault

# Tools that the provider runs and bills apart from tokens.
PAID_TOOLS = re.compile(
    r"(web_search|code_interpreter|file_search|image_generation|code_execution)"
    r"(_.*)?"
)
SEARCH_TOOLS = re.compile(r"web_search(_.*)?")
PLAIN_TIERS = frozenset({"auto", "default", "standard", "standard_only"})
# What a body may hold, so that reading it takes little memory. A million tokens hold less.
MAX_CONTAINERS = 400_000
MAX_SEPARATORS = 2_000_000
ONE_HOUR = re.compile(rb'"ttl"\s*:\s*"1h"')


class RequestFault(ValueError):
    """A request that must not go out; `fault` and the text tell the agent why."""

    def __init__(self, fault: Fault, message: str, model: str = "") -> None:
        super().__init__(message)
        self.fault = fault
        self.model = model


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """What metering needs to know of a request."""

    model: str
    streamed: bool
    one_hour_cache: bool


def read_request(api: Api, body: bytes, prices: PriceList) -> ModelRequest:
    """Read a request's body.

    Raises:
        RequestFault: it is malformed, or holds what cannot be priced. `UNKNOWN_MODEL` means that
            the price list does not name its model.
    """
    document = _document(body)
    model = document.get("model")
    if not isinstance(model, str) or not model:
        raise RequestFault(Fault.BAD_REQUEST, f"model: {model!r:.80} is not a model's name")
    try:
        price = prices.price(model)
    except NoPrice as error:
        raise RequestFault(Fault.UNKNOWN_MODEL, f"model: {error}", model) from error
    _refuse_unmeterable(document)
    for kind in _tool_kinds(document):
        if not PAID_TOOLS.fullmatch(kind):
            continue
        if api is Api.CHAT or not SEARCH_TOOLS.fullmatch(kind) or price.search is None:
            raise RequestFault(
                Fault.BAD_REQUEST,
                f"tools: {kind:.80} runs at the provider and costs money that the price list of "
                "this run does not know: switch it off in the agent's settings",
            )
    return ModelRequest(
        model=model,
        streamed=document.get("stream") is True,
        one_hour_cache=api is Api.MESSAGES and ONE_HOUR.search(body) is not None,
    )


def _document(body: bytes) -> Mapping[str, Any]:
    containers = body.count(b"{") + body.count(b"[")
    if containers > MAX_CONTAINERS or body.count(b",") > MAX_SEPARATORS:
        raise RequestFault(Fault.TOO_LARGE, "the request body holds too many objects or values")
    try:
        document = json.loads(body, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise RequestFault(
            Fault.BAD_REQUEST, f"the request body is not valid JSON: {error!s:.200}"
        ) from None
    if not isinstance(document, dict):
        raise RequestFault(Fault.BAD_REQUEST, "the request body is not a JSON object")
    return document


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, each of whose names is there once: else the provider might read the other one."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object has the same name twice")
    return found


def _refuse_unmeterable(document: Mapping[str, Any]) -> None:
    if document.get("background"):
        raise RequestFault(
            Fault.BAD_REQUEST, "background: an answer that is fetched later cannot be metered"
        )
    tier = document.get("service_tier")
    if tier is not None and not (isinstance(tier, str) and tier in PLAIN_TIERS):
        raise RequestFault(
            Fault.BAD_REQUEST,
            f"service_tier: the price list of this run has no prices for tier {tier!r:.40}",
        )
    if document.get("speed") not in (None, "standard"):
        raise RequestFault(
            Fault.BAD_REQUEST, "speed: the price list of this run has no prices for another speed"
        )


def _tool_kinds(document: Mapping[str, Any]) -> Iterator[str]:
    """The types of every tool on offer, also of those that stand in input items."""
    offers = [document.get("tools")]
    items = document.get("input")
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict) and item.get("type") == "additional_tools":
            offers.append(item.get("tools"))
    for offer in offers:
        for tool in offer if isinstance(offer, list) else ():
            if isinstance(tool, dict) and isinstance(kind := tool.get("type"), str):
                yield kind
    if document.get("web_search_options") is not None:
        yield "web_search_options"
