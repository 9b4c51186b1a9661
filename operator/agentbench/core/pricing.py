"""Price lists (`agentbench.prices/v1`) and what a call costs by them, in exact decimals.

A price is a decimal text in US dollars per million tokens. A price that a model's entry leaves out
is one that its provider does not charge apart: a count that would need it has no price.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from agentbench.core.usage import Usage

PRICES_SCHEMA = "agentbench.prices/v1"
PER_TOKENS = 1_000_000
REQUIRED = ("input", "output")
OPTIONAL = ("cache_read", "cache_write_5m", "cache_write_1h", "search")
ABOUT = ("source", "date", "note")
COUNT_OF_PRICE = {
    "input": "input_uncached",
    "cache_read": "cache_read",
    "cache_write_5m": "cache_write_5m",
    "cache_write_1h": "cache_write_1h",
    "output": "output",
}
DECIMAL = re.compile(r"\d{1,9}(\.\d{1,9})?")
SNAPSHOT = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2})")
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


class PriceListError(ValueError):
    """A price list that cannot be used; the text names file, model, field, value and cure."""


class NoPrice(LookupError):
    """The price list cannot price this: a model that it does not name, or a count."""


class UnknownCount(ValueError):
    """A count that costs money was not reported, so the call's cost is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPrice:
    """One model's prices in US dollars per million tokens; `search` is for one web search."""

    input: Decimal
    output: Decimal
    cache_read: Decimal | None = None
    cache_write_5m: Decimal | None = None
    cache_write_1h: Decimal | None = None
    search: Decimal | None = None
    source: str = ""
    date: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class PriceList:
    """The frozen prices of a protocol, by model name."""

    models: Mapping[str, ModelPrice] = field(default_factory=dict)
    source: str = "prices"

    @classmethod
    def parse(cls, text: str, source: str) -> "PriceList":
        """Read a price list; `source` is the file's name, for errors.

        Raises:
            PriceListError: the text is no price list, or a price is no decimal text.
        """
        try:
            document = json.loads(text, object_pairs_hook=_once)
        except PriceListError as error:
            raise PriceListError(f"{source}: {error}") from None
        except (ValueError, RecursionError) as error:
            raise PriceListError(f"{source}: not JSON ({error}): mend the file") from error
        head = {"schema": PRICES_SCHEMA, "currency": "USD", "perTokens": PER_TOKENS}
        if not isinstance(document, dict):
            raise PriceListError(f"{source}: not an object: begin with {json.dumps(head)}")
        for name, wanted in head.items():
            if document.get(name) != wanted:
                found = document.get(name)
                raise PriceListError(f"{source}: {name} is {found!r}: set it to {wanted!r}")
        if extra := sorted(set(document) - {*head, "models"}):
            raise PriceListError(f"{source}: unknown field {extra[0]!r}: remove it")
        models = document.get("models")
        if not isinstance(models, dict) or not models:
            raise PriceListError(f"{source}: models is {models!r}: name at least one model")
        return cls({name: _model(source, name, entry) for name, entry in models.items()}, source)

    def price(self, model: str) -> ModelPrice:
        """The prices of a model, by its exact name.

        Raises:
            NoPrice: the list does not name the model.
        """
        try:
            return self.models[model]
        except KeyError:
            raise NoPrice(f"no price: {self.source} does not name model {model!r:.100}") from None

    def missing(self, models: Iterable[str]) -> tuple[str, ...]:
        """Those of the models that the list does not name, in their order, each once."""
        return tuple(dict.fromkeys(model for model in models if model not in self.models))

    def priced_name(self, requested: str, returned: str | None) -> str:
        """The name to price an answer by: the one that the API returned, if the list has it.

        A dated snapshot of the requested model (`m-20260101`, `m-2026-01-01`) is that model.

        Raises:
            NoPrice: another model answered, and the list does not name it.
        """
        name = requested if returned is None else returned
        snapshot = name.startswith(requested) and SNAPSHOT.fullmatch(name.removeprefix(requested))
        if snapshot and name not in self.models:
            name = requested
        self.price(name)
        return name

    def cost(self, model: str, usage: Usage, searches: int = 0) -> Decimal:
        """What these tokens and searches cost, in US dollars, exactly.

        Raises:
            NoPrice: the list does not name the model, or has no price for a count that is not 0.
            UnknownCount: a count is None that has a price above 0.
        """
        price = self.price(model)
        total = Decimal(0)
        for field_name, count_name in COUNT_OF_PRICE.items():
            amount: Decimal | None = getattr(price, field_name)
            tokens: int | None = getattr(usage, count_name)
            if tokens is None:
                if amount:
                    raise UnknownCount(f"{count_name} was not reported")
            elif tokens:
                if amount is None:
                    raise NoPrice(f"no price: {self.source} has no {field_name} for {model}")
                total += tokens * amount
        if searches and price.search is None:
            raise NoPrice(f"no price: {self.source} has no search for {model}")
        return total.scaleb(-6) + searches * (price.search or Decimal(0))


def dollars(value: Decimal) -> str:
    """An amount as a plain decimal text: no exponent, no trailing zeros."""
    return format(value.normalize() if value else Decimal(0), "f")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise PriceListError(f"{name!r} is there twice: keep one of them")
        found[name] = value
    return found


def _model(source: str, model: str, entry: Any) -> ModelPrice:
    where = f"{source}: model {model!r}"
    if not isinstance(entry, dict):
        raise PriceListError(f"{where} is {entry!r:.80}: make it an object with input and output")
    if extra := sorted(set(entry) - {*REQUIRED, *OPTIONAL, *ABOUT}):
        raise PriceListError(f"{where}: unknown field {extra[0]!r}: remove it or mend its name")
    if missing := [name for name in (*REQUIRED, "source", "date") if name not in entry]:
        raise PriceListError(f"{where}: {missing[0]} is missing: add it")
    for name in ABOUT:
        if not isinstance(entry.get(name, ""), str):
            raise PriceListError(f"{where}: {name} is {entry[name]!r:.80}: make it a text")
    if not DATE.fullmatch(entry["date"]):
        raise PriceListError(f"{where}: date is {entry['date']!r}: write it as YYYY-MM-DD")
    prices = {n: _price(where, n, entry[n]) for n in (*REQUIRED, *OPTIONAL) if n in entry}
    return ModelPrice(**prices, **{name: entry[name] for name in ABOUT if name in entry})


def _price(where: str, name: str, value: Any) -> Any:
    if not isinstance(value, str) or not DECIMAL.fullmatch(value):
        raise PriceListError(
            f"{where}: {name} is {value!r:.80}: write a decimal of 0 or more in quotes, "
            'such as "2.50"'
        )
    return Decimal(value)
