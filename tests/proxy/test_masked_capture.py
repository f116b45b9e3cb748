"""The capture of a connection holds no secret, however its bytes come, and reads as the log did."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from barnabas.captures.checks import CHECKS
from barnabas.captures.checks.running import run
from barnabas.captures.kafka import notes
from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import STRAY, UNREADABLE, Exchange
from barnabas.captures.reader import CaptureReader
from barnabas.captures.tcp.events import Chunk
from barnabas.captures.writing.masked_flow import MaskedFlow
from barnabas.captures.writing.masking import Masking
from barnabas.captures.writing.writer import CaptureWriter
from barnabas.proxy.connection.actions import NOTHING, PASS, Actions, Cut, Hide, Left
from barnabas.proxy.connection.requests import ADDRESSES
from barnabas.proxy.fastpath.plan import Plan
from barnabas.specs.frames import Direction
from barnabas.specs.records import Record, build
from tests.proxy.playbook import (
    Actor,
    Chunks,
    Stage,
    bytewise,
    heartbeat_request,
    heartbeat_response,
    raw,
    request,
    response,
    whole,
)

PASSWORD = b"hunter2-is-secret"
VALUE = b"shown-to-nobody"


def pieces(size: int) -> Chunks:
    def cut(data: bytes) -> Iterator[bytes]:
        for at in range(0, len(data), size):
            yield data[at : at + size]

    return cut


CHUNKS = pytest.mark.parametrize(
    "chunks", [whole, bytewise, pieces(5), pieces(23)], ids=["whole", "bytewise", "5", "23"]
)
OBSERVED = pytest.mark.parametrize("observed", [True, False], ids=["log", "no log"])


class Recorded(Actor):
    """A connection with a capture, as the relay writes it."""

    def __init__(self, stage: Stage, path: Path, masking: Masking) -> None:
        stage.plan = Plan(stage.rules, hides=masking.hides, quotes=masking.key is None)
        super().__init__(stage, 1, 1)
        stage.actors.append(self)
        self.path = path
        self.writer = CaptureWriter(path, limit=None, meta={})
        here = ("127.0.0.1", 1)
        comment = {"client": "client:1", "broker": 1}
        flow = self.writer.open(1, here, ("127.0.0.1", 2), stage.now, comment)
        self.flow = MaskedFlow(flow, masking)
        self.flow.upstream(here, ("127.0.0.1", 3))

    def perform(
        self, actions: Actions, direction: Direction = "request", chunk: memoryview | None = None
    ) -> None:
        now = self.stage.now
        if actions is PASS:
            assert chunk is not None
            self.flow.arrived(direction, chunk, now)
        elif actions is NOTHING and chunk is not None:
            self.flow.unread(direction, len(chunk), now)
        elif chunk is not None:
            cuts = [(one.offset, one.comment) for one in actions if isinstance(one, Cut)]
            hidden = [one.frame for one in actions if isinstance(one, Hide)]
            rest = self.connection.undecided(direction)
            self.flow.took(direction, chunk, now, cuts, hidden, rest)
        for action in actions:
            if isinstance(action, Left):
                way, data, comment, key, version = action
                self.flow.left(way, data, now, comment, key, version)
        super().perform(actions, direction, chunk)

    def finish(self) -> bytes:
        """The bytes of the capture."""
        self.close()
        self.flow.close(self.stage.now)
        self.writer.close()
        return self.path.read_bytes()

    def decoded(self) -> list[Exchange]:
        return list(Conversations().exchanges(CaptureReader(self.path)))

    def arrived(self, direction: Direction) -> bytes:
        return b"".join(
            event.data
            for event in CaptureReader(self.path)
            if isinstance(event, Chunk) and (event.flow, event.direction) == ("arrived", direction)
        )


@pytest.fixture
def recorded(tmp_path: Path) -> Callable[..., Recorded]:
    def make(scenario: str = "", masking: Masking | None = None, **options: Any) -> Recorded:
        stage = Stage(scenario, **options)
        return Recorded(stage, tmp_path / "run.pcapng", masking or Masking())

    return make


def shown(exchanges: list[Exchange]) -> list[dict[str, Any]]:
    """What is said of exchanges, but for the addresses."""
    return [one.row() | {"client_address": ""} for one in exchanges]


PLAIN = b"\0alice\0" + PASSWORD


@CHUNKS
@OBSERVED
def test_tokens_and_what_stands_around_them(
    recorded: Callable[..., Recorded], chunks: Chunks, observed: bool
) -> None:
    actor = recorded(observed=observed)
    asked = [
        request("SaslHandshake", 1, mechanism="PLAIN"),
        request("SaslAuthenticate", 2, auth_bytes=PLAIN),
        heartbeat_request(3),
        request("SaslHandshake", 4, mechanism="PLAIN"),
        request("SaslAuthenticate", 5, auth_bytes=PLAIN),
        heartbeat_request(6),
    ]
    answered = [
        response("SaslHandshake", 1, mechanisms=["PLAIN"]),
        response("SaslAuthenticate", 2, session_lifetime_ms=10_000),
        heartbeat_response(3),
        response("SaslHandshake", 4, mechanisms=["PLAIN"]),
        response("SaslAuthenticate", 5, session_lifetime_ms=10_000),
        heartbeat_response(6),
    ]
    for one, other in zip(asked, answered, strict=True):
        actor.ask(one, chunks)
        actor.answer(other, chunks)
        actor.stage.wait(1)
    assert bytes(actor.sent["request"]) == b"".join(asked)
    assert bytes(actor.sent["response"]) == b"".join(answered)
    data = actor.finish()
    assert PASSWORD not in data
    starred = [frame.replace(PLAIN, b"*" * len(PLAIN)) for frame in asked]
    assert actor.arrived("request") == b"".join(starred)
    assert actor.arrived("response") == b"".join(answered)
    decoded = actor.decoded()
    assert [one.sasl for one in decoded] == [
        "",
        "PLAIN alice → authenticated for 10 s",
        "",
        "",
        "PLAIN alice → authenticated again for 10 s",
        "",
    ]
    assert [one.user for one in decoded] == [None, None, "alice", "alice", "alice", "alice"]
    if observed:
        assert shown(decoded) == shown(actor.done)


@pytest.mark.parametrize("size", [1, 5, 23, 40, 64, 1000])
def test_chunks_that_end_within_frames(recorded: Callable[..., Recorded], size: int) -> None:
    actor = recorded()
    asked = b"".join(
        [
            request("Metadata", 1, topics=[{"name": "orders"}]),
            request("SaslAuthenticate", 2, auth_bytes=PLAIN),
            request("SaslAuthenticate", 3, auth_bytes=PLAIN),
            heartbeat_request(4),
            request("SaslAuthenticate", 5, auth_bytes=PLAIN),
        ]
    )
    actor.ask(asked, pieces(size))
    assert bytes(actor.sent["request"]) == asked
    assert PASSWORD not in actor.finish()
    assert actor.arrived("request") == asked.replace(PLAIN, b"*" * len(PLAIN))


@CHUNKS
def test_raw_tokens_are_understood_without_a_capture(chunks: Chunks) -> None:
    actor = Stage().actor()
    actor.ask(request("SaslHandshake", 1, version=0, mechanism="PLAIN"), chunks)
    actor.answer(response("SaslHandshake", 1, version=0, mechanisms=["PLAIN"]), chunks)
    actor.ask(raw(PLAIN), chunks)
    actor.answer(raw(b""), chunks)
    assert [one.sasl for one in actor.done] == ["", "PLAIN alice → authenticated"]
    assert actor.connection.state.sasl.who == "PLAIN alice"


@CHUNKS
@OBSERVED
def test_raw_tokens_behind_handshake_v0(
    recorded: Callable[..., Recorded], chunks: Chunks, observed: bool
) -> None:
    actor = recorded(observed=observed)
    actor.ask(request("SaslHandshake", 1, version=0, mechanism="SCRAM-SHA-256"), chunks)
    actor.answer(response("SaslHandshake", 1, version=0, mechanisms=["SCRAM-SHA-256"]), chunks)
    for token, answer in ((b"n,,n=alice,r=1", b"r=12,s=x,i=1"), (b"c=biws,p=" + PASSWORD, b"v=y")):
        actor.ask(raw(token), chunks)
        actor.answer(raw(answer), chunks)
    actor.ask(heartbeat_request(2), chunks)
    actor.answer(heartbeat_response(2), chunks)
    data = actor.finish()
    assert PASSWORD not in data
    assert b"n=alice" not in data
    assert b"s=x,i=1" not in data
    assert [one.sasl for one in actor.decoded()] == [
        "",
        "SCRAM-SHA-256 alice → challenge",
        "SCRAM-SHA-256 alice → authenticated",
        "",
    ]
    assert not actor.said


@pytest.mark.parametrize("size", range(5, 60, 3))
def test_what_is_cut_off_shows_its_size_only(recorded: Callable[..., Recorded], size: int) -> None:
    actor = recorded()
    actor.ask(request("SaslHandshake", 1, version=0, mechanism="PLAIN"))
    actor.ask(raw(b"\0a\0" + b"secret" * 10)[:size], bytewise)
    data = actor.finish()
    assert set(actor.arrived("request")[-size:][4:]) <= set(b"*")
    assert b"secret" not in data
    assert len(actor.arrived("request")) == size + len(
        request("SaslHandshake", 1, version=0, mechanism="PLAIN")
    )


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


SLOW = """
version: 1
rules:
  - name: slow
    match: {api: [SaslAuthenticate, Produce, Fetch]}
    do: {delay: {by: 5ms}}
