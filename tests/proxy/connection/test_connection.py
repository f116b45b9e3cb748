"""A man in the middle of Kafka, case by case, on a virtual clock: whole and byte by byte."""

from __future__ import annotations

import hashlib
import random
import struct
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from barnabas.proxy.connection.requests import Requests
from barnabas.specs import api
from tests.bodies import reassignments
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
    slicings,
)

HEARTBEAT: dict[str, Any] = {"group_id": "g", "generation_id": 1, "member_id": "m"}


def rule(do: str, match: str = "{api: Heartbeat, direction: request}", more: str = "") -> str:
    return f"version: 1\nseed: 7\nrules:\n  - name: r\n    match: {match}\n    do: {do}\n{more}"


# pairing


@slicings
def test_responses_are_paired_first_in_first_out(chunks: Chunks) -> None:
    actor = Stage().actor()
    actor.ask(heartbeat_request(5) + heartbeat_request(6), chunks)
    actor.stage.wait(10)
    actor.answer(heartbeat_response(5) + heartbeat_response(6), chunks)
    assert actor.sent["request"] == heartbeat_request(5) + heartbeat_request(6)
    assert actor.sent["response"] == heartbeat_response(5) + heartbeat_response(6)
    assert [(x.correlation_id, x.latency_ms, x.broker_ms) for x in actor.done] == [
        (5, 10.0, 10.0),
        (6, 10.0, 0.0),  # it stood behind the other one
    ]
    assert actor.connection.idle


@slicings
def test_acks_0_never_waits_and_is_drained_before_the_end(chunks: Chunks) -> None:
    actor = Stage(rule("{delay: 50ms}", "{api: Produce, direction: request}")).actor()
    produce = request("Produce", 1, version=9, acks=0, topic_data=[])
    actor.ask(produce, chunks)
    actor.end("request")
    assert actor.sent["request"] == b""
    assert actor.finished == []
    actor.stage.wait(50)
    assert actor.sent["request"] == produce
    assert actor.finished == ["request"]
    assert [x.note for x in actor.done] == ["no response (acks=0)"]
    assert actor.connection.idle


@pytest.mark.parametrize("version", range(14))
@pytest.mark.parametrize("observed", [True, False])
def test_acks_are_found_in_every_version_of_produce(version: int, observed: bool) -> None:
    stage = Stage(observed=observed)
    actor = stage.actor()
    actor.ask(heartbeat_request(1))
    actor.answer(heartbeat_response(1))
    ids = {} if version < 3 else {"transactional_id": "tx" * 50}
    for number, acks in enumerate((1, 0, -1, 0, 1)):  # all but the first may be skimmed
        body: dict[str, Any] = {"acks": acks, "timeout_ms": 0x7F7F7F7F, **ids}
        actor.ask(request("Produce", number, version=version, **body))
    assert [p.correlation_id for p in actor.connection.state.pairing.waiting] == [0, 2, 4]


def test_closing_accounts_for_what_was_under_way() -> None:
    actor = Stage(rule("{hold: {until: {api: JoinGroup}, at_most: 5s}}")).actor()
    actor.ask(request("Metadata", 1) + heartbeat_request(2))
    actor.close()
    assert [(x.correlation_id, x.note) for x in actor.done] == [
        (2, "request not forwarded: connection closed"),
        (1, "no response: connection closed"),
    ]
    assert "closed with 1 frame not forwarded" in actor.said[-1]
    assert actor.connection.tick(actor.stage.now) == ()


# memory

LARGE = raw(struct.pack(">hhih", 45, 0, 1, 1) + b"a\0" + reassignments())


def test_a_frame_that_waits_is_not_decoded_meanwhile() -> None:
    asked = "{api: AlterPartitionReassignments, direction: request}\n    where: length(topics) > 0"
    actor = Stage(rule("{delay: 1h}", asked)).actor()
    small = raw(struct.pack(">hhih", 45, 0, 1, 1) + b"a\0" + reassignments(5000))
    tracemalloc.start()
    try:
        actor.ask(small)
        kept, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert actor.sent["request"] == b""
    assert most > 50 * len(small)  # it was decoded
    assert kept < 20 * len(small)


