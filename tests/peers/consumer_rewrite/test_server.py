"""What a broker does when the registry refuses what it writes, or has what nobody can read."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from peers.consumer_rewrite.actions import Write
from peers.consumer_rewrite.coordinator import slot_of
from peers.consumer_rewrite.record import path_of
from peers.consumer_rewrite.server import BrokerServer
from peers.consumer_rewrite.settings import BrokerSettings
from peers.consumer_rewrite.wire import read_response, request
from peers.listener import Send
from peers.registry import MemoryRegistry
from peers.registry.interface import ABSENT
from peers.registry.topics import Topics
from specs.drafts.rewrite_states import READY

SETTINGS = BrokerSettings(slots=2)
MINE, OTHERS = sorted(("g", "h"), key=lambda name: slot_of(name, 2))


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.01)


def partitions(server: BrokerServer) -> dict[str, int]:
    """The topics that it knows."""
    server.core.connected(0)
    (answer,) = server.core.receive(0, request("Metadata", 1, "test", {"topics": []}), 0)
    assert isinstance(answer, Send)
    _, body = read_response(answer.data[4:], "Metadata")
    return {one["name"]: len(one["partitions"]) for one in body["topics"]}


def test_a_write_that_fails_leaves_no_other_slot_half_loaded() -> None:
    assert slot_of(MINE, 2) != slot_of(OTHERS, 2)

    async def run() -> None:
        server = BrokerServer(1, SETTINGS, MemoryRegistry())
        await server.start()
        try:
            server.listener.do(server.core.elected(slot_of(MINE, 2)))
            await until(lambda: server.core.state(MINE) == READY)
            stale = Write(MINE, b"", 7, 1)
            server.listener.do([stale, *server.core.elected(slot_of(OTHERS, 2))])
            await until(lambda: server.core.state(OTHERS) == READY)
            assert server.core.state(MINE) == READY
        finally:
            await server.listener.stop()

    asyncio.run(run())


def test_a_write_that_fails_loses_no_news_of_topics() -> None:
    async def run() -> None:
        registry = MemoryRegistry()
        server = BrokerServer(1, SETTINGS, registry)
        await server.start()
        try:
            server.listener.do(server.core.elected(slot_of(MINE, 2)))
            await until(lambda: server.core.state(MINE) == READY)
            Topics(registry).grow("t", "0", "1")
            server.listener.do([Write(MINE, b"", 7, 1)])  # before what the watch wants done
            await until(lambda: partitions(server) == {"t": 2})
        finally:
            await server.listener.stop()

    asyncio.run(run())


def test_an_entry_that_nobody_can_read_ends_the_broker_and_hangs_nobody() -> None:
    async def run() -> None:
        registry = MemoryRegistry()
        assert registry.write(path_of(MINE), b"{}", ABSENT)
        server = BrokerServer(1, SETTINGS, registry)
        await server.start()
        try:
            reader, writer = await asyncio.open_connection(*server.listener.address)
            server.listener.do(server.core.elected(slot_of(MINE, 2)))
            async with asyncio.timeout(30):
                with contextlib.suppress(ConnectionError):
                    assert await reader.read() == b""
            assert "no group's entry" in str(server.listener.failure)
            writer.close()
        finally:
            await server.listener.stop()

    asyncio.run(run())
