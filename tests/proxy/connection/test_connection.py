"""A connection on a virtual clock: what it keeps in memory, and that bytes come out as they went in."""

from __future__ import annotations

import struct
import tracemalloc
from collections.abc import Callable

import pytest

from barnabas.proxy.connection.requests import Requests
from barnabas.specs import api
from tests.bodies import reassignments
from tests.proxy.frames import (
    Chunks,
    bytewise,
    heartbeat_request,
    heartbeat_response,
    raw,
    request,
    response,
    slicings,
)
from tests.proxy.playbook import Stage, one_rule, ruled

HEAD = struct.pack(">hhih", 45, 0, 1, 1) + b"a\0"
COLLECTED = pytest.mark.parametrize("collected", [True, False])


def collecting(collected: bool) -> str:
    """Return a rule that must read heartbeats whole, or no rule."""
    condition = "where: generation_id == 9"
    return one_rule("{delay: 1ms}", "{api: Heartbeat}", condition) if collected else ""


def test_closing_accounts_for_what_was_under_way() -> None:
    actor = ruled("{hold: {until: {api: JoinGroup}, at_most: 5s}}")
    actor.ask(request("Metadata", 1) + heartbeat_request(2))
    wakes = [actor.connection.wake]
    actor.close()
    assert [(x.correlation_id, x.note) for x in actor.done] == [
        (2, "request not forwarded: connection closed"),
        (1, "no response: connection closed"),
    ]
    assert "closed with 1 frame not forwarded" in actor.said[-1]
    wakes.append(actor.connection.wake)
    assert [wake is None for wake in wakes] == [False, True]
    assert actor.connection.tick(actor.stage.now) == ()


# memory


def test_a_frame_that_waits_is_not_decoded_meanwhile() -> None:
    about = "{api: AlterPartitionReassignments, direction: request}"
    first, actor = (ruled("{delay: 1h}", about, "where: length(topics) > 0") for _ in range(2))
    small = raw(HEAD + reassignments(5000))
    first.ask(small)  # what is made once, as the codec of a version, doesn't count
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
    actor = ruled("{edit: {set: {timeout_ms: 1}}}", "{api: 45, direction: request}")
    large = raw(HEAD + reassignments())
    actor.ask(large)
    assert actor.sent["request"] == large
    (rule,) = actor.stage.rules.rules
    assert (rule.fired, rule.unable) == (1, 1)
    assert next(iter(rule.troubles)).startswith("edit: too large to decode")


def test_an_address_does_not_leave_in_what_is_too_large_to_look_for_it() -> None:
    actor = Stage().actor()
    actor.ask(request("Metadata", 1, version=1, topics=[]))
    body = api("Metadata").response.codec(1).encode({"brokers": []})
    broker = b"\0\0\0\1\0\4real\0\0\x23\x84\xff\xff"
    actor.answer(raw(b"\0\0\0\1" + (400_000).to_bytes(4) + broker * 400_000 + body[4:]))
    assert actor.sent["response"] == b""
    assert actor.aborted
    assert "too large to decode" in actor.said[-1]


@COLLECTED
def test_the_log_gets_no_bodies_above_its_limit(collected: bool) -> None:
    limit = len(heartbeat_request(0, member_id="m" * 60)) - 4
    actor = Stage(collecting(collected), copy=limit).actor()
    for number, size in enumerate((60, 61)):
        actor.ask(heartbeat_request(number, member_id="m" * size))
        actor.answer(heartbeat_response(number))
    small, large = actor.done
    assert (small.request or {})["member_id"] == "m" * 60
    assert small.too_large == ()
    assert (large.request_body, large.request, large.too_large) == (None, None, ("request",))


@COLLECTED
def test_bodies_of_requests_that_wait_are_bounded(collected: bool) -> None:
    actor = Stage(collecting(collected), queued=1000).actor()
    for number in range(200):
        actor.ask(heartbeat_request(number))
    waiting = actor.connection.state.pairing.waiting
    kept = sum(len(pending.body or b"") for pending in waiting)
    assert len(waiting) == 200
    assert 900 < kept == actor.connection.state.retained_bytes <= 1000
    for number in range(200):
        actor.answer(heartbeat_response(number))
    assert actor.connection.state.retained_bytes == 0
    assert 0 < sum(done.request is not None for done in actor.done) < 200


def test_no_more_is_read_while_rules_need_bodies_of_too_many_requests() -> None:
    match = "{api: Heartbeat, direction: response, group: g}"
    actor = ruled("{delay: 1ms}", match, observed=False, queued=1000)
    for number in range(200):
        assert actor.connection.full("request") == (actor.connection.state.retained_bytes > 1000)
        actor.ask(heartbeat_request(number))
    assert actor.connection.full("request")
    pending = actor.connection.state.pairing.waiting[0]
    for number in range(200):
        actor.answer(heartbeat_response(number))
        actor.stage.wait(2)
    assert not actor.connection.full("request")
    assert (actor.connection.state.retained_bytes, pending.body) == (0, None)


def test_answers_of_the_proxy_that_wait_for_their_turn_are_counted() -> None:
    actor = ruled("{respond: {error: UNKNOWN_MEMBER_ID}}", observed=False, queued=100)
    actor.ask(request("Metadata", 0))
    number = 1
    while not actor.connection.full("request"):
        actor.ask(heartbeat_request(number))
        number += 1
        assert number < 100
    actor.answer(response("Metadata", 0))
    assert len(actor.frames("response")) == number
    assert actor.connection.state.retained_bytes == 0


def long_client_id(size: int) -> bytes:
    return heartbeat_request(1, client="x" * size)


def many_tags(count: int) -> bytes:
    """Return a header with so many tagged fields of two bytes."""
    fields = struct.pack(">hhih", 12, 4, 1, -1)
    fields += bytes((count & 0x7F | 0x80, count >> 7)) + bytes(2 * count)
    return raw(fields + bytes(8))


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


@slicings
@pytest.mark.parametrize(
    ("payload", "why"),
    [
        (b"", "header at byte 0: the header is truncated"),
        (b"\0\x0c\0", "header at byte 3: the header is truncated"),
        (struct.pack(">hhih", 12, 1, 9, 7), "header at byte 10: the header is truncated"),
        (struct.pack(">hhih", 12, 4, 1, -1) + b"\xff" * 6,
         "header._tags at byte 0: a varint goes on after 5 bytes"),
        (struct.pack(">hhih", 999, 7, 5, -1), "API key 999 v7 is unknown here"),
        (struct.pack(">hhih", 12, 99, 2, -1), "Heartbeat v99 is unknown here"),
    ],
)  # fmt: skip
def test_a_request_that_can_not_be_read_passes_and_says_why(
    chunks: Chunks, payload: bytes, why: str
) -> None:
    actor = Stage().actor()
    actor.ask(heartbeat_request(1) + raw(payload), chunks)
    assert actor.sent["request"] == heartbeat_request(1) + raw(payload)
    (line,) = actor.said
    assert line.endswith(f": request undecodable, forwarded unchanged: {why}")
    assert actor.cuts == [{"frame": 1, "undecodable": why}]


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
