import asyncio
import time
from collections.abc import Callable, Sequence
from decimal import Decimal

import pytest
from tests.fakes.metering import a_price_list, a_start, an_end, until

from agentbench.agents.port import ToolCount
from agentbench.core.calls import CallEnd
from agentbench.core.summary import Cap
from agentbench.core.usage import Reading
from agentbench.pod.warden.ledger import Ledger
from agentbench.pod.warden.meter import Meter, Observer, Refused
from agentbench_analysis.rows.words import Availability


def a_meter(
    cap: str | None = None,
    *,
    tool_cap: int | None = None,
    tool_count: ToolCount = ToolCount.HOOK,
    ledger: Ledger | None = None,
    clock: Callable[[], float] = time.monotonic,
    observers: Sequence[Observer] = (),
) -> Meter:
    return Meter(
        prices=a_price_list(),
        cost_cap=None if cap is None else Decimal(cap),
        tool_cap=tool_cap,
        tool_count=tool_count,
        ledger=ledger,
        clock=clock,
        observers=observers,
    )


async def spend(meter: Meter, cost: str) -> None:
    async with meter.call(a_start()) as slot:
        slot.settle(an_end(cost))


async def test_the_call_that_crosses_the_cap_is_finished_and_every_later_one_refused() -> None:
    meter = a_meter("5")
    caps: list[Cap] = []
    meter.on_cap = caps.append
    await spend(meter, "4.80")
    assert caps == []
    await spend(meter, "0.60")
    assert caps == [Cap.COST]
    for _ in range(3):
        with pytest.raises(Refused, match=r"run budget exhausted: 5\.4 of 5 US dollars spent"):
            await spend(meter, "0.01")
    measures = meter.measures()
    assert measures["cost_usd"].value == "5.4"
    assert measures["cost_overshoot_usd"].value == "0.4"
    assert measures["model_calls"].value == 2
    assert meter.caps_hit == (Cap.COST,)
    assert caps == [Cap.COST]


async def test_of_two_parallel_calls_near_the_cap_one_goes_out_and_the_other_is_refused() -> None:
    meter = a_meter("5")
    await spend(meter, "4.95")
    first = meter.call(a_start())
    async with first:
        second = asyncio.create_task(spend(meter, "0.10"))
        await until(lambda: meter.waiting == 1)
        assert meter.in_flight == 1
        first.settle(an_end("0.10"))
    with pytest.raises(Refused, match="budget exhausted"):
        await second
    assert meter.measures()["cost_usd"].value == "5.05"


async def test_a_waiting_call_goes_out_when_there_is_room_again() -> None:
    meter = a_meter("5")
    await spend(meter, "2.40")
    first = meter.call(a_start())
    async with first:
        second = asyncio.create_task(spend(meter, "0.10"))
        await until(lambda: meter.waiting == 1)
        first.settle(an_end("0.01"))
    await second
    assert meter.spent == Decimal("2.51")


async def test_waiting_calls_go_out_in_the_order_in_which_they_came() -> None:
    meter = a_meter("5")
    await spend(meter, "2.40")
    order: list[int] = []

    async def one(number: int) -> None:
        async with meter.call(a_start()) as slot:
            order.append(number)
            await asyncio.sleep(0)
            slot.settle(an_end("0.01"))

    first = meter.call(a_start())
    async with first:
        tasks = [asyncio.create_task(one(number)) for number in range(5)]
        await until(lambda: meter.waiting == 5)
        first.settle(an_end("0.01"))
    await asyncio.gather(*tasks)
    assert order == [0, 1, 2, 3, 4]


async def test_a_call_given_up_while_it_waits_leaves_its_place_to_the_next() -> None:
    meter = a_meter("5")
    await spend(meter, "2.40")
    first = meter.call(a_start())
    async with first:
        given_up = asyncio.create_task(spend(meter, "0.10"))
        await until(lambda: meter.waiting == 1)
        patient = asyncio.create_task(spend(meter, "0.10"))
        await until(lambda: meter.waiting == 2)
        given_up.cancel()
        first.settle(an_end("0.01"))
    await patient
    await asyncio.gather(given_up, return_exceptions=True)
    assert given_up.cancelled()
    assert meter.in_flight == 0
    assert meter.waiting == 0


async def test_a_call_given_up_in_the_moment_it_is_let_out_does_not_stay_out() -> None:
    meter = a_meter("5")
    await spend(meter, "2.40")
    first = meter.call(a_start())
    async with first:
        given_up = asyncio.create_task(spend(meter, "0.10"))
        await until(lambda: meter.waiting == 1)
        first.settle(an_end("0.01"))
        assert meter.in_flight == 1
        given_up.cancel()
        await asyncio.gather(given_up, return_exceptions=True)
    assert meter.in_flight == 0


async def test_closing_the_meter_refuses_those_that_wait() -> None:
    meter = a_meter("5")
    await spend(meter, "2.40")
    first = meter.call(a_start())
    async with first:
        waiting = asyncio.create_task(spend(meter, "0.10"))
        await until(lambda: meter.waiting == 1)
        meter.close("wall cap reached")
        with pytest.raises(Refused, match="wall cap reached"):
            await waiting
        first.settle(an_end("0.10"))
    assert meter.measures()["cost_usd"].value == "2.5"


async def test_a_call_that_was_never_sent_is_not_counted() -> None:
    meter = a_meter("5")
    async with meter.call(a_start()):
        pass
    assert meter.measures()["model_calls"].value == 0
    assert meter.in_flight == 0


async def test_tool_call_400_is_allowed_and_401_is_not() -> None:
    meter = a_meter(tool_cap=400)
    caps: list[Cap] = []
    meter.on_cap = caps.append
    assert all(meter.allow_tool() for _ in range(400))
    assert caps == []
    assert not meter.allow_tool()
    assert not meter.allow_tool()
    assert caps == [Cap.TOOL_CALLS]
    measure = meter.measures()["tool_calls"]
    assert (measure.value, measure.availability) == (400, Availability.MEASURED)
    with pytest.raises(Refused, match="tool-call cap reached"):
        await spend(meter, "0.01")


async def test_of_20_parallel_tool_calls_at_count_399_one_is_allowed() -> None:
    meter = a_meter(tool_cap=400)
    for _ in range(399):
        meter.allow_tool()

    async def ask() -> bool:
        await asyncio.sleep(0)
        return meter.allow_tool()

    answers = await asyncio.gather(*(ask() for _ in range(20)))
    assert sum(answers) == 1
    assert meter.measures()["tool_calls"].value == 400


async def test_tool_calls_seen_in_answers_are_derived_and_one_beyond_the_cap_ends_the_run() -> None:
    meter = a_meter(tool_cap=400, tool_count=ToolCount.PROXY)
    for calls in (399, 1):
        async with meter.call(a_start()) as slot:
            reading = Reading(usage=an_end().reading.usage, complete=True, tool_calls=calls)
            slot.settle(CallEnd(status=200, reading=reading))
    assert not meter.caps_hit
    async with meter.call(a_start()) as slot:
        slot.settle(CallEnd(status=200, reading=Reading(tool_calls=3)))
    assert meter.caps_hit == (Cap.TOOL_CALLS,)
    measure = meter.measures()["tool_calls"]
    assert (measure.value, measure.availability) == (403, Availability.DERIVED)
    assert "no pre-tool hook" in str(measure.reason)
