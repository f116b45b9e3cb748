"""What goes wrong between a client and a broker, 7 to 11 and 14: connections and their bounds.

Elsewhere already: each broker keeps its listener, and the same broker behind it
(tests/proxy/test_topology.py, tests/proxy/test_server.py); TLS on either side (tests/proxy/test_tls.py).
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
from captures.conversation import Conversations
from captures.reader import CaptureReader
from proxy.rules import Rules
from proxy.scenario import loads
from proxy.server import Options, Proxy
from tests.proxy.playbook import (
    Actor,
    Chunks,
    Stage,
    bytewise,
    raw,
    request,
    response,
    trailing,
    whole,
)
from tests.proxy.servers import SOON, echo_metadata, read_frame, running

slicings = pytest.mark.parametrize("chunks", [whole, bytewise, trailing])

BEAT: dict[str, Any] = {"group_id": "g", "generation_id": 1, "member_id": "m"}


def beat(number: int) -> bytes:
    return request("Heartbeat", number, **BEAT)


def alive(number: int) -> bytes:
    return response("Heartbeat", number, error_code=0)


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


# 9: SASL


def sasl(actor: Actor, asked: bytes, answer: bytes, chunks: Chunks) -> None:
    actor.ask(asked, chunks)
    actor.answer(answer, chunks)


GSS = bytes.fromhex("6082020406092a864886f71201020201006e8201f3") + bytes(range(200))
"""How Kerberos begins: InitialContextToken, its mechanism's id."""


@slicings
@pytest.mark.parametrize("observed", [True, False])
@pytest.mark.parametrize("later", [b"", bytes.fromhex("050406ff00000000"), b"\0\0\0\x03zzzzzzzz"])
def test_09_gssapi_of_0_9_starts_raw(chunks: Chunks, observed: bool, later: bytes) -> None:
    actor = Stage(observed=observed).actor()
    sasl(actor, raw(GSS), raw(b"\x60challenge"), chunks)
    sasl(actor, raw(later), raw(b""), chunks)
    sasl(actor, beat(1), alive(1), chunks)
    assert actor.sent["request"] == raw(GSS) + raw(later) + beat(1)
    assert actor.sent["response"] == raw(b"\x60challenge") + raw(b"") + alive(1)
    assert actor.stage.totals.undecoded == 0
    assert actor.said == []
    names = [x.api for x in actor.done]
    assert names == (["SASL token", "SASL token", "Heartbeat"] if observed else [])


@slicings
def test_09_in_mid_connection_the_same_bytes_are_no_token_but_undecodable(chunks: Chunks) -> None:
    actor = Stage().actor()
    sasl(actor, beat(1), alive(1), chunks)
    actor.ask(raw(GSS) + beat(2), chunks)
    assert actor.sent["request"] == beat(1) + raw(GSS) + beat(2)
    assert actor.stage.totals.undecoded == 1


@slicings
def test_09_handshake_v0_is_followed_by_raw_tokens_and_v1_by_sasl_authenticate(
    chunks: Chunks,
) -> None:
    actor = Stage().actor()
    for version in (0, 1):
        asked = request("SaslHandshake", version, version=version, mechanism="PLAIN")
        answer = response("SaslHandshake", version, version=version, mechanisms=["PLAIN"])
        sasl(actor, asked, answer, chunks)
        if version:
            token = request("SaslAuthenticate", 2, version=1, auth_bytes=b"\0user\0secret")
            sasl(actor, token, response("SaslAuthenticate", 2, version=1), chunks)
        else:
            sasl(actor, raw(b"\0user\0secret"), raw(b""), chunks)
    assert [x.api for x in actor.done] == [
        "SaslHandshake",
        "SASL token",
        "SaslHandshake",
        "SaslAuthenticate",
    ]
    assert actor.stage.totals.undecoded == 0
    assert "secret" not in str([x.row() for x in actor.done])


