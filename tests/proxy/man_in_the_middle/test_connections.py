"""What goes wrong between a client and a broker, 7, 8, 10, 11 and 14: connections and their bounds.

Elsewhere already: each broker keeps its listener, and the same broker behind it
(tests/proxy/edits/test_topology.py, tests/proxy/network/test_server.py); TLS on either side
(tests/proxy/network/test_tls.py).
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import socket
import struct
from typing import Any

import pytest

from barnabas.loop import run
from barnabas.proxy.network.options import Options
from barnabas.proxy.network.server import Proxy
from barnabas.proxy.network.sockets import dial
from barnabas.proxy.rules.rules import Rules
from barnabas.proxy.scenario.file import loads
from tests.proxy.playbook import (
    Actor,
    Chunks,
    Stage,
    heartbeat_request,
    heartbeat_response,
    raw,
    request,
    slicings,
)
from tests.proxy.servers import SOON, echo_metadata, read_frame, running


def over(actor: Actor) -> bool:
    return actor.aborted


# 7: one connection upstream for each of a client's


def test_07_connections_are_never_merged_upstream() -> None:
    """A fetch session belongs to its connection's broker, and quotas to its client."""
    seen: list[Any] = []

    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(writer.get_extra_info("peername"))
        await echo_metadata(reader, writer)

    async def main() -> None:
        async with running(broker) as it:
            clients = [await it.connect() for _ in range(5)]
            for number, (reader, writer) in enumerate(clients):
                writer.write(request("Metadata", number))
                frame = await asyncio.wait_for(read_frame(reader), SOON)
                assert frame[:4] == struct.pack(">i", number)
            assert len(set(seen)) == 5
            for _, writer in clients:
                writer.close()

    run(main())


# 8: other protocols


@slicings
@pytest.mark.parametrize(
    ("first", "name"),
    [
        (bytes.fromhex("16030100c8010000c40303"), "TLS"),
        (bytes.fromhex("15030100020228"), "a TLS alert"),
        (b"GET /metrics HTTP/1.1\r\n\r\n", "HTTP"),
        (b"POST /topics HTTP/1.1\r\n\r\n", "HTTP"),
    ],
)
@pytest.mark.parametrize("direction", ["request", "response"])
def test_08_other_protocols_are_named_and_not_sent_on(
    chunks: Chunks, first: bytes, name: str, direction: Any
) -> None:
    actor = Stage().actor()
    actor.feed(direction, first, chunks)
    assert over(actor)
    assert f"speaks {name}, not Kafka in plain text; connection closed" in actor.said[0]
    assert not actor.sent["request"]
    assert not actor.sent["response"]


# 10: pipelining before the broker is reached


@pytest.mark.parametrize("observed", [True, False])
def test_10_what_comes_before_upstream_is_reached_waits_bounded_and_arrives(
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

    frame = raw(struct.pack(">hhih", 999, 0, 1, -1) + os.urandom(1 << 20))
    count = 32

    async def main() -> None:
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

    async def send(writer: asyncio.StreamWriter) -> None:
        for _ in range(count):
            writer.write(frame)
            await writer.drain()

    run(main())
    assert received.digest() == hashlib.sha256(frame * count).digest()


# 11: frames and ends


@slicings
@pytest.mark.parametrize("direction", ["request", "response"])
@pytest.mark.parametrize("observed", [True, False])
def test_11_a_frame_above_the_limit_closes_its_connection(
    chunks: Chunks, direction: Any, observed: bool
) -> None:
    actor = Stage(observed=observed, frame=1000).actor()
    actor.ask(heartbeat_request(1), chunks)
    actor.answer(heartbeat_response(1), chunks)
    actor.feed(direction, struct.pack(">i", 1001) + bytes(20), chunks)
    assert over(actor)
    assert "sent a frame of 1001 bytes; the limit is 1000; connection closed" in actor.said[0]
    assert actor.frames("request") == [heartbeat_request(1)]
    assert actor.frames("response") == [heartbeat_response(1)]


def test_11_reading_pauses_on_both_sides() -> None:
    slow = (
        "version: 1\nrules:\n  - name: r\n    match: {api: Heartbeat}\n    do: {delay: 1s}\n"
    )  # fmt: skip
    actor = Stage(slow, queued=3000).actor()
    for number in range(4):
        actor.ask(heartbeat_request(number))
    assert actor.connection.full("request")
    assert not actor.connection.full("response")
    actor.stage.wait(1000)
    assert not actor.connection.full("request")
    for number in range(4):
        actor.answer(heartbeat_response(number))
    assert actor.connection.full("response")
    actor.stage.wait(1000)
    assert not actor.connection.full("response")


@slicings
@pytest.mark.parametrize("observed", [True, False])
def test_11_half_close_is_propagated(chunks: Chunks, observed: bool) -> None:
    actor = Stage(observed=observed).actor()
    actor.ask(heartbeat_request(1) + heartbeat_request(2), chunks)
    actor.end("request")
    assert actor.finished == ["request"]
    actor.answer(heartbeat_response(1) + heartbeat_response(2), chunks)
    actor.end("response")
    assert actor.finished == ["request", "response"]
    assert actor.ids("response") == [1, 2]


# 14: no window without rules


def test_14_a_proxy_and_its_rules_are_created_at_once() -> None:
    """A client that was there before anybody listened meets the rules with its first message."""
    scenario = (
        "version: 1\nrules:\n  - name: first\n    match: {api: Metadata, direction: request}\n"
        "    do: close\n"
    )

    async def main() -> None:
        with socket.create_server(("127.0.0.1", 0)) as broker:
            options = Options([broker.getsockname()[:2]])
            proxy = Proxy(options, Rules(loads(scenario)))
            starting = asyncio.ensure_future(proxy.start())
            await starting
            reader, writer = await asyncio.open_connection(*proxy.address)
            writer.write(request("Metadata", 1))
            assert await asyncio.wait_for(reader.read(), SOON) == b""
            assert proxy.rules.rules[0].fired == 1
            writer.close()
            await proxy.stop()

    run(main())
