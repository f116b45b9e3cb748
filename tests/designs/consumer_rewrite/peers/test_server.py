"""What a broker does when the registry refuses what it writes, or has what nobody can read."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

import pytest

from barnabas.designs.brokers.listener import Send
from barnabas.designs.brokers.registry import MemoryRegistry
from barnabas.designs.brokers.registry.interface import ABSENT
from barnabas.designs.brokers.registry.topics import path_of as topic_path
from barnabas.designs.consumer_rewrite.peers.actions import Write
from barnabas.designs.consumer_rewrite.peers.coordinator import slot_of
from barnabas.designs.consumer_rewrite.peers.group_entry import GroupEntry, path_of
from barnabas.designs.consumer_rewrite.peers.server import BrokerServer
from barnabas.designs.consumer_rewrite.peers.settings import BrokerSettings
from barnabas.designs.consumer_rewrite.peers.wire import CODES, read_response, request
from barnabas.designs.consumer_rewrite.states import NOT_COMPLETE, READY
from tests.waiting import eventually

SETTINGS = BrokerSettings(slots=2)
MINE, OTHERS = sorted(("g", "h"), key=lambda name: slot_of(name, 2))


def partitions(server: BrokerServer) -> dict[str, int]:
    """The topics that it knows."""
    server.core.connected(0)
    (answer,) = server.core.receive(0, request("Metadata", 1, "test", {"topics": []}), 0)
    assert isinstance(answer, Send)
    _, body = read_response(answer.data[4:], "Metadata")
    return {one["name"]: len(one["partitions"]) for one in body["topics"]}


@contextlib.asynccontextmanager
async def running(registry: MemoryRegistry) -> AsyncIterator[BrokerServer]:
    server = BrokerServer(1, SETTINGS, registry)
    await server.start()
    try:
        yield server
    finally:
        await server.listener.stop()


async def test_a_write_that_fails_leaves_no_other_slot_half_loaded() -> None:
    assert slot_of(MINE, 2) != slot_of(OTHERS, 2)
    async with running(MemoryRegistry()) as server:
        server.listener.do(server.core.elected(slot_of(MINE, 2)))
        await eventually(lambda: server.core.state(MINE) == READY)
        stale = Write(MINE, b"", 7, 1)
        server.listener.do([stale, *server.core.elected(slot_of(OTHERS, 2))])
        await eventually(lambda: server.core.state(OTHERS) == READY)
        assert server.core.state(MINE) == READY
        said = f"INFO {MINE}: another broker coordinates it: closes all connections"
        assert server.said == [said]


async def test_an_entry_that_nobody_can_read_costs_its_group_and_no_other() -> None:
    other = next(name for name in map(str, range(99)) if slot_of(name, 2) == slot_of(MINE, 2))
    registry = MemoryRegistry()
    assert registry.write(path_of(MINE), b"{}", ABSENT)
    async with running(registry) as server:
        server.listener.do(server.core.elected(slot_of(MINE, 2)))
        await eventually(lambda: server.core.state(other) == READY)
        await eventually(lambda: len(server.said) == 1)
        assert server.said[0].startswith(f"ERROR {MINE}: no group's entry")
        body = {"group_id": MINE, "group_generation_id": 1, "consumer_id": "x"}
        server.core.connected(0)
        (answer,) = server.core.receive(0, request("Heartbeat", 1, "test", body), 0)
        assert isinstance(answer, Send)
        _, said = read_response(answer.data[4:], "Heartbeat")
        assert said["error_code"] == CODES[NOT_COMPLETE]
        entry = registry.read(path_of(MINE))
        assert entry is not None
        assert entry.data == b"{}"  # for whoever can mend it
        server.core.resigned(slot_of(MINE, 2), 0)
        assert registry.write(path_of(MINE), GroupEntry().encode(), entry.version)
        server.listener.do(server.core.elected(slot_of(MINE, 2)))
        await eventually(lambda: server.core.state(MINE) == READY)


async def test_topics_that_nobody_can_read_are_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("barnabas.designs.brokers.server.AGAIN", 0.01)
    registry = MemoryRegistry()
    assert registry.write(topic_path("t"), b"{}", ABSENT)
    async with running(registry) as server:
        await eventually(lambda: bool(server.said))
        assert "no partitions" in server.said[0]
        entry = registry.read(topic_path("t"))
        assert entry is not None
        assert registry.write(topic_path("t"), b'["0"]', entry.version)
        await eventually(lambda: partitions(server) == {"t": 1})
