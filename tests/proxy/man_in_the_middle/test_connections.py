"""What goes wrong between a client and a broker, 7, 8, 10, 11 and 16: connections and their bounds.

Elsewhere: each broker keeps its listener, and the same broker behind it
(tests/proxy/edits/test_topology.py); TLS on either side (tests/proxy/network/test_tls.py); that what comes
out is what went in (tests/proxy/connection/test_header_walk.py, tests/proxy/test_any_traffic.py).
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import socket
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.reader import CaptureReader
from barnabas.proxy.network.sockets import dial
from barnabas.specs import NAMES
from barnabas.specs.broker_addresses import ADDRESS_FIELDS
from barnabas.specs.frames import Direction
from tests.proxy.frames import Chunks, heartbeat_request, heartbeat_response, raw, request, slicings
from tests.proxy.playbook import Stage, one_rule, ruled
from tests.proxy.servers import SOON, echo_metadata, read_frame, running

# 7: one connection upstream for each of a client's


async def test_07_connections_are_never_merged_upstream() -> None:
    """A fetch session belongs to its connection's broker, and quotas to its client."""
    seen: list[Any] = []

    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(writer.get_extra_info("peername"))
        await echo_metadata(reader, writer)

    async with running(broker) as it:
        clients = [await it.connect() for _ in range(5)]
        for number, (reader, writer) in enumerate(clients):
            writer.write(request("Metadata", number))
            frame = await asyncio.wait_for(read_frame(reader), SOON)
            assert frame[:4] == struct.pack(">i", number)
        assert len(set(seen)) == 5
        for relay in it.proxy.relays.values():
            for side in (relay.client, relay.broker):
                sock = side.transport.get_extra_info("socket")
                assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE), "as of Kafka's own"
        for _, writer in clients:
            writer.close()


# 8: other protocols

PLAIN = "not Kafka in plain text; connection closed"


@slicings
@pytest.mark.parametrize("direction", ["request", "response"])
@pytest.mark.parametrize(
    ("first", "what"),
    [
        (bytes.fromhex("16030100c8010000c40303"), f"speaks TLS, {PLAIN}: give --SIDE-tls"),
        (bytes.fromhex("15030100020228"), f"speaks a TLS alert, {PLAIN}: give --SIDE-tls"),
        (b"GET /metrics HTTP/1.1\r\n\r\n", f"speaks HTTP, {PLAIN}"),
        (b"POST /topics HTTP/1.1\r\n\r\n", f"speaks HTTP, {PLAIN}"),
        (b"\xff\xff\xff\xff", "sent a frame of negative size -1; connection closed"),
        (b"\x06\x40\0\1", "sent a frame of 104857601 bytes; the limit is 104857600; connection closed"),
    ],
)  # fmt: skip
def test_08_other_protocols_are_named_and_not_sent_on(
    chunks: Chunks, first: bytes, what: str, direction: Direction
) -> None:
    actor = Stage().actor(broker=4)
    actor.feed(direction, first, chunks)
    assert actor.aborted
    side, peer = ("client", "client client:1") if direction == "request" else ("broker", "broker 4")
    assert actor.said == [f"connection 1 (client:1): {peer} {what.replace('SIDE', side)}"]
    assert actor.sent == {"request": b"", "response": b""}


# 10: pipelining before the broker is reached


