"""What goes wrong between a client and a broker, 9: SASL, and tokens without headers."""

from __future__ import annotations

import asyncio
import struct
from typing import Any

import pytest

from barnabas.proxy.network.report import connection
from tests.proxy.frames import (
    Chunks,
    heartbeat_request,
    heartbeat_response,
    raw,
    request,
    response,
    slicings,
    whole,
)
from tests.proxy.playbook import Actor, Stage
from tests.proxy.servers import SOON, read_frame, running

OBSERVED = pytest.mark.parametrize("observed", [True, False])
TOKEN = b"\0alice\0hunter2"
GSS = bytes.fromhex("6082020406092a864886f71201020201006e8201f3") + bytes(range(200))
"""How Kerberos begins: InitialContextToken, its mechanism's id."""


def exchange(actor: Actor, asked: bytes, answer: bytes, chunks: Chunks = whole) -> None:
    actor.ask(asked, chunks)
    actor.answer(answer, chunks)


def exchange_heartbeat(actor: Actor, number: int, chunks: Chunks = whole) -> None:
    exchange(actor, heartbeat_request(number), heartbeat_response(number), chunks)


def shake(
    actor: Actor, number: int, chunks: Chunks = whole, *, mechanism: str = "PLAIN", error: int = 0
) -> None:
    """Play a SaslHandshake v1; v0 if its number is 0."""
    version = min(number, 1)
    requested = request("SaslHandshake", number, version=version, mechanism=mechanism)
    answer = response("SaslHandshake", number, version=version, error_code=error)
    exchange(actor, requested, answer, chunks)


def authenticate(actor: Actor, number: int, chunks: Chunks = whole, **answer: Any) -> None:
    requested = request("SaslAuthenticate", number, version=2, auth_bytes=TOKEN)
    exchange(actor, requested, response("SaslAuthenticate", number, version=2, **answer), chunks)


@slicings
@OBSERVED
@pytest.mark.parametrize("later", [b"", bytes.fromhex("050406ff00000000"), b"\0\0\0\x03zzzzzzzz"])
def test_09_gssapi_of_0_9_starts_raw(chunks: Chunks, observed: bool, later: bytes) -> None:
    actor = Stage(observed=observed).actor()
    exchange(actor, raw(GSS), raw(b"\x60challenge"), chunks)
    exchange(actor, raw(later), raw(b""), chunks)
    exchange_heartbeat(actor, 1, chunks)
    assert actor.sent["request"] == raw(GSS) + raw(later) + heartbeat_request(1)
    assert actor.sent["response"] == raw(b"\x60challenge") + raw(b"") + heartbeat_response(1)
    assert (actor.stage.totals.undecoded, actor.said) == (0, [])
    assert [x.api for x in actor.done] == ["SASL token", "SASL token", "Heartbeat"] * observed


@slicings
def test_09_the_last_token_of_gssapi_is_not_answered_and_takes_no_others_answer(
    chunks: Chunks,
) -> None:
    """Java's server of GSSAPI has nothing more to say; brokers then send no frame at all."""
    actor = Stage().actor()
    exchange(actor, raw(GSS), raw(b"\x60challenge"), chunks)
    actor.ask(raw(b"\x05\x04last") + request("Metadata", 0) + heartbeat_request(1), chunks)
    brokers = [{"node_id": 1, "host": "real", "port": 9092}]
    actor.answer(response("Metadata", 0, brokers=brokers) + heartbeat_response(1), chunks)
    assert b"real" not in actor.sent["response"]
    reported = [
        ("SASL token", ""),
        ("SASL token", "no response"),
        ("Metadata", ""),
        ("Heartbeat", ""),
    ]
    assert [(x.api, x.note) for x in actor.done] == reported
    assert actor.stage.totals.undecoded == 0
    assert actor.connection.idle


@slicings
def test_09_in_mid_connection_the_same_bytes_are_no_token_but_undecodable(chunks: Chunks) -> None:
    actor = Stage().actor()
    exchange_heartbeat(actor, 1, chunks)
    requested = raw(GSS) + raw(b"?") + heartbeat_request(2)
    exchange(actor, requested, raw(b"") + raw(b"") + heartbeat_response(2), chunks)
    assert actor.sent["request"] == heartbeat_request(1) + requested
    assert actor.stage.totals.undecoded == 2
    assert [x.api for x in actor.done] == ["Heartbeat", "unreadable", "unreadable", "Heartbeat"]
    assert actor.counts == {"Heartbeat": 2, "unreadable": 2}


