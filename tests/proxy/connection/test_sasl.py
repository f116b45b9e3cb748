"""What a connection knows of its client, as control shows it, whether or not a log is kept."""

from __future__ import annotations

import asyncio
import struct
from typing import Any

import pytest

from barnabas.proxy.network.report import connection
from tests.proxy.playbook import Chunks, Stage, bytewise, request, response, whole
from tests.proxy.servers import SOON, read_frame, running

TOKEN = b"\0alice\0hunter2"


@pytest.mark.parametrize("observed", [True, False])
@pytest.mark.parametrize("chunks", [whole, bytewise])
def test_user_and_times(observed: bool, chunks: Chunks) -> None:
    actor = Stage(observed=observed).actor()
    sasl = actor.connection.state.sasl
    for again in (1, 2):
        actor.ask(request("SaslHandshake", 1, mechanism="PLAIN"), chunks)
        actor.answer(response("SaslHandshake", 1, mechanisms=["PLAIN"]), chunks)
        actor.ask(request("SaslAuthenticate", 2, auth_bytes=TOKEN), chunks)
        actor.answer(response("SaslAuthenticate", 2), chunks)
        assert (sasl.who, sasl.times) == ("PLAIN alice", again)
    assert [exchange.user for exchange in actor.done] == [None, None, "alice", "alice"] * observed


def test_a_refusal_is_not_an_authentication() -> None:
    actor = Stage().actor()
    actor.ask(request("SaslHandshake", 1, mechanism="PLAIN"))
    actor.answer(response("SaslHandshake", 1, mechanisms=["PLAIN"]))
    actor.ask(request("SaslAuthenticate", 2, auth_bytes=TOKEN))
    actor.answer(response("SaslAuthenticate", 2, error_code=58, error_message="no\x1b[2J"))
    assert actor.connection.state.sasl.times == 0
    assert actor.done[-1].sasl == "PLAIN alice → refused: no\N{REPLACEMENT CHARACTER}[2J"
    assert "hunter2" not in str(actor.done[-1].row())
    actor.ask(request("Heartbeat", 3, group_id="g", generation_id=1, member_id="m"))
    actor.answer(response("Heartbeat", 3))
    assert actor.done[-1].user is None


@pytest.mark.parametrize(("mechanism", "then"), [("PLAIN", "alice"), ("GSSAPI", None)])
def test_a_certificate_names_the_user_until_the_client_begins_sasl(
    mechanism: str, then: str | None
) -> None:
    actor = Stage().actor()
    actor.connection.state.certified = "CN=bob"
    beat = {"group_id": "g", "generation_id": 1, "member_id": "m"}
    steps: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("Heartbeat", beat, {}),
        ("SaslHandshake", {"mechanism": mechanism}, {"error_code": 33}),
        ("SaslHandshake", {"mechanism": mechanism}, {}),
        ("SaslAuthenticate", {"auth_bytes": TOKEN}, {}),
        ("Heartbeat", beat, {}),
    ]
    for number, (name, asked, answered) in enumerate(steps):
        actor.ask(request(name, number, **asked))
        actor.answer(response(name, number, **answered))
    assert [exchange.user for exchange in actor.done] == ["CN=bob"] * 3 + [None, then]


def test_control_names_the_user() -> None:
    answers: list[tuple[str, dict[str, Any]]] = [
        ("SaslHandshake", {"mechanisms": ["PLAIN"]}),
        ("SaslAuthenticate", {}),
    ]

    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for name, fields in answers:
            (number,) = struct.unpack_from(">i", await read_frame(reader), 4)
            writer.write(response(name, number, **fields))
        await reader.read()
        writer.close()

    async def main() -> None:
        async with running(broker, observed=False) as it:
            reader, writer = await it.connect()
            writer.write(request("SaslHandshake", 1, mechanism="PLAIN"))
            await asyncio.wait_for(read_frame(reader), SOON)
            (relay,) = it.proxy.relays.values()
            assert connection(relay)["sasl"] == {
                "mechanism": "PLAIN",
                "user": "",
                "authenticated": 0,
            }
            writer.write(request("SaslAuthenticate", 2, auth_bytes=TOKEN))
            await asyncio.wait_for(read_frame(reader), SOON)
            assert connection(relay)["sasl"] == {
                "mechanism": "PLAIN",
                "user": "alice",
                "authenticated": 1,
            }
            writer.close()

    asyncio.run(main())