def test_a_fault_that_decodes_leaves_what_is_too_large_as_it_came() -> None:
    actor = Stage(rule("{edit: {set: {timeout_ms: 1}}}", "{api: 45, direction: request}")).actor()
    actor.ask(LARGE)
    assert actor.sent["request"] == LARGE
    (made,) = actor.stage.rules.rules
    assert (made.fired, made.unable) == (1, 1)
    assert next(iter(made.troubles)).startswith("edit: too large to decode")


def test_an_address_does_not_leave_in_what_is_too_large_to_look_for_it() -> None:
    actor = Stage().actor()
    actor.ask(request("Metadata", 1, version=1, topics=[]))
    body = api("Metadata").response.codec(1).encode({"brokers": []})
    one = b"\0\0\0\1\0\4real\0\0\x23\x84\xff\xff"
    many = (400_000).to_bytes(4) + one * 400_000 + body[4:]
    actor.answer(raw(b"\0\0\0\1" + many))
    assert actor.sent["response"] == b""
    assert actor.aborted
    assert "too large to decode" in actor.said[-1]


@pytest.mark.parametrize("collected", [True, False])
def test_the_log_gets_no_bodies_above_its_limit(collected: bool) -> None:
    asked = "{api: Heartbeat}\n    where: generation_id == 9"
    actor = Stage(rule("{delay: 1ms}", asked) if collected else "", copy=100).actor()
    for number, member in enumerate(("m", "m" * 100)):
        actor.ask(request("Heartbeat", number, **(HEARTBEAT | {"member_id": member})))
        actor.answer(heartbeat_response(number))
    small, large = actor.done
    assert (small.request or {})["member_id"] == "m"
    assert small.too_large == ()
    assert (large.request_body, large.request, large.too_large) == (None, None, ("request",))


@pytest.mark.parametrize("collected", [True, False])
def test_bodies_of_requests_that_wait_are_bounded(collected: bool) -> None:
    asked = "{api: Heartbeat}\n    where: generation_id == 9"
    stage = Stage(rule("{delay: 1ms}", asked) if collected else "", queued=1000)
    actor = stage.actor()
    for number in range(200):
        actor.ask(heartbeat_request(number))
    waiting = actor.connection.state.pairing.waiting
    kept = sum(len(pending.body or b"") for pending in waiting)
    assert len(waiting) == 200
    assert 900 < kept == actor.connection.state.kept <= 1000
    for number in range(200):
        actor.answer(heartbeat_response(number))
    assert actor.connection.state.kept == 0
    assert 0 < sum(done.request is not None for done in actor.done) < 200


def test_no_more_is_read_while_rules_need_bodies_of_too_many_requests() -> None:
    match = "{api: Heartbeat, direction: response, group: g}"
    actor = Stage(rule("{delay: 1ms}", match), observed=False, queued=1000).actor()
    for number in range(200):
        assert actor.connection.full("request") == (actor.connection.state.kept > 1000)
        actor.ask(heartbeat_request(number))
    assert actor.connection.full("request")
    for number in range(200):
        actor.answer(heartbeat_response(number))
        actor.stage.wait(2)
    assert not actor.connection.full("request")
    assert actor.connection.state.kept == 0


def test_answers_of_the_proxy_that_wait_for_their_turn_are_counted() -> None:
    do = "{respond: {error: UNKNOWN_MEMBER_ID}}"
    actor = Stage(rule(do), observed=False, queued=100).actor()
    actor.ask(request("Metadata", 0))
    number = 1
    while not actor.connection.full("request"):
        actor.ask(heartbeat_request(number))
        number += 1
        assert number < 100
    actor.answer(response("Metadata", 0))
    assert len(actor.frames("response")) == number
    assert actor.connection.state.kept == 0


def long_client_id(size: int) -> bytes:
    return request("Heartbeat", 1, client="x" * size, **HEARTBEAT)


