"""Rounds of a fetcher: brokers with logs that are real, one of which goes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from barnabas.designs.brokers.listener import Close, Listener, Send
from barnabas.designs.brokers.logs.broker import RECORDS, LogBroker
from barnabas.designs.brokers.logs.files import Logs, path_of
from barnabas.designs.consuming.fetcher import PATIENCE, Fetcher
from barnabas.designs.leaders import Address
from barnabas.designs.protocol_guide.client_0_8 import Client, Message
from barnabas.specs.keys import METADATA
from tests.waiting import SOON

A, B = ("t", 0), ("t", 1)


class Nobody:
    """The core behind: it takes nothing."""

    wake = None

    def connected(self, connection: int, host: str) -> None:
        pass

    def receive(self, connection: int, data: bytes, now: int) -> list[Any]:
        return [Close(connection, "not spoken here")]

    def closed(self, connection: int, now: int) -> list[Any]:
        return []

    def tick(self, now: int) -> list[Any]:
        return []


class Broker:
    """A broker with logs."""

    def __init__(self, folder: Path) -> None:
        self.logs = Logs(folder)
        self.core = LogBroker(Nobody(), self.logs, 2, keys=RECORDS | {METADATA})
        self.listener: Listener[Any] = Listener(self.core, self._carry_out)

    async def _carry_out(self, action: Any) -> None:
        if isinstance(action, Send):
            self.listener.send(action)
        else:
            self.listener.close(action)

    async def stop(self) -> None:
        await self.listener.stop()
        self.logs.close()


@asynccontextmanager
async def two(folder: Path, said: list[str]) -> AsyncIterator[tuple[list[Broker], Fetcher]]:
    """Brokers 1 and 2, each with a partition of t, and a fetcher of both."""
    brokers = [Broker(folder), Broker(folder)]
    for one, place in zip(brokers, (A, B), strict=True):
        await one.listener.start()
        one.logs.lead([place])
    told(brokers)
    fetcher = Fetcher(addresses(brokers), "me", said.append)
    try:
        yield brokers, fetcher
    finally:
        await fetcher.close()
        for one in brokers:
            await one.stop()


def told(brokers: list[Broker], first: int = 1) -> None:
    nodes = {node: one.listener.address for node, one in enumerate(brokers, first)}
    for one in brokers:
        one.core.cluster(nodes, {"t": 2})


def addresses(brokers: list[Broker]) -> list[Address]:
    return [one.listener.address for one in brokers]


def produce(bootstrap: list[Address], place: tuple[str, int], *values: bytes) -> None:
    with Client(bootstrap) as client:
        client.produce({place: [Message(None, value) for value in values]})


async def gather(fetcher: Fetcher, positions: dict[tuple[str, int], int]) -> dict[str, list[bytes]]:
    """Rounds until each partition has had something."""
    got: dict[str, list[bytes]] = {}
    async with asyncio.timeout(SOON):
        while len(got) < len(positions):
            for place, found in (await fetcher.round(positions)).items():
                values = [message.value or b"" for _, message in found.messages]
                got.setdefault(f"{place[0]}-{place[1]}", []).extend(values)
                positions[place] = found.following
    return got


async def test_a_leader_that_is_gone_is_said_once_and_the_others_are_fetched(
    tmp_path: Path,
) -> None:
    lines: list[str] = []
    async with two(tmp_path, lines) as (brokers, fetcher):
        bootstrap = addresses(brokers)
        await asyncio.to_thread(produce, bootstrap, A, b"a")
        await asyncio.to_thread(produce, bootstrap, B, b"b")
        await gather(fetcher, {A: 0, B: 0})
        await brokers[0].stop()
        for _ in range(3):
            assert [*await fetcher.round({A: 1, B: 0})] == [B]
        brokers[1].logs.lead([A, B])
        told(brokers[1:], first=2)
        assert await gather(fetcher, {A: 0, B: 0}) == {"t-0": [b"a"], "t-1": [b"b"]}
    assert len(lines) == 1
    assert "leads t[0] and can't be asked" in lines[0]


async def test_a_partition_that_nobody_leads_is_said_once_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("barnabas.designs.consuming.fetcher.PAUSE", 0)
    lines: list[str] = []
    async with two(tmp_path, lines) as (brokers, fetcher):
        brokers[0].logs.lead([])
        for rounds, count in ((PATIENCE - 1, 0), (1, 1), (PATIENCE, 1)):
            for _ in range(rounds):
                assert await fetcher.round({A: 0}) == {}
            assert len(lines) == count
        brokers[0].logs.lead([A])
        for _ in range(2):
            assert await fetcher.round({A: 0}) == {}
    assert lines == [
        "t[0] has been led by nobody for a while: NOT_LEADER_OR_FOLLOWER; the brokers say why",
        "t[0] is led again",
    ]


async def test_brokers_that_are_all_gone_are_said_once_and_in_words(tmp_path: Path) -> None:
    lines: list[str] = []
    async with two(tmp_path, lines) as (brokers, fetcher):
        await fetcher.round({A: 0, B: 0})  # asks who leads
        for one in brokers:
            await one.stop()
        for _ in range(4):
            assert await fetcher.round({A: 0, B: 0}) == {}
    assert any("no broker tells who leads: " in line for line in lines)
    assert any("Connection refused" in line for line in lines)
    assert len(set(lines)) == len(lines)
    assert not any("Errno" in line for line in lines)


async def test_an_offset_out_of_range_goes_on_with_the_smallest(tmp_path: Path) -> None:
    lines: list[str] = []
    async with two(tmp_path, lines) as (brokers, fetcher):
        bootstrap = addresses(brokers)
        await asyncio.to_thread(produce, bootstrap, A, b"a")
        positions = {A: 7}
        assert await gather(fetcher, positions) == {"t-0": []}
        assert positions == {A: 0}
    assert lines == ["t[0] has no offset 7: fetches from 0 on"]


async def test_a_damaged_record_is_said_once_and_what_is_before_it_and_the_others_are_fetched(
    tmp_path: Path,
) -> None:
    lines: list[str] = []
    async with two(tmp_path, lines) as (brokers, fetcher):
        brokers[1].logs.lead([])
        brokers[0].logs.lead([A, B])
        told(brokers[:1])
        bootstrap = addresses(brokers[:1])
        await asyncio.to_thread(produce, bootstrap, A, b"a", b"damaged", b"c")
        path = path_of(tmp_path, A)
        path.write_bytes(path.read_bytes().replace(b"damaged", b"DAMAGED"))
        await asyncio.to_thread(produce, bootstrap, B, b"1")
        assert await gather(fetcher, {A: 0, B: 0}) == {"t-0": [b"a"], "t-1": [b"1"]}
        for _ in range(3):
            got = await fetcher.round({A: 1, B: 0})
            assert {place: one.following for place, one in got.items()} == {B: 1}
    assert len(lines) == 1
    assert lines[0].startswith("t[0] can't be read from offset 1 on: batches[0].crc")
