import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.metering import CLAUDE, CLAUDE_PRICE, GPT, a_price_list, price_document

from agentbench.core.pricing import NoPrice, PriceList, PriceListError, UnknownCount, dollars
from agentbench.core.usage import Usage

FOUR_PRICES = Usage(
    input_uncached=6, cache_read=90_000, cache_write_5m=2_000, cache_write_1h=0, output=250
)


def test_a_call_costs_the_sum_of_its_counts_at_their_own_prices() -> None:
    assert a_price_list().cost(CLAUDE, FOUR_PRICES) == Decimal("0.016512")


def test_reasoning_is_not_paid_again() -> None:
    usage = Usage(input_uncached=2_000, cache_read=8_000, output=500, reasoning=300)
    assert a_price_list().cost(GPT, usage) == Decimal("0.0085")


def test_no_fraction_of_a_cent_is_lost_over_many_calls() -> None:
    one = a_price_list().cost(
        CLAUDE, Usage(input_uncached=1, cache_read=1, cache_write_5m=1, cache_write_1h=1, output=1)
    )
    assert sum([one] * 100_000, Decimal(0)) == one * 100_000 == Decimal("1.86")


def test_a_model_without_a_price_is_never_free() -> None:
    with pytest.raises(NoPrice, match=r"prices\.json does not name model 'gpt-6\.1-sol'"):
        a_price_list().cost("gpt-6.1-sol", FOUR_PRICES)


def test_a_count_without_a_price_is_never_free() -> None:
    usage = Usage(input_uncached=1, cache_read=0, cache_write_5m=7, output=1)
    with pytest.raises(NoPrice, match=r"has no cache_write_5m for gpt-5\.5"):
        a_price_list().cost(GPT, usage)


def test_a_search_without_a_price_is_never_free() -> None:
    with pytest.raises(NoPrice, match="has no search"):
        a_price_list().cost(CLAUDE, FOUR_PRICES, searches=1)


def test_a_search_is_paid_apiece() -> None:
    document = price_document() | {"models": {CLAUDE: CLAUDE_PRICE | {"search": "0.01"}}}
    prices = PriceList.parse(json.dumps(document), "prices.json")
    assert prices.cost(CLAUDE, FOUR_PRICES, searches=3) == Decimal("0.046512")


def test_a_count_that_costs_money_and_was_not_reported_leaves_the_cost_unknown() -> None:
    with pytest.raises(UnknownCount, match="output was not reported"):
        a_price_list().cost(
            CLAUDE, Usage(input_uncached=1, cache_read=0, cache_write_5m=0, cache_write_1h=0)
        )


def test_a_count_that_is_not_billed_may_be_unreported() -> None:
    usage = Usage(input_uncached=1_000_000, cache_read=0, output=0)
    assert a_price_list().cost(GPT, usage) == Decimal("1.25")


@pytest.mark.parametrize(
    ("returned", "name"),
    [(None, GPT), (GPT, GPT), ("gpt-5.5-2026-08-01", GPT), ("gpt-5.5-20260801", GPT)],
)
def test_a_dated_snapshot_has_the_price_of_its_model(returned: str | None, name: str) -> None:
    assert a_price_list().priced_name(GPT, returned) == name


@pytest.mark.parametrize("returned", ["gpt-5.5-mini", "gpt-5.5-pro-20260801", "other"])
def test_another_model_that_answered_has_no_price(returned: str) -> None:
    with pytest.raises(NoPrice):
        a_price_list().priced_name(GPT, returned)


def test_an_answer_of_another_priced_model_is_priced_as_that_model() -> None:
    assert a_price_list().priced_name(GPT, CLAUDE) == CLAUDE


def broken(**change: Any) -> str:
    document = price_document() | {"models": {CLAUDE: CLAUDE_PRICE | change}}
    return json.dumps(document)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (broken(input="-2"), r"p\.json: model 'claude-sonnet-5-5': input is '-2': write a decimal"),
        (broken(output=10.0), r"output is 10\.0: write a decimal of 0 or more in quotes"),
        (broken(cache_read="free"), "cache_read is 'free'"),
        (broken(cache_read="1e3"), "cache_read is '1e3'"),
        (broken(cache_read="NaN"), "cache_read is 'NaN'"),
        (broken(cache_read=None), "cache_read is None"),
        (broken(inptu="1"), "unknown field 'inptu': remove it"),
        (broken(date="yesterday"), "date is 'yesterday': write it as YYYY-MM-DD"),
        (broken(source=3), "source is 3: make it a text"),
        (json.dumps(price_document() | {"models": {"m": {"input": "1"}}}), "output is missing"),
        (json.dumps(price_document() | {"models": {"m": []}}), "make it an object"),
        (json.dumps(price_document() | {"models": {}}), "name at least one model"),
        (json.dumps(price_document() | {"currency": "EUR"}), "currency is 'EUR': set it to 'USD'"),
        (json.dumps(price_document() | {"perTokens": 1000}), "perTokens is 1000"),
        (json.dumps(price_document() | {"more": 1}), "unknown field 'more'"),
        ('{"models": {"a": {}, "a": {}}}', "p.json: 'a' is there twice: keep one"),
        ("[]", "not an object"),
        ("{", "not JSON"),
    ],
)
def test_a_bad_price_file_names_model_field_value_and_cure(text: str, said: str) -> None:
    with pytest.raises(PriceListError, match=said):
        PriceList.parse(text, "p.json")


def test_amounts_are_plain_decimal_texts() -> None:
    texts = [dollars(Decimal(text)) for text in ("5.40", "0.0000001", "1E+3", "0E-9", "0.016512")]
    assert texts == ["5.4", "0.0000001", "1000", "0", "0.016512"]


def test_the_price_list_of_the_protocol_parses_and_has_what_was_measured() -> None:
    path = Path("locks/prices.json")
    prices = PriceList.parse(path.read_text(), str(path))
    price = prices.price(CLAUDE)
    assert (price.input, price.output) == (Decimal(2), Decimal(10))
    assert (price.cache_write_5m, price.cache_read) == (Decimal("2.5"), Decimal("0.1"))
    assert "gpt-6.1-sol" not in prices.models
