"""The capture of a connection holds no secret, however its bytes come, and reads as the log did."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.notes import how_closed, partial
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.events import Chunk
from barnabas.captures.writing.masking import Masking
from barnabas.specs.records import Record, build
from tests.proxy.connection.test_header_walk import in_slices
from tests.proxy.frames import (
    Chunks,
    bytewise,
    heartbeat_request,
    heartbeat_response,
    raw,
    request,
    response,
    whole,
)
from tests.proxy.playbook import Stage, one_rule
from tests.proxy.recorded import Recorded as Recorded

PASSWORD = b"hunter2-is-secret"
VALUE = b"shown-to-nobody"


CHUNKS = pytest.mark.parametrize(
    "chunks",
    [whole, bytewise, in_slices([5]), in_slices([23])],
    ids=["whole", "bytewise", "5", "23"],
)
OBSERVED = pytest.mark.parametrize("observed", [True, False], ids=["log", "no log"])


@pytest.fixture
def recorded(tmp_path: Path) -> Callable[..., Recorded]:
    def make(scenario: str = "", masking: Masking | None = None, **options: Any) -> Recorded:
        stage = Stage(scenario, **options)
        return Recorded(stage, tmp_path / "run.pcapng", masking or Masking())

    return make


def shown(exchanges: list[Exchange]) -> list[dict[str, Any]]:
    """Return exchanges in JSON form, without addresses."""
    return [one.row() | {"client_address": ""} for one in exchanges]


SLOW = one_rule("{delay: 5ms}", "{api: [SaslAuthenticate, Produce, Fetch]}")

PLAIN = b"\0alice\0" + PASSWORD


def conversation(number: int) -> list[tuple[bytes, bytes]]:
    """Return an authentication and a Heartbeat, from this correlation id on."""
    handshake = response("SaslHandshake", number, mechanisms=["PLAIN"])
    answer = response("SaslAuthenticate", number + 1, session_lifetime_ms=10_000)
    return [
        (request("SaslHandshake", number, mechanism="PLAIN"), handshake),
        (request("SaslAuthenticate", number + 1, auth_bytes=PLAIN), answer),
        (heartbeat_request(number + 2), heartbeat_response(number + 2)),
    ]


@CHUNKS
@OBSERVED
@pytest.mark.parametrize("scenario", ["", SLOW], ids=["", "late"])
def test_tokens_and_what_stands_around_them(
    recorded: Callable[..., Recorded], chunks: Chunks, scenario: str, observed: bool
) -> None:
    actor = recorded(scenario, observed=observed)
    talk = conversation(1) + conversation(4)
    for asked, answered in talk:
        actor.ask(asked, chunks)
        actor.stage.wait(6)
        actor.answer(answered, chunks)
        actor.stage.wait(6)
    assert len(actor.left) == (4 if scenario else 0)
    requests, responses = (b"".join(frames) for frames in zip(*talk, strict=True))
    assert actor.sent == {"request": requests, "response": responses}
    assert PASSWORD not in actor.finish()
    assert actor.arrived("request") == requests.replace(PLAIN, b"*" * len(PLAIN))
    assert actor.arrived("response") == responses
    decoded = actor.decoded()
    first, again = (f"PLAIN alice → authenticated {how}for 10 s" for how in ("", "again "))
    assert [one.sasl for one in decoded] == ["", first, "", "", again, ""]
    assert [one.user for one in decoded] == [None, None, *["alice"] * 4]
    if observed:
        assert shown(decoded) == shown(actor.done)


@CHUNKS
@OBSERVED
@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_raw_tokens_behind_handshake_v0(
    recorded: Callable[..., Recorded], chunks: Chunks, observed: bool, mechanism: str
) -> None:
    actor = recorded(observed=observed)
    actor.ask(request("SaslHandshake", 1, version=0, mechanism=mechanism), chunks)
    actor.answer(response("SaslHandshake", 1, version=0, mechanisms=[mechanism]), chunks)
    scram = ((b"n,,n=alice,r=1", b"r=12,s=x,i=1"), (b"c=biws,p=" + PASSWORD, b"v=y"))
    for token, answer in ((PLAIN, b""),) if mechanism == "PLAIN" else scram:
        actor.ask(raw(token), chunks)
        actor.answer(raw(answer), chunks)
    actor.ask(heartbeat_request(2), chunks)
    actor.answer(heartbeat_response(2), chunks)
    data = actor.finish()
    assert not [secret for secret in (PASSWORD, b"n=alice", b"s=x,i=1") if secret in data]
    outcomes = ["authenticated"] if mechanism == "PLAIN" else ["challenge", "authenticated"]
    told = ["", *(f"{mechanism} alice → {outcome}" for outcome in outcomes), ""]
    assert [one.sasl for one in actor.decoded()] == told
    assert [one.sasl for one in actor.done] == told * observed
    assert actor.connection.state.sasl.who == f"{mechanism} alice"
    assert not actor.said


@pytest.mark.parametrize("size", range(5, 60, 3))
def test_what_is_cut_off_shows_its_size_only(recorded: Callable[..., Recorded], size: int) -> None:
    actor = recorded()
    handshake = request("SaslHandshake", 1, version=0, mechanism="PLAIN")
    actor.ask(handshake)
    actor.ask(raw(b"\0a\0" + b"secret" * 10)[:size], bytewise)
    assert b"secret" not in actor.finish()
    arrived = actor.arrived("request")
    assert set(arrived[-size:][4:]) <= set(b"*")
    assert len(arrived) == len(handshake) + size


def test_of_what_is_cut_off_it_is_said_who_ended_it(recorded: Callable[..., Recorded]) -> None:
    actor = recorded()
    frame = heartbeat_request(1)
    actor.ask(frame[:20])
    actor.flow.close(actor.stage.now, by="request")
    actor.writer.close()
    (one,) = actor.decoded()
    assert one.note == partial("request", 20, len(frame), how_closed("request", reset=False))


def test_a_token_without_a_handshake(recorded: Callable[..., Recorded]) -> None:
    """GSSAPI of 0.9: neither a header nor a handshake in front."""
    actor = recorded()
    actor.ask(raw(b"\x60\x82\x02\x03" + PASSWORD))
    assert PASSWORD in bytes(actor.sent["request"])
    assert PASSWORD not in actor.finish()


def test_pieces_keep_the_time_of_their_arrival(recorded: Callable[..., Recorded]) -> None:
    actor = recorded()
    start = actor.stage.now
    frame = request("SaslAuthenticate", 2, auth_bytes=PLAIN)
    for at in range(0, len(frame), 10):
        actor.ask(frame[at : at + 10])
        actor.stage.wait(1)
    actor.finish()
    times = [
        (event.ts_ns - start) // 1_000_000
        for event in CaptureReader(actor.path)
        if isinstance(event, Chunk) and event.data
    ]
    assert times == list(range(-(-len(frame) // 10)))


@CHUNKS
@pytest.mark.parametrize("scenario", ["", SLOW], ids=["", "late"])
def test_payload_on_request(
    recorded: Callable[..., Recorded], chunks: Chunks, scenario: str
) -> None:
    masking = Masking.of_payload()
    actor = recorded(scenario, masking)
    record_set = build([Record(0, 5, b"k" * 9, VALUE, (("trace", VALUE),))])
    sent = [{"name": "orders", "partition_data": [{"index": 0, "records": record_set}]}]
    came = [{"topic": "orders", "partitions": [{"partition_index": 0, "records": record_set}]}]
    actor.ask(request("Produce", 1, version=9, acks=1, topic_data=sent), chunks)
    actor.stage.wait(6)
    actor.answer(response("Produce", 1, version=9), chunks)
    actor.stage.wait(6)
    actor.ask(request("Produce", 2, version=9, acks=0, topic_data=sent), chunks)
    actor.ask(request("Fetch", 3, version=11), chunks)
    actor.stage.wait(12)
    actor.answer(response("Fetch", 3, version=11, responses=came), chunks)
    actor.stage.wait(6)
    actor.answer(raw(bytes.fromhex("0000ffff") + VALUE), chunks)  # nobody asked for it
    assert bytes(actor.sent["request"]).count(VALUE) == 4
    assert VALUE not in actor.finish()
    decoded = actor.decoded()
    hashes = {
        value for one in decoded for found in one.payload.values() for value in found.values()
    }
    assert len(hashes) == 1
    assert sum(bool(one.payload) for one in decoded) == 3
    assert shown(decoded) == shown([masking.exchange(one) for one in actor.done])


@OBSERVED
@pytest.mark.parametrize("do", ["close", "{blackhole: {at_most: 1m}}"])
@pytest.mark.parametrize("together", [True, False])
def test_what_comes_behind_the_end_is_not_shown(
    recorded: Callable[..., Recorded], do: str, together: bool, observed: bool
) -> None:
    actor = recorded(one_rule(do, "{api: LeaveGroup, direction: request}"), observed=observed)
    leave = request("LeaveGroup", 1, group_id="g", member_id="m")
    secret = request("SaslAuthenticate", 2, auth_bytes=PLAIN)
    for data in (leave + secret,) if together else (leave, secret):
        actor.ask(data)
    written = actor.finish()
    assert PASSWORD not in written
    assert actor.arrived("request")[: len(leave)] == leave
    assert len(actor.arrived("request")) == len(leave + secret)


def test_what_comes_behind_nonsense_is_not_shown(recorded: Callable[..., Recorded]) -> None:
    actor = recorded()
    actor.ask(b"\xff\xff\xff\xff" + request("SaslAuthenticate", 2, auth_bytes=PLAIN))
    assert PASSWORD not in actor.finish()


QUOTED = b"N" * 200
"""No record set; what reads it as one finds 78, or 1313754702, where it expects something else."""


RECORDS_AT = "topic_data[0].partition_data[0].records"


@pytest.mark.parametrize("hidden", [True, False], ids=["no payload", "payload"])
@pytest.mark.parametrize(
    "scenario",
    [
        one_rule(
            f"{{corrupt: {{path: '{RECORDS_AT}', what: byte}}}}",
            "{api: Produce, direction: request}",
        ),
        one_rule("{skew: {by: 1h}}", "{api: Produce, direction: request}"),
        one_rule("{edit: {set: {throttle_time_ms: 1}}}", "{api: Fetch, direction: response}"),
        "",
    ],
    ids=["corrupt", "skew", "edit", "addresses"],
)
def test_no_reason_tells_what_payload_is(
    recorded: Callable[..., Recorded], scenario: str, hidden: bool
) -> None:
    masking = Masking.of_payload() if hidden else Masking()
    actor = recorded(scenario, masking, observed=False)
    topics = [{"name": "t", "partition_data": [{"index": 0, "records": QUOTED}]}]
    actor.ask(request("Produce", 1, version=7, acks=1, topic_data=topics))
    actor.ask(request("Fetch", 2, version=16, topics=[]))
    actor.answer(response("Produce", 1, version=7))
    spoilt = response("Fetch", 2, version=16)
    size = len(spoilt) - 4 + 40
    actor.answer(size.to_bytes(4) + spoilt[4:20] + b"N" * (size - 16))
    said = "\n".join(actor.said) + actor.finish().decode("latin-1")
    told = [number for number in ("not 78", "1313754702", "78 ", "77 ") if number in said]
    assert bool(told) != hidden
    assert "at byte" in said
