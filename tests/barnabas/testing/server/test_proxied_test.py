"""What a test holds, and what is waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.loop import run
from barnabas.proxy.network.options import Options
from barnabas.testing.server import proxied_test as limits
from barnabas.testing.server.proxied_test import EndedTooEarly, ExchangesDropped, ProxiedTest

SECONDS = 20.0


def in_a_test(do: Callable[[ProxiedTest], Coroutine[Any, Any, None]]) -> None:
    async def main() -> None:
        test = ProxiedTest("1", "", Options([("127.0.0.1", 1)], drain=0.0), None, None, 0.0)
        await test.proxy.start()
        await do(test)
        await test.end("asked to")

    run(main())


def passes(test: ProxiedTest, *numbers: int) -> None:
    for number in numbers:
        test.history.add(Exchange(number, 1, "", "me", None, 12, 1, number, 12))


def even(exchange: Exchange) -> bool:
    return exchange.correlation_id % 2 == 0


def ids(found: list[Exchange]) -> list[int]:
    return [each.correlation_id for each in found]


def test_those_that_passed_before_count_and_no_more_than_wanted_come() -> None:
    async def do(test: ProxiedTest) -> None:
        passes(test, 0, 1, 2, 3, 4)
        assert ids(await test.wait_for(even, 2, 0)) == [0, 2]
        assert ids(await test.wait_for(even, 4, 0)) == [0, 2, 4]

    in_a_test(do)


def test_more_than_is_looked_at_together_is_all_looked_at() -> None:
    async def do(test: ProxiedTest) -> None:
        passes(test, *range(2 * limits.LOOKS + 2))
        assert ids(await test.wait_for(even, limits.LOOKS + 1, 0))[-1] == 2 * limits.LOOKS

    in_a_test(do)


def test_those_that_come_meanwhile_count_once() -> None:
    async def do(test: ProxiedTest) -> None:
        passes(test, 0)
        waiting = asyncio.create_task(test.wait_for(even, 3, SECONDS))
        for number in range(1, 6):
            await asyncio.sleep(0)
            passes(test, number)
        assert ids(await waiting) == [0, 2, 4]

    in_a_test(do)


def test_the_end_ends_a_wait_unless_it_has_what_it_wants() -> None:
    async def do(test: ProxiedTest) -> None:
        passes(test, 0)
        waiting = asyncio.create_task(test.wait_for(even, 2, SECONDS))
        await asyncio.sleep(0)
        await asyncio.gather(test.end("asked to"), test.end("another asked"))
        with pytest.raises(EndedTooEarly):
            await waiting
        assert ids(await test.wait_for(even, 1, 0)) == [0]
        assert test.ended is not None
        assert test.ended["why"] == "asked to"

    in_a_test(do)


def test_nothing_is_said_of_all_once_some_fell_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "KEPT", 3)

    async def do(test: ProxiedTest) -> None:
        passes(test, 0, 1, 2)
        assert len(test.exchanges()) == 3
        passes(test, 3)
        assert test.view()["fell_out"] == 1
        assert [each.correlation_id for each in test.last(2)] == [2, 3]
        said = "1 exchange fell out of what is held, the last 3 with 32 MiB of bodies"
        with pytest.raises(ExchangesDropped, match=said):
            test.exchanges()
        with pytest.raises(ExchangesDropped, match=said):
            await test.wait_for(even, 1, 0)
        assert [each.correlation_id for each in test.exchanges(since=1)] == [1, 2, 3]
        assert ids(await test.wait_for(even, 1, 0, since=1)) == [2]

    in_a_test(do)