@slicings
@pytest.mark.parametrize(
    ("token", "who"),
    [(TOKEN, "PLAIN alice"), (GSS[:10], "PLAIN"), (b"\xff" * 12, "PLAIN"), (b"", "PLAIN")],
)
def test_09_handshake_v0_is_followed_by_raw_tokens_and_v1_by_sasl_authenticate(
    chunks: Chunks, token: bytes, who: str
) -> None:
    actor = Stage().actor()
    shake(actor, 0, chunks)
    for _ in range(2):
        exchange(actor, raw(token), raw(token), chunks)
    shake(actor, 1, chunks)
    authenticate(actor, 2, chunks)
    exchange_heartbeat(actor, 3, chunks)
    assert actor.counts == {
        "SaslHandshake": 2,
        "SASL token": 2,
        "SaslAuthenticate": 1,
        "Heartbeat": 1,
    }
    assert {x.note for x in actor.done} == {""}
    reported = [f"{who} → authenticated", f"{who} → authenticated again"]
    assert [x.sasl for x in actor.done[1:3]] == reported
    assert actor.stage.totals.undecoded == 0
    assert actor.frames("request")[1] == raw(token)
    assert "hunter2" not in str([x.row() for x in actor.done])


@slicings
@OBSERVED
def test_09_sasl_may_come_again_in_mid_connection(chunks: Chunks, observed: bool) -> None:
    """KIP-368: sessions expire."""
    actor = Stage(observed=observed).actor()
    for number in (1, 2):
        exchange_heartbeat(actor, number, chunks)
        shake(actor, number, chunks)
        authenticate(actor, number, chunks)
        sasl = actor.connection.state.sasl
        assert (sasl.who, sasl.times) == ("PLAIN alice", number)
    assert actor.ids("request") == [1, 1, 1, 2, 2, 2]
    assert [x.user for x in actor.done] == ([None] * 3 + ["alice"] * 3) * observed
    assert actor.stage.totals.undecoded == 0
    assert actor.connection.idle


def test_a_refusal_is_not_an_authentication() -> None:
    actor = Stage().actor()
    shake(actor, 1)
    authenticate(actor, 2, error_code=58, error_message="no\x1b[2J")
    assert actor.connection.state.sasl.times == 0
    assert actor.done[-1].sasl == "PLAIN alice → refused: no\N{REPLACEMENT CHARACTER}[2J"
    assert "hunter2" not in str(actor.done[-1].row())
    exchange_heartbeat(actor, 3)
    assert actor.done[-1].user is None


@pytest.mark.parametrize(("mechanism", "then"), [("PLAIN", "alice"), ("GSSAPI", None)])
def test_a_certificate_names_the_user_until_the_client_begins_sasl(
    mechanism: str, then: str | None
) -> None:
    actor = Stage().actor()
    actor.connection.state.certified = "CN=bob"
    exchange_heartbeat(actor, 1)
    shake(actor, 2, mechanism=mechanism, error=33)
    shake(actor, 3, mechanism=mechanism)
    authenticate(actor, 4)
    exchange_heartbeat(actor, 5)
    assert [exchange.user for exchange in actor.done] == ["CN=bob"] * 3 + [None, then]


async def test_control_names_the_user() -> None:
    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for name in ("SaslHandshake", "SaslAuthenticate"):
            (number,) = struct.unpack_from(">i", await read_frame(reader), 4)
            writer.write(response(name, number))
        await reader.read()
        writer.close()

    async with running(broker, observed=False) as it:
        reader, writer = await it.connect()
        for asked, user, times in (
            (request("SaslHandshake", 1, mechanism="PLAIN"), "", 0),
            (request("SaslAuthenticate", 2, auth_bytes=TOKEN), "alice", 1),
        ):
            writer.write(asked)
            await asyncio.wait_for(read_frame(reader), SOON)
            (relay,) = it.proxy.relays.values()
            expected = {"mechanism": "PLAIN", "user": user, "authenticated": times}
            assert connection(relay)["sasl"] == expected
        writer.close()
