"""What goes wrong between a client and a broker, 9: SASL, whose tokens may have no headers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.reader import CaptureReader
from barnabas.loop import run
from tests.proxy.playbook import (
    Actor,
    Chunks,
    Stage,
    heartbeat_request,
    heartbeat_response,
    raw,
    request,
    response,
    slicings,
)
from tests.proxy.servers import SOON, read_frame, running


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
    sasl(actor, heartbeat_request(1), heartbeat_response(1), chunks)
    assert actor.sent["request"] == raw(GSS) + raw(later) + heartbeat_request(1)
    assert actor.sent["response"] == raw(b"\x60challenge") + raw(b"") + heartbeat_response(1)
    assert actor.stage.totals.undecoded == 0
    assert actor.said == []
    names = [x.api for x in actor.done]
    assert names == (["SASL token", "SASL token", "Heartbeat"] if observed else [])


@slicings
def test_09_the_last_token_of_gssapi_is_not_answered_and_takes_no_others_answer(
    chunks: Chunks,
) -> None:
    """Java's server of GSSAPI has nothing more to say; brokers then send no frame at all."""
    actor = Stage().actor()
    sasl(actor, raw(GSS), raw(b"\x60challenge"), chunks)
    actor.ask(raw(b"\x05\x04last") + request("Metadata", 0) + heartbeat_request(1), chunks)
    brokers = [{"node_id": 1, "host": "real", "port": 9092}]
    actor.answer(
        response("Metadata", 0, brokers=brokers, topics=[]) + heartbeat_response(1), chunks
    )
    assert b"real" not in actor.sent["response"]
    told = [("SASL token", ""), ("SASL token", "no response"), ("Metadata", ""), ("Heartbeat", "")]
    assert [(x.api, x.note) for x in actor.done] == told
    assert actor.stage.totals.undecoded == 0
    assert actor.connection.idle


@slicings
def test_09_in_mid_connection_the_same_bytes_are_no_token_but_undecodable(chunks: Chunks) -> None:
    actor = Stage().actor()
    sasl(actor, heartbeat_request(1), heartbeat_response(1), chunks)
    sasl(
        actor,
        raw(GSS) + raw(b"?") + heartbeat_request(2),
        raw(b"") + raw(b"") + heartbeat_response(2),
        chunks,
    )
    assert actor.sent["request"] == heartbeat_request(1) + raw(GSS) + raw(b"?") + heartbeat_request(
        2
    )
    assert actor.stage.totals.undecoded == 2
    assert [x.api for x in actor.done] == ["Heartbeat", "unreadable", "unreadable", "Heartbeat"]
    counted = {row.api: row.count for row in actor.stage.tally.rows()}
    assert counted == {"Heartbeat": 2, "unreadable": 2}


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
    counted = {row.api: row.count for row in actor.stage.tally.rows()}
    assert counted == {"SaslHandshake": 2, "SASL token": 1, "SaslAuthenticate": 1}
    assert actor.stage.totals.undecoded == 0
    assert "secret" not in str([x.row() for x in actor.done])


@slicings
@pytest.mark.parametrize("observed", [True, False])
def test_09_sasl_may_come_again_in_mid_connection(chunks: Chunks, observed: bool) -> None:
    """KIP-368: sessions expire."""
    actor = Stage(observed=observed).actor()
    for number in (1, 2):
        sasl(actor, heartbeat_request(number), heartbeat_response(number), chunks)
        handshake = request("SaslHandshake", number, version=1, mechanism="PLAIN")
        answer = response("SaslHandshake", number, version=1, mechanisms=["PLAIN"])
        sasl(actor, handshake, answer, chunks)
        token = request("SaslAuthenticate", number, version=2, auth_bytes=b"\0u\0p")
        sasl(actor, token, response("SaslAuthenticate", number, version=2), chunks)
    assert actor.ids("request") == [1, 1, 1, 2, 2, 2]
    assert actor.stage.totals.undecoded == 0
    assert actor.connection.idle


def test_09_a_capture_of_a_raw_start_reads_back_as_it_was_shown(tmp_path: Any) -> None:
    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for answer in (b"\x60challenge", b"", heartbeat_response(1)[4:]):
            await read_frame(reader)
            writer.write(raw(answer))
        await reader.read()
        writer.close()

    live: list[tuple[str, int | None]] = []

    async def main() -> None:
        async with running(broker, capture=tmp_path / "c.pcapng") as it:
            reader, writer = await it.connect()
            for asked in (raw(GSS), raw(b"\x05\x04"), heartbeat_request(1)):
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