@slicings
@pytest.mark.parametrize("observed", [True, False])
def test_09_sasl_may_come_again_in_mid_connection(chunks: Chunks, observed: bool) -> None:
    """KIP-368: sessions expire."""
    actor = Stage(observed=observed).actor()
    for number in (1, 2):
        sasl(actor, beat(number), alive(number), chunks)
        handshake = request("SaslHandshake", number, version=1, mechanism="PLAIN")
        answer = response("SaslHandshake", number, version=1, mechanisms=["PLAIN"])
        sasl(actor, handshake, answer, chunks)
        token = request("SaslAuthenticate", number, version=2, auth_bytes=b"\0u\0p")
        sasl(actor, token, response("SaslAuthenticate", number, version=2), chunks)
    assert actor.ids("request") == [1, 1, 1, 2, 2, 2]
    assert actor.stage.totals.undecoded == 0
    assert actor.connection.idle


# 10: pipelining before the broker is reached


@pytest.mark.parametrize("observed", [True, False])
def test_10_what_comes_before_upstream_is_reached_waits_bounded_and_arrives(
    observed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached = asyncio.Event()
    received = hashlib.sha256()
    dial = Proxy._dial

    async def slow(proxy: Proxy, node: Any) -> Any:
        await reached.wait()
        return await dial(proxy, node)

    monkeypatch.setattr(Proxy, "_dial", slow)

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
            assert not it.proxy.connections
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
    sasl(actor, beat(1), alive(1), chunks)
    actor.feed(direction, struct.pack(">i", 1001) + bytes(20), chunks)
    assert over(actor)
    assert "sent a frame of 1001 bytes; the most is 1000; connection closed" in actor.said[0]
    assert actor.frames("request") == [beat(1)]
    assert actor.frames("response") == [alive(1)]


def test_11_reading_pauses_on_both_sides() -> None:
    slow = (
        "version: 1\nrules:\n  - name: r\n    match: {api: Heartbeat}\n    do: {delay: 1s}\n"
    )  # fmt: skip
    actor = Stage(slow, queued=3000).actor()
    for number in range(4):
        actor.ask(beat(number))
    assert actor.connection.full("request")
    assert not actor.connection.full("response")
    actor.stage.wait(1000)
    assert not actor.connection.full("request")
    for number in range(4):
        actor.answer(alive(number))
    assert actor.connection.full("response")
    actor.stage.wait(1000)
    assert not actor.connection.full("response")


@slicings
@pytest.mark.parametrize("observed", [True, False])
def test_11_half_close_is_propagated(chunks: Chunks, observed: bool) -> None:
    actor = Stage(observed=observed).actor()
    actor.ask(beat(1) + beat(2), chunks)
    actor.end("request")
    assert actor.finished == ["request"]
    actor.answer(alive(1) + alive(2), chunks)
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


# what a capture holds of all this is read back the same


def test_09_a_capture_of_a_raw_start_reads_back_as_it_was_shown(tmp_path: Any) -> None:
    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for answer in (b"\x60challenge", b"", alive(1)[4:]):
            await read_frame(reader)
            writer.write(raw(answer))
        await reader.read()
        writer.close()

    live: list[tuple[str, int | None]] = []

    async def main() -> None:
        async with running(broker, capture=tmp_path / "c.pcapng") as it:
            reader, writer = await it.connect()
            for asked in (raw(GSS), raw(b"\x05\x04"), beat(1)):
                writer.write(asked)
                await asyncio.wait_for(read_frame(reader), SOON)
            writer.close()
            await it.until(lambda: len(it.done) == 3)
            live.extend((x.api, x.response_size) for x in it.done)

    run(main())
    conversations = Conversations()
    again = conversations.exchanges(CaptureReader(tmp_path / "c.pcapng"))
    assert [(x.api, x.response_size) for x in again] == live
    assert [name for name, _ in live] == ["SASL token", "SASL token", "Heartbeat"]
    assert conversations.undecoded == 0