def many_tags(count: int) -> bytes:
    """A header with so many tagged fields of two bytes."""
    fields = struct.pack(">hhih", 12, 4, 1, -1)
    fields += bytes((count & 0x7F | 0x80, count >> 7)) + bytes(2 * count)
    return struct.pack(">i", len(fields) + 8) + fields + bytes(8)


@pytest.mark.parametrize("frame", [long_client_id, many_tags])
def test_a_header_in_tiny_pieces_costs_as_much_as_it_is_long(
    frame: Callable[[int], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bytes that are looked at in all, by whoever reads the header."""
    looked = 0
    begin = Requests.begin

    def counted(self: Requests, view: memoryview | bytes, have: int, now: int, at: int) -> bool:
        nonlocal looked
        looked += have
        return begin(self, view, have, now, at)

    monkeypatch.setattr(Requests, "begin", counted)
    data = frame(8_000)
    actor = Stage(observed=False).actor()
    actor.ask(data, bytewise)
    assert actor.sent["request"] == data
    assert looked < 12 * len(data)


# identity


def odd_traffic() -> tuple[bytes, bytes]:
    """Requests and responses that no schema reads, or that would not re-encode to the same bytes."""
    unknown = struct.pack(">hhih", 999, 7, 1, -1) + b"anything"
    too_new = struct.pack(">hhih", 12, 99, 2, 1) + b"a" + b"later fields"
    overlong = request("Metadata", 3, version=9, topics=[])[4:-5] + b"\x81\0\x07\0\0\0"
    requests = [raw(unknown), raw(too_new), raw(overlong), raw(b"\0\x0c"), raw(b"")]
    requests.append(request("ControlledShutdown", 6, version=0, broker_id=1))
    responses = [raw(struct.pack(">i", 1) + b"who knows"), raw(struct.pack(">i", 2) + b"x" * 300)]
    brokers = [{"node_id": -1, "host": "", "port": -1}]
    responses.append(response("Metadata", 3, version=9, brokers=brokers))
    responses += [raw(b"?"), raw(b""), raw(struct.pack(">i", 6) + b"\0\0")]
    return b"".join(requests), b"".join(responses)


@settings(max_examples=60)
@given(st.booleans(), st.integers(0, 2**32))
def test_without_rules_what_comes_out_is_what_went_in(observed: bool, seed: int) -> None:
    choose = random.Random(seed)

    def sliced(data: bytes) -> Iterator[bytes]:
        at = 0
        while at < len(data):
            step = choose.choice((1, 2, 7, 50, 1000))
            yield data[at : at + step]
            at += step

    actor = Stage(observed=observed).actor()
    asked, answered = heartbeat_request(0), heartbeat_response(0)
    actor.ask(asked, sliced)
    actor.answer(answered, sliced)
    requests, responses = odd_traffic()
    actor.ask(requests, sliced)
    actor.answer(responses, sliced)
    for direction, data in (("request", asked + requests), ("response", answered + responses)):
        out = bytes(actor.sent[direction])  # type: ignore[index]
        assert hashlib.sha256(out).digest() == hashlib.sha256(data).digest()
    assert not actor.aborted


@pytest.mark.parametrize("cut", [1, 5, 12])
def test_a_frame_that_is_cut_off_by_the_end_is_sent_as_far_as_it_came(cut: int) -> None:
    actor = Stage().actor()
    actor.ask(heartbeat_request(1) + heartbeat_request(2)[:cut])
    actor.end("request")
    assert actor.sent["request"] == heartbeat_request(1) + heartbeat_request(2)[:cut]
    assert actor.finished == ["request"]


@given(st.lists(st.integers(0, 3000), min_size=1, max_size=20), st.data())
@settings(max_examples=50)
def test_skimming_and_the_careful_path_agree(sizes: list[int], data: st.DataObject) -> None:
    asked = b"".join(
        request("Heartbeat", n, group_id="g" * size, generation_id=1, member_id="")
        for n, size in enumerate(sizes)
    )
    answered = b"".join(map(heartbeat_response, range(len(sizes))))
    step = data.draw(st.integers(1, 5000))

    def sliced(frames: bytes) -> Iterator[bytes]:
        for at in range(0, len(frames), step):
            yield frames[at : at + step]

    rows = []
    for observed in (True, False):
        actor = Stage(observed=observed).actor()
        actor.ask(asked, sliced)
        actor.answer(answered, sliced)
        assert actor.sent["request"] == asked
        assert actor.sent["response"] == answered
        assert actor.connection.idle
        rows.append([(row.api, row.count) for row in actor.stage.tally.rows()])
    assert rows[0] == rows[1] == [("Heartbeat", len(sizes))]


# what is edited without a rule


@slicings
def test_addresses_are_those_of_the_proxy(chunks: Chunks) -> None:
    actor = Stage().actor()
    brokers = [{"node_id": 3, "host": "real", "port": 9092}]
    actor.ask(request("Metadata", 1, version=12), chunks)
    actor.answer(response("Metadata", 1, version=12, brokers=brokers), chunks)
    there = [{"node_id": 3, "host": "proxy", "port": 10_003}]
    changed = response("Metadata", 1, version=12, brokers=there)
    assert actor.sent["response"] == changed
    assert actor.cuts == [{"frame": 0, "edits": ["addresses"], "left": "changed"}]
    assert actor.left == [("response", changed, {"frame": 0, "edits": ["addresses"]})]
    assert actor.done[0].response == api("Metadata").response.codec(12).decode(changed[9:])


def versions_offered(actor: Actor) -> dict[int, tuple[int, int]]:
    body = actor.frames("response")[-1][8:]
    found = api("ApiVersions").response.codec(0).decode(body)["api_keys"]
    return {x["api_key"]: (x["min_version"], x["max_version"]) for x in found}


def test_api_versions_are_narrowed_to_what_is_understood() -> None:
    actor = Stage().actor()
    offered = [(5, 0, 99), (1, 4, 11), (55, 0, 2), (82, 0, 0), (500, 0, 3), (3, 20, 30)]
    keys = [{"api_key": key, "min_version": low, "max_version": high} for key, low, high in offered]
    actor.ask(request("ApiVersions", 1, version=0))
    actor.answer(response("ApiVersions", 1, version=0, api_keys=keys))
    assert versions_offered(actor) == {5: (0, 4), 1: (4, 11), 55: (0, 2), 82: (0, 0)}


@slicings
def test_a_newer_api_versions_reaches_the_broker_as_its_oldest(chunks: Chunks) -> None:
    actor = Stage().actor()
    newer = raw(struct.pack(">hhih", 18, 77, 2, 2) + b"me\0newer fields")
    actor.ask(heartbeat_request(1) + newer + heartbeat_request(3), chunks)
    oldest = request("ApiVersions", 2, version=0)
    assert actor.sent["request"] == heartbeat_request(1) + oldest + heartbeat_request(3)
    actor.answer(heartbeat_response(1), chunks)
    keys = [{"api_key": key, "min_version": 0, "max_version": 4} for key in (3, 18)]
    actor.answer(response("ApiVersions", 2, version=0, api_keys=keys), chunks)
    actor.answer(heartbeat_response(3), chunks)
    assert actor.ids("response") == [1, 2, 3]
    body = api("ApiVersions").response.codec(0).decode(actor.frames("response")[1][8:])
    assert body["error_code"] == 35
    assert body["api_keys"] == keys[1:]
    assert [x.note for x in actor.done] == ["", "", ""]
    assert [(x.version, x.error) for x in actor.done][1] == (77, "UNSUPPORTED_VERSION")


def test_addresses_are_found_between_messages_that_are_skimmed() -> None:
    actor = Stage(observed=False).actor()
    for number in range(3):
        actor.ask(heartbeat_request(number))
        actor.answer(heartbeat_response(number))
    brokers = [{"node_id": 3, "host": "real", "port": 9092}]
    actor.ask(heartbeat_request(4) + request("Metadata", 5) + heartbeat_request(6))
    actor.answer(
        heartbeat_response(4) + response("Metadata", 5, brokers=brokers) + heartbeat_response(6)
    )
    there = [{"node_id": 3, "host": "proxy", "port": 10_003}]
    assert actor.frames("response")[-2] == response("Metadata", 5, brokers=there)
    assert actor.ids("response") == [0, 1, 2, 4, 5, 6]


# other protocols, and frames that are none


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            bytes.fromhex("160301020001"),
            "client client:1 speaks TLS, not Kafka in plain text; connection closed: give --client-tls",
        ),
        (bytes.fromhex("150301000202"), "client client:1 speaks a TLS alert"),
        (b"GET / HTTP/1.1\r\n\r\n", "client client:1 speaks HTTP"),
        (b"\xff\xff\xff\xff", "client client:1 sent a frame of negative size -1"),
        (b"\x06\x40\x00\x01", "client client:1 sent a frame of 104857601 bytes"),
    ],
)
@slicings
def test_what_is_no_kafka_is_named_and_closed(data: bytes, said: str, chunks: Chunks) -> None:
    actor = Stage().actor()
    actor.ask(data, chunks)
    assert actor.aborted
    assert len(actor.said) == 1
    assert said in actor.said[0]
    assert actor.sent["request"] == b""


def test_a_broker_that_speaks_tls_is_named() -> None:
    actor = Stage().actor(broker=4)
    actor.ask(heartbeat_request(1))
    actor.answer(bytes.fromhex("15030100020228"))
    assert actor.aborted
    (line,) = actor.said
    said = (
        "broker 4 speaks a TLS alert, not Kafka in plain text; connection closed: give --broker-tls"
    )
    assert line.endswith(said)


@slicings
def test_raw_tokens_behind_sasl_handshake_v0(chunks: Chunks) -> None:
    actor = Stage().actor()
    handshake = request("SaslHandshake", 1, version=0, mechanism="PLAIN")
    actor.ask(handshake, chunks)
    actor.answer(response("SaslHandshake", 1, version=0, mechanisms=["PLAIN"]), chunks)
    actor.ask(raw(b"\0user\0secret"), chunks)
    actor.answer(raw(b""), chunks)
    actor.ask(heartbeat_request(2), chunks)
    actor.answer(heartbeat_response(2), chunks)
    assert actor.sent["request"] == handshake + raw(b"\0user\0secret") + heartbeat_request(2)
    assert [x.api for x in actor.done] == ["SaslHandshake", "SASL token", "Heartbeat"]
    assert actor.stage.totals.undecoded == 0


def test_reading_pauses_when_too_much_waits_and_goes_on() -> None:
    stage = Stage(rule("{delay: 1s}"), queued=100)
    actor = stage.actor()
    for number in range(4):
        actor.ask(heartbeat_request(number))
    assert actor.connection.full("request")
    stage.wait(1000)
    assert not actor.connection.full("request")
    assert len(actor.frames("request")) == 4

    actor = Stage(waiting=3).actor()
    for number in range(3):
        actor.ask(heartbeat_request(number))
    assert actor.connection.full("request")
    actor.answer(heartbeat_response(0))
    assert not actor.connection.full("request")


def test_half_close_goes_through_each_way() -> None:
    actor = Stage().actor()
    actor.ask(heartbeat_request(1))
    actor.end("request")
    assert actor.finished == ["request"]
    actor.answer(heartbeat_response(1))
    actor.end("response")
    assert actor.finished == ["request", "response"]
    assert actor.sent["response"] == heartbeat_response(1)


def test_a_connection_that_is_closed_wants_no_more_time() -> None:
    delayed = "version: 1\nrules: [{name: a, match: {api: Heartbeat}, do: {delay: {by: 5ms}}}]"
    actor = Stage(delayed).actor()
    actor.ask(request("Heartbeat", 1, group_id="g", generation_id=1, member_id="m"))
    assert actor.connection.wake is not None
    actor.close()
    assert actor.connection.wake is None
