import time
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path

import pytest
from tests.fakes.metering import CLAUDE, GPT, a_price_list, a_start, an_end

from agentbench.agents.port import ToolCount
from agentbench.core.calls import Api, CallEnd, Failure, FinishedCall
from agentbench.core.summary import Ending
from agentbench.core.usage import Reading, Usage
from agentbench.pod.warden.ledger import MAX_REFUSALS, Ledger
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


async def test_a_cut_stream_makes_counts_unavailable_and_the_cost_derived() -> None:
    meter = a_meter("5")
    await spend(meter, "0.10")
    async with meter.call(a_start(model=GPT, api=Api.RESPONSES, size=4_000)) as slot:
        reading = Reading(model=GPT, text_bytes=401, started=True)
        slot.settle(CallEnd(status=200, reading=reading, failure=Failure.CUT))
    measures = meter.measures()
    output = measures["output"]
    assert (output.value, output.availability) == (None, Availability.UNAVAILABLE)
    assert output.reason == "1 of 2 calls: the answer was cut before its usage"
    cost = measures["cost_usd"]
    # 1,000 tokens of input at 1.25 and 101 of output at 10 dollars a million.
    assert Decimal(str(cost.value)) == Decimal("0.10") + Decimal("0.00226")
    assert cost.availability is Availability.DERIVED
    assert cost.reason == "1 of 2 calls: the answer was cut before its usage"


async def test_a_cut_stream_that_told_its_input_is_priced_by_it() -> None:
    meter = a_meter()
    usage = Usage(input_uncached=6, cache_read=90_000, cache_write_5m=2_000, cache_write_1h=0)
    async with meter.call(a_start(size=1_000_000)) as slot:
        reading = Reading(usage=usage, model=CLAUDE, text_bytes=400, started=True)
        slot.settle(CallEnd(status=200, reading=reading, failure=Failure.CUT))
    measures = meter.measures()
    assert measures["cost_usd"].value == "0.015012"
    assert measures["cache_read"].value == 90_000
    assert measures["output"].value is None


async def test_refused_and_unreached_calls_cost_nothing_and_hide_no_counts() -> None:
    meter = a_meter()
    for end in (
        CallEnd(status=529, failure=Failure.STATUS),
        CallEnd(failure=Failure.CONNECT),
        CallEnd(status=400, failure=Failure.STATUS),
    ):
        async with meter.call(a_start()) as slot:
            slot.settle(end)
    measures = meter.measures()
    assert measures["cost_usd"].value == "0"
    assert measures["cost_usd"].availability is Availability.MEASURED
    assert measures["output"].value == 0
    assert measures["model_calls"].value == 3
    assert measures["model_call_failures"].value == 3


async def test_a_model_that_answers_without_a_price_makes_the_cost_unavailable_and_ends_it() -> (
    None
):
    meter = a_meter("5")
    unpriced: list[str] = []
    meter.on_unpriced = unpriced.append
    async with meter.call(a_start()) as slot:
        slot.settle(an_end("0.01", model="claude-opus-9"))
    cost = meter.measures()["cost_usd"]
    assert (cost.value, cost.availability) == (None, Availability.UNAVAILABLE)
    assert cost.reason is not None
    assert cost.reason.startswith("no price")
    assert unpriced == ["claude-opus-9"]
    assert meter.evidence(Ending.FINISHED).unpriced_models == ("claude-opus-9",)
    with pytest.raises(Refused, match="no price"):
        await spend(meter, "0.01")


@pytest.mark.parametrize(
    ("ends", "trailing", "outage"),
    [
        (["ok", 529, 529, 529], 3, True),
        ([529, 529, "ok"], 0, False),
        (["ok", "connect", 500], 2, True),
        (["ok", 429, 429], 0, False),
        (["ok", 500, 400], 1, True),
        (["ok", "abandoned"], 0, False),
    ],
)
async def test_an_outage_is_failures_of_the_provider_that_ended_the_attempt(
    ends: list[str | int], trailing: int, outage: bool
) -> None:
    meter = a_meter()
    for kind in ends:
        async with meter.call(a_start()) as slot:
            if kind == "ok":
                slot.settle(an_end())
            elif isinstance(kind, int):
                slot.settle(CallEnd(status=kind, failure=Failure.STATUS))
            else:
                slot.settle(CallEnd(failure=Failure(kind)))
    evidence = meter.evidence(Ending.FAILED)
    assert (evidence.trailing_failures, evidence.outage) == (trailing, outage)
    assert not meter.evidence(Ending.FINISHED).outage
    assert evidence.calls == len(ends)


async def test_names_of_models_are_kept_in_order_and_bounded() -> None:
    meter = a_meter()
    for number in range(100):
        async with meter.call(a_start()) as slot:
            slot.settle(an_end("0", model=f"{CLAUDE}-202601{number:02}"))
    assert len(meter.models) == 32
    assert meter.models[0] == f"{CLAUDE}-20260100"


async def test_a_change_of_the_machines_clock_touches_no_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wall() -> float:
        raise AssertionError("the meter asked for the time of day")

    monkeypatch.setattr(time, "time", wall)
    monkeypatch.setattr(time, "time_ns", wall)
    seconds = iter([100.0, 107.25, 109.0, 120.0])
    ledger = Ledger(tmp_path / "usage.jsonl")
    meter = a_meter(clock=lambda: next(seconds), ledger=ledger)
    await spend(meter, "0.01")
    ledger.close()
    assert '"at":7.25,' in (tmp_path / "usage.jsonl").read_text()


async def test_observers_are_told_of_each_call() -> None:
    seen: list[FinishedCall] = []

    class Watching:
        def call_finished(self, call: FinishedCall) -> None:
            seen.append(call)

    meter = a_meter(observers=[Watching()])
    await spend(meter, "0.01")
    await spend(meter, "0.02")
    assert [call.number for call in seen] == [1, 2]
    assert [call.charge.cost for call in seen] == [Decimal("0.01"), Decimal("0.02")]


def test_a_flood_of_refusals_does_not_fill_the_disk(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "usage.jsonl")
    for _ in range(MAX_REFUSALS + 5):
        ledger.refusal({"status": 404})
    ledger.close()
    lines = (tmp_path / "usage.jsonl").read_text().splitlines()
    assert len(lines) == MAX_REFUSALS + 1
    assert '"refusals":5' in lines[-1]


def test_a_disk_that_is_full_does_not_stop_the_counting() -> None:
    ledger = Ledger(Path("/dev/full"))
    ledger.call({"number": 1})
    assert ledger.lost == "usage ledger: No space left on device"
    ledger.close()