@pytest.mark.parametrize("observed", [True, False])
async def test_10_what_comes_before_upstream_is_reached_waits_bounded_and_arrives(
    observed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached = asyncio.Event()
    received = hashlib.sha256()

    async def slow(*arguments: Any) -> Any:
        await reached.wait()
        return await dial(*arguments)

    monkeypatch.setattr("barnabas.proxy.network.upstream.dial", slow)

    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 20):
            received.update(data)
        writer.close()

    frame, count = raw(struct.pack(">hhih", 999, 0, 1, -1) + os.urandom(1 << 20)), 32

    async def send(writer: asyncio.StreamWriter) -> None:
        for _ in range(count):
            writer.write(frame)
            await writer.drain()

    async with running(broker, observed=observed) as it:
        reader, writer = await it.connect()
        sending = asyncio.ensure_future(send(writer))
        await it.until(lambda: it.proxy.totals.connections)
        moved = -1
        while moved != writer.transport.get_write_buffer_size():  # until nothing moves
            moved = writer.transport.get_write_buffer_size()
            await asyncio.sleep(0.1)
        assert not sending.done()  # the kernel keeps a little, the client the rest
        assert not it.proxy.relays
        reached.set()
        await asyncio.wait_for(sending, SOON)
        writer.write_eof()
        assert await asyncio.wait_for(reader.read(), SOON) == b""
        writer.close()
    assert received.digest() == hashlib.sha256(frame * count).digest()


# 11: frames and ends


@slicings
@pytest.mark.parametrize("direction", ["request", "response"])
@pytest.mark.parametrize("observed", [True, False])
def test_11_a_frame_above_the_limit_closes_its_connection(
    chunks: Chunks, direction: Direction, observed: bool
) -> None:
    actor = Stage(observed=observed, frame=1000).actor()
    actor.ask(heartbeat_request(1), chunks)
    actor.answer(heartbeat_response(1), chunks)
    actor.feed(direction, struct.pack(">i", 1001) + bytes(20), chunks)
    assert actor.aborted
    assert "sent a frame of 1001 bytes; the limit is 1000; connection closed" in actor.said[0]
    assert actor.frames("request") == [heartbeat_request(1)]
    assert actor.frames("response") == [heartbeat_response(1)]


def test_11_reading_pauses_on_both_sides() -> None:
    actor = ruled("{delay: 1s}", "{api: Heartbeat}", queued=3000)
    steps: tuple[tuple[Direction, Callable[[int], bytes]], ...] = (
        ("request", heartbeat_request),
        ("response", heartbeat_response),
    )
    for direction, frame in steps:
        actor.feed(direction, b"".join(map(frame, range(4))))
        assert [way for way, _ in steps if actor.connection.full(way)] == [direction]
        actor.stage.wait(1000)
        assert not actor.connection.full(direction)


# 16: all arrives, but for the edits that are told


async def test_16_every_edit_without_a_rule_is_printed_at_the_start() -> None:
    async with running(None) as it:
        addresses, unknown, above = (line for line in it.said if line.startswith("edit: "))
    assert [NAMES[key] for key in ADDRESS_FIELDS if NAMES[key] not in addresses] == []
    assert "unknown here" in unknown
    assert "the client gets error 35" in above


@pytest.mark.parametrize("observed", [True, False])
@pytest.mark.parametrize("count", [1, 300])
@pytest.mark.parametrize("delayed", [False, True])
async def test_16_acks_0_with_an_immediate_close_arrives_whole(
    observed: bool, count: int, delayed: bool, tmp_path: Path
) -> None:
    capture = tmp_path / "c.pcapng"
    rules = one_rule("{delay: 30ms}", "{api: Produce}") if delayed else ""
    produced = [
        request("Produce", number, version=9, acks=0, topic_data=[{"name": "x" * 4000}])
        for number in range(count)
    ]
    received = asyncio.Queue[bytes]()

    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.put_nowait(await reader.read())
        writer.close()

    async with running(broker, rules, capture, observed=observed) as it:
        _, writer = await it.connect()
        writer.write(b"".join(produced))
        writer.close()
        got = await asyncio.wait_for(received.get(), SOON)
        assert got == b"".join(produced)
        await it.until(lambda: not it.proxy.relays)
        assert it.proxy.tally.rows()[0].count == count
    recorded = Conversations().exchanges(CaptureReader(capture))
    assert [exchange.correlation_id for exchange in recorded] == [*range(count)]