"""


def test_what_left_late_is_masked_too(recorded: Callable[..., Recorded]) -> None:
    actor = recorded(SLOW)
    actor.ask(request("SaslHandshake", 1, mechanism="PLAIN"))
    actor.answer(response("SaslHandshake", 1, mechanisms=["PLAIN"]))
    actor.ask(request("SaslAuthenticate", 2, auth_bytes=PLAIN))
    actor.stage.wait(6)
    assert PASSWORD in bytes(actor.sent["request"])
    actor.answer(response("SaslAuthenticate", 2))
    actor.stage.wait(6)
    assert len(actor.left) == 2
    assert PASSWORD not in actor.finish()
    assert shown(actor.decoded()) == shown(actor.done)


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


def test_without_a_capture_nothing_waits_for_masking(recorded: Callable[..., Recorded]) -> None:
    stage = Stage(observed=False)
    actor = stage.actor()
    frame = request("AlterConfigs", 1, resources=[], validate_only=False)
    actor.ask(frame[:-2])
    assert bytes(actor.sent["request"]) == frame[:-2]
    assert dataclasses.asdict(Masking())["key"] is None


@OBSERVED
@pytest.mark.parametrize("do", ["close", "{blackhole: {at_most: 1m}}"])
@pytest.mark.parametrize("together", [True, False])
def test_what_comes_behind_the_end_is_not_shown(
    recorded: Callable[..., Recorded], do: str, together: bool, observed: bool
) -> None:
    rule = f"{{name: r, match: {{api: LeaveGroup, direction: request}}, do: {do}}}"
    actor = recorded(f"version: 1\nrules: [{rule}]", observed=observed)
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


def rule(match: str, do: str) -> str:
    return f"version: 1\nrules: [{{name: r, match: {match}, do: {do}}}]\n"


RECORDS_AT = "topic_data[0].partition_data[0].records"


@pytest.mark.parametrize("hidden", [True, False], ids=["no payload", "payload"])
@pytest.mark.parametrize(
    "scenario",
    [
        rule(
            "{api: Produce, direction: request}",
            f"{{corrupt: {{path: '{RECORDS_AT}', what: byte}}}}",
        ),
        rule("{api: Produce, direction: request}", "{skew: {by: 1h}}"),
        rule("{api: Fetch, direction: response}", "{edit: {set: {throttle_time_ms: 1}}}"),
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


NODE = {"node_id": 1, "host": "real", "port": 9092}
METADATA = response("Metadata", 2, version=9, brokers=[NODE])

WITHHELD: dict[str, tuple[bytes, bytes]] = {
    "of a version to come": (
        raw(struct.pack(">hhih", 3, 99, 2, -1) + b"\0\1"),
        raw(struct.pack(">i", 2) + b"\0" + PASSWORD),
    ),
    "that nobody asked for": (heartbeat_request(2), raw(struct.pack(">i", 7) + PASSWORD)),
    "to a header that can't be read": (
        raw(struct.pack(">hhih", 3, 9, 2, -1) + b"\xff\xff\xff\xff\x0f" + bytes(20)),
        METADATA,
    ),
    "whose addresses can't be found": (
        request("Metadata", 2, version=9),
        raw(METADATA[4:9] + b"\xff" * 30),
    ),
}
"""A request, and a response that may not pass."""


def _number(exchange: Exchange) -> int:
    return exchange.correlation_id


@CHUNKS
@pytest.mark.parametrize("behind", [True, False], ids=["another behind it", ""])
@pytest.mark.parametrize("case", WITHHELD)
def test_a_response_that_is_withheld_is_recorded_as_such(
    recorded: Callable[..., Recorded], case: str, behind: bool, chunks: Chunks
) -> None:
    actor = recorded()
    asked, withheld = WITHHELD[case]
    named = request("Metadata", 1, version=9), response("Metadata", 1, version=9, brokers=[NODE])
    last = heartbeat_request(3), heartbeat_response(3)
    actor.ask(named[0] + asked + last[0], chunks)
    actor.answer(named[1] + withheld + last[1] * behind, chunks)
    assert actor.aborted
    assert actor.ids("response") == [1]
    assert (actor.stage.totals.withheld, len(actor.said)) == (1, actor.stage.totals.undecoded + 1)
    actor.finish()
    shown_of_it = actor.arrived("response")[len(named[1]) :][: len(withheld)]
    if case == "to a header that can't be read":  # nor is there one in the answer, for all we know
        assert shown_of_it == withheld[:4] + b"*" * (len(withheld) - 4)
    elif case == "that nobody asked for":
        assert shown_of_it == withheld[:8] + b"*" * (len(withheld) - 8)
    else:
        assert shown_of_it == withheld
    packet = next(
        event
        for event in CaptureReader(actor.path)
        if isinstance(event, Chunk) and any("withheld" in one for one in event.comments)
    )
    assert packet.data.endswith(shown_of_it[-1:])
    assert packet.comments[-1]["frame"] == 1
    assert packet.comments[-1]["left"] == "never"
    assert "can't be replaced" in packet.comments[-1]["withheld"]
    conversations = Conversations(strays=True)
    decoded = list(conversations.exchanges(CaptureReader(actor.path)))
    strays = [one for one in decoded if one.key == STRAY]
    answers = sorted((one for one in decoded if one.key != STRAY), key=_number)
    told = sorted(actor.done, key=_number)
    for one in (*answers, *told):
        if one.key == UNREADABLE:
            one.client_id = None  # the log has that of the requests before
            one.note = one.note.removeprefix(f"{ADDRESSES}; ")  # a capture has it as undecodable
    assert shown(answers) == shown(told)
    assert (conversations.skipped, conversations.losses) == (0, 0)
    (note,) = (one.note for one in decoded if "withheld" in one.note)
    assert note == notes.WITHHELD
    assert [(one.correlation_id, one.answered) for one in strays] == [(7, None)] * (
        case == "that nobody asked for"
    )
    found = [finding.what for _, finding in run(decoded, CHECKS)]
    assert found == [
        f"a response with correlation id {one.correlation_id} belongs to no request in flight"
        for one in strays
    ]
