"""Toxics on real connections: what client and upstream see."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time

import pytest

from barnabas.proxy.network.endpoint import Endpoint
from barnabas.proxy.network.options import Options
from barnabas.proxy.toxiproxy.api_proxy import ApiProxy
from barnabas.proxy.toxiproxy.layer import ToxicLayer
from tests.proxy.toxiproxy.desk import SOON, Streams, body, desk, echo, read_all

PING = b"*1\r\n$4\r\nPING\r\n"


async def exchange(streams: Streams, data: bytes = PING) -> float:
    """Seconds until all has come back."""
    reader, writer = streams
    began = time.monotonic()
    writer.write(data)
    assert await asyncio.wait_for(reader.readexactly(len(data)), SOON) == data
    return time.monotonic() - began


async def test_what_is_not_kafka_passes_unharmed_both_ways_and_to_its_end() -> None:
    async with desk() as at:
        data = os.urandom(1 << 20)
        reader, writer = await at.connect()
        writer.write(PING + data)
        writer.write_eof()
        assert await read_all(reader) == PING + data
        size = len(PING + data)
        assert at.proxy.received == at.proxy.sent == {"upstream": size, "downstream": size}


async def test_a_server_that_speaks_first_is_heard() -> None:
    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"\x00\x00\x00\x0ahello")
        await echo(reader, writer)

    async with desk(greet) as at:
        reader, writer = await at.connect()
        assert await asyncio.wait_for(reader.readexactly(9), SOON) == b"\x00\x00\x00\x0ahello"
        # as a request of Kafka, but that was decided
        assert await exchange((reader, writer), b"\x00\x00\x00\x0c\x00\x03\x00\x01" * 3)


@pytest.mark.parametrize("stream", ["upstream", "downstream"])
async def test_latency_comes_goes_and_changes_on_an_open_connection(stream: str) -> None:
    async with desk() as at:
        streams = await at.connect()
        await exchange(streams)
        name = at.add("latency", stream, latency=200)
        assert 0.2 <= await exchange(streams) < 2
        at.proxy.change(name, body(attributes={"latency": 60}))
        assert 0.06 <= await exchange(streams) < 0.2
        at.proxy.remove(name)
        assert await exchange(streams) < 0.06


@pytest.mark.parametrize("stream", ["upstream", "downstream"])
async def test_bandwidth_lets_so_much_through_and_stops_the_sender(stream: str) -> None:
    async with desk() as at:
        streams = await at.connect()
        at.add("bandwidth", stream, rate=500)
        assert 0.4 <= await exchange(streams, os.urandom(200_000)) < 3


async def test_a_stream_that_is_held_back_stops_its_sender() -> None:
    sent = 0

    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        while True:
            writer.write(bytes(1 << 16))
            await writer.drain()
            sent += 1 << 16

    async with desk(pour) as at:
        at.add("bandwidth", rate=0)
        await at.connect()
        before = -1
        while before != sent or not sent:
            before = sent
            await asyncio.sleep(0.2)
        held = at.proxy.received["downstream"]
        assert 1 << 16 < held < 1 << 20, "what a chunk and the toxic's room are"


async def test_reset_peer_resets_after_its_time() -> None:
    async with desk() as at:
        at.add("reset_peer", timeout=100)
        reader, writer = await at.connect()
        began = time.monotonic()
        writer.write(PING)
        with pytest.raises(ConnectionResetError):
            await read_all(reader)
        assert time.monotonic() - began >= 0.1


async def test_a_toxicity_of_0_does_nothing_and_of_a_half_acts_on_some_connections() -> None:
    async with desk() as at:
        at.proxy.add(body(type="timeout", toxicity=0, attributes={"timeout": 1}))
        at.proxy.add(body(type="limit_data", toxicity=0.5, attributes={"bytes": 0}))
        ends = []
        for _ in range(40):
            reader, writer = await at.connect()
            writer.write(PING)
            ends.append(await asyncio.wait_for(reader.read(100), SOON))
            writer.close()
        assert set(ends) == {b"", PING}
        assert 8 <= ends.count(PING) <= 32


async def test_rules_that_come_and_go_leave_alone_what_is_not_kafka() -> None:
    async with desk() as at:
        streams = await at.connect()
        await exchange(streams)
        name = at.proxy.add(body(type="kafka", attributes={"rule": {"do": "close"}})).name
        # as a request of Kafka, for which the rule would close
        frame = b"\x00\x00\x00\x0a\x00\x03\x00\x01\x00\x00\x00\x01\xff\xff"
        await exchange(streams, frame)
        at.proxy.remove(name)
        await exchange(streams, frame)
        streams[1].write_eof()
        assert await read_all(streams[0]) == b""


async def test_a_proxy_is_disabled_while_a_connection_has_no_socket_yet(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = ApiProxy.layer

    def layer(proxied: ApiProxy, endpoint: Endpoint) -> ToxicLayer:
        found = made(proxied, endpoint)
        proxied.stop()
        return found

    monkeypatch.setattr(ApiProxy, "layer", layer)

    async with desk() as at:
        reader, _ = await at.connect()
        with contextlib.suppress(ConnectionResetError):
            assert await read_all(reader) == b""
        assert not at.proxy.enabled


async def test_small_slices_leave_others_their_turn() -> None:
    async with desk() as at:
        at.add("slicer", "upstream", average_size=16)
        reader, writer = await at.connect()
        await exchange((reader, writer))
        data = bytes(8 << 20)
        writer.write(data)
        most = before = 0
        async with asyncio.timeout(SOON):
            while (came := at.proxy.received["upstream"]) < 2 << 20:
                most, before = max(most, came - before), came
                await asyncio.sleep(0)
        assert most <= 2 * Options([]).read_size
        writer.transport.abort()


async def test_slicer_sends_the_same_in_pieces() -> None:
    async with desk() as at:
        at.add("slicer", average_size=4, size_variation=2, delay=5000)
        reader, writer = await at.connect()
        clock = asyncio.get_running_loop().time
        begin = clock()
        writer.write(PING * 3)
        assert await asyncio.wait_for(reader.readexactly(3 * len(PING)), SOON) == PING * 3
        # a piece has 6 bytes at most; a busy machine merges pieces on their way, but waits no less
        assert clock() - begin >= (3 * len(PING) // 6 - 1) * 0.005
