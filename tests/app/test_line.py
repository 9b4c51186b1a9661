"""An outage of a store costs one question per look, and is over when the store answers."""

import asyncio

import pytest

from agentbench.app import line as lines
from agentbench.app.line import AT_ONCE, Line
from agentbench.store.port import Conflict, Entry, StoreError, Unreachable


class Shop:
    """A store of which a test decides how it answers."""

    def __init__(self) -> None:
        self.error: StoreError | None = Unreachable("no answer")
        self.asked = 0

    def read(self, key: str) -> Entry | None:
        self.asked += 1
        if self.error is not None:
            raise self.error
        return None


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LOOK", 0.0)


def open_line() -> tuple[Line, Shop]:
    shop = Shop()
    return Line(shop), shop  # type: ignore[arg-type]


async def fails(line: Line, shop: Shop) -> str:
    with pytest.raises(StoreError) as error:
        await line.ask(shop.read, "key")
    return str(error.value)


def test_of_many_calls_to_a_store_that_is_down_only_the_first_few_are_made() -> None:
    async def scenario() -> None:
        line, shop = open_line()
        said = await asyncio.gather(*(fails(line, shop) for _ in range(100)))
        assert set(said) == {"no answer"}
        assert shop.asked <= AT_ONCE
        await line.look_again("key")
        assert shop.asked <= AT_ONCE + 1
        assert isinstance(line.down, Unreachable)

    asyncio.run(scenario())


def test_it_is_up_again_when_it_answers() -> None:
    async def scenario() -> None:
        line, shop = open_line()
        await fails(line, shop)
        shop.error = None
        await line.look_again("key")
        assert line.down is None
        assert await line.ask(shop.read, "key") is None

    asyncio.run(scenario())


def test_a_refusal_that_needs_a_person_keeps_its_kind() -> None:
    async def scenario() -> None:
        line, shop = open_line()
        shop.error = StoreError("AccessDenied")
        await fails(line, shop)
        assert type(line.down) is StoreError

    asyncio.run(scenario())


def test_an_answer_is_no_failure() -> None:
    async def scenario() -> None:
        line, shop = open_line()
        shop.error = Conflict("other content")
        await fails(line, shop)
        assert line.down is None

    asyncio.run(scenario())


def test_a_store_that_is_down_is_not_asked_at_every_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LOOK", 60.0)

    async def scenario() -> None:
        line, shop = open_line()
        await fails(line, shop)
        asked = shop.asked
        for _ in range(10):
            await line.look_again("key")
        assert shop.asked <= asked + 1

    asyncio.run(scenario())
