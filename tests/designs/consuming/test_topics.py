"""Topics that brokers lack."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from barnabas.designs.brokers.listener import Address
from barnabas.designs.brokers.processes.designs import DESIGNS
from barnabas.designs.consuming.topics import say_missing
from tests.designs.brokers.logs.broker import with_broker


@pytest.mark.parametrize("design", DESIGNS)
def test_a_topic_is_said_if_the_brokers_lack_it(design: str, tmp_path: Path) -> None:
    said: list[str] = []

    def talk(address: Address) -> None:
        asyncio.run(say_missing([address], "me", "t", said.append))
        assert said == []
        asyncio.run(say_missing([address], "me", "nope", said.append))

    with_broker(design, tmp_path, talk)
    assert said == ["the brokers have no topic 'nope': waits for it"]


def test_who_can_not_be_reached_is_asked_until_it_can(tmp_path: Path) -> None:
    said: list[str] = []

    async def closes(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()
        closed.set()

    async def ask(address: Address) -> None:
        async with await asyncio.start_server(closes, "127.0.0.1", 0) as nobody:
            brokers = [nobody.sockets[0].getsockname()]
            task = asyncio.create_task(say_missing(brokers, "me", "nope", said.append))
            await closed.wait()
            brokers[:] = [address]
            await task

    closed = asyncio.Event()
    with_broker("rewrite", tmp_path, lambda address: asyncio.run(ask(address)))
    assert len(said) == 1
