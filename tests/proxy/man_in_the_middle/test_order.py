"""What goes wrong between a client and a broker, 1 to 4: order, losses and correlation ids.

Elsewhere already: the proxy's own reply behind delayed requests, and what is lost behind a dropped
one (tests/proxy/connection/test_egress.py); every fault by itself (tests/proxy/faults).
"""

from __future__ import annotations

import struct

import pytest

from barnabas.captures.kafka.pairing.in_flight import Pairing, Pending
from tests.proxy.playbook import (
    Actor,
    Chunks,
    Stage,
    heartbeat_request,
    heartbeat_response,
    request,
    response,
    slicings,
)

LEAVE = request("LeaveGroup", 2, group_id="g", member_id="m")


def commit(number: int) -> bytes:
    return request("OffsetCommit", number, version=2, group_id="g")


def produce(number: int, acks: int) -> bytes:
    return request("Produce", number, version=9, acks=acks, topic_data=[])


def scenario(do: str, match: str = "{api: Heartbeat, direction: request}") -> str:
    return f"version: 1\nrules:\n  - name: r\n    match: {match}\n    do: {do}\n"


def over(actor: Actor) -> bool:
    return actor.aborted


# 1: order


@slicings
def test_01_responses_are_paired_first_in_first_out(chunks: Chunks) -> None:
    actor = Stage().actor()
    actor.ask(heartbeat_request(7) + commit(9) + heartbeat_request(8), chunks)
    actor.answer(
        heartbeat_response(7) + response("OffsetCommit", 9, version=2) + heartbeat_response(8),
        chunks,
    )
    assert [(x.api, x.correlation_id) for x in actor.done] == [
        ("Heartbeat", 7),
        ("OffsetCommit", 9),
        ("Heartbeat", 8),
    ]


@slicings
@pytest.mark.parametrize("place", [0, 1, 2])
def test_01_a_reply_of_the_proxy_waits_its_turn(chunks: Chunks, place: int) -> None:
    reply = "{respond: {error: UNKNOWN_MEMBER_ID}}"
    actor = Stage(scenario(reply, "{api: LeaveGroup, direction: request}")).actor()
    asked = [heartbeat_request(0), heartbeat_request(1)]
    asked.insert(place, LEAVE)
    actor.ask(b"".join(asked), chunks)
    assert actor.sent["request"] == heartbeat_request(0) + heartbeat_request(1)
    ids = [0, 1]
    ids.insert(place, 2)
    assert actor.ids("response") == ids[: 1 if place == 0 else 0]
    actor.answer(heartbeat_response(0) + heartbeat_response(1), chunks)
    assert actor.ids("response") == ids


@slicings
@pytest.mark.parametrize("restore", [True, False])
def test_01_responses_to_reordered_requests_come_in_the_clients_order_unless_told_not_to(
    chunks: Chunks, restore: bool
) -> None:
    swap = f"{{reorder: {{swap: 1, restore: {str(restore).lower()}}}}}"
    actor = Stage(scenario(swap)).actor()
    actor.ask(heartbeat_request(1) + commit(2), chunks)
    assert actor.ids("request") == [2, 1]
    actor.answer(response("OffsetCommit", 2, version=2) + heartbeat_response(1), chunks)
    assert actor.ids("response") == ([1, 2] if restore else [2, 1])


@slicings
def test_01_queueing_is_told_from_service(chunks: Chunks) -> None:
    """Behind a JoinGroup that takes 500 ms, a Heartbeat that takes 5 ms is answered after 505 ms."""
    actor = Stage().actor()
    actor.ask(request("JoinGroup", 1, group_id="g") + heartbeat_request(2), chunks)
    actor.stage.wait(500)
    actor.answer(response("JoinGroup", 1), chunks)
    actor.stage.wait(5)
    actor.answer(heartbeat_response(2), chunks)
    actor.stage.wait(95)
    actor.ask(heartbeat_request(3), chunks)
    actor.stage.wait(4)
    actor.answer(heartbeat_response(3), chunks)
    assert [(x.latency_ms, x.broker_ms) for x in actor.done] == [
        (500.0, 500.0),
        (505.0, 5.0),
        (4.0, 4.0),
    ]


def test_01_what_a_rule_adds_is_no_time_of_the_broker() -> None:
    actor = Stage(scenario("{delay: 100ms}") + (
        "  - name: later\n    match: {api: Heartbeat, direction: response}\n    do: {delay: 30ms}\n"
    )).actor()  # fmt: skip
    actor.ask(heartbeat_request(1))
    actor.stage.wait(107)
    actor.answer(heartbeat_response(1))
    actor.stage.wait(30)
    assert [(x.latency_ms, x.broker_ms) for x in actor.done] == [(137.0, 7.0)]


def test_01_every_hold_has_an_upper_bound_of_30_s_unless_it_is_given() -> None:
    actor = Stage(scenario("{hold: {until: {api: JoinGroup}}}")).actor()
    actor.ask(heartbeat_request(1))
    actor.stage.wait(29_999)
    assert actor.frames("request") == []
    actor.stage.wait(1)
    assert actor.frames("request") == [heartbeat_request(1)]


# 2: acks=0


@slicings
@pytest.mark.parametrize("observed", [True, False])
def test_02_acks_0_is_not_waited_for_and_gets_no_reply(chunks: Chunks, observed: bool) -> None:
    actor = Stage(observed=observed).actor()
    actor.ask(heartbeat_request(1) + produce(2, 0) + heartbeat_request(3), chunks)
    assert [p.correlation_id for p in actor.connection.state.pairing.waiting] == [1, 3]
    actor.answer(heartbeat_response(1) + heartbeat_response(3), chunks)
    assert actor.ids("response") == [1, 3]
    assert actor.connection.idle


@slicings
def test_02_acks_0_of_a_version_to_come_is_not_waited_for_either(chunks: Chunks) -> None:
    actor = Stage().actor()
    newer = bytearray(request("Produce", 1, version=9, acks=0, transactional_id="tx"))
    newer[6:8] = struct.pack(">h", 99)
    actor.ask(bytes(newer) + heartbeat_request(2), chunks)
    assert [p.correlation_id for p in actor.connection.state.pairing.waiting] == [2]


@slicings
def test_02_acks_0_and_a_close_drains_upstream_and_half_closes_then(chunks: Chunks) -> None:
    actor = Stage(scenario("{delay: 40ms}", "{api: Produce}")).actor()
    actor.ask(produce(1, 0) + produce(2, 0), chunks)
    actor.end("request")
    assert actor.finished == []
    actor.stage.wait(40)
    assert actor.frames("request") == [produce(1, 0), produce(2, 0)]
    assert actor.finished == ["request"]
    assert not over(actor)  # the broker has yet to close


def test_02_the_brokers_close_is_how_it_reports_an_error() -> None:
    actor = Stage().actor()
    actor.ask(produce(1, 0))
    actor.end("response")
    assert actor.finished == ["response"]
    assert actor.sent["response"] == b""


# 3: losses


@slicings
@pytest.mark.parametrize("direction", ["request", "response"])
def test_03_behind_a_dropped_message_nothing_comes_until_somebody_closes(
    chunks: Chunks, direction: str
) -> None:
    match = f"{{api: Heartbeat, direction: {direction}}}"
    actor = Stage(scenario("drop", match) + "    when: {skip: 1}\n").actor()
    actor.ask(heartbeat_request(1), chunks)
    actor.answer(heartbeat_response(1), chunks)
    actor.ask(heartbeat_request(2) + commit(3), chunks)
    if direction == "response":  # a broker answers what it got
        actor.answer(heartbeat_response(2) + response("OffsetCommit", 3, version=2), chunks)
    actor.stage.wait(60_000)
    assert actor.ids("response")[:1] == [1]
    if direction == "request":
        assert actor.ids("request") == [1]
    else:
        assert actor.ids("response") == [1]
    assert not over(actor)
    actor.end("request")
    assert actor.finished == ["request"]


@slicings
@pytest.mark.parametrize("direction", ["request", "response"])
def test_03_selective_takes_out_just_one_exchange(chunks: Chunks, direction: str) -> None:
    match = f"{{api: Heartbeat, direction: {direction}}}"
    actor = Stage(scenario("{drop: {selective: true}}", match)).actor()
    actor.ask(heartbeat_request(1) + commit(2), chunks)
    answers = [heartbeat_response(1)] if direction == "response" else []
    actor.answer(b"".join([*answers, response("OffsetCommit", 2, version=2)]), chunks)
    assert actor.ids("response") == [2]
    assert not actor.connection.state.pairing.waiting
    assert actor.stage.totals.undecoded == 0


# 4: correlation ids


@slicings
def test_04_correlation_ids_are_unique_per_connection_only(chunks: Chunks) -> None:
    stage = Stage()
    one, two = stage.actor(), stage.actor()
    one.ask(heartbeat_request(5), chunks)
    two.ask(commit(5), chunks)
    two.answer(response("OffsetCommit", 5, version=2), chunks)
    one.answer(heartbeat_response(5), chunks)
    assert [x.api for x in (*one.done, *two.done)] == ["Heartbeat", "OffsetCommit"]
    assert stage.totals.undecoded == 0


@slicings
@pytest.mark.parametrize("observed", [True, False])
def test_04_correlation_ids_are_verified_and_a_wrong_order_passes_flagged(
    chunks: Chunks, observed: bool
) -> None:
    actor = Stage(observed=observed).actor()
    actor.ask(heartbeat_request(1) + heartbeat_request(2) + heartbeat_request(3), chunks)
    wrong = heartbeat_response(1) + heartbeat_response(3) + heartbeat_response(2)
    actor.answer(wrong, chunks)
    assert actor.sent["response"] == wrong
    assert [line.partition(": ")[2] for line in actor.said] == [
        "response undecodable, forwarded unchanged: correlation id 3 is out of order",
    ]
    assert actor.stage.totals.undecoded == 1


@slicings
@pytest.mark.parametrize("observed", [True, False])
@pytest.mark.parametrize("wrong", [99, 1], ids=["unknown", "answered already"])
def test_04_a_response_that_nobody_waits_for_closes_the_connection(
    wrong: int, chunks: Chunks, observed: bool
) -> None:
    actor = Stage(observed=observed).actor()
    actor.ask(heartbeat_request(1) + heartbeat_request(2), chunks)
    brokers = [{"node_id": 1, "host": "real", "port": 9092}]
    actor.answer(heartbeat_response(1), chunks)
    actor.answer(response("Metadata", wrong, brokers=brokers, topics=[]), chunks)
    assert actor.sent["response"] == heartbeat_response(1)
    assert over(actor)
    assert [line.partition(": ")[2] for line in actor.said] == [
        f"no request in flight has correlation id {wrong}; addresses in such a response can't be replaced; "
        "connection closed"
    ]
    assert actor.stage.totals.withheld == 1
    said = {key: value for cut in actor.cuts for key, value in cut.items()}
    assert said["withheld"] == actor.said[0].partition(": ")[2].removesuffix("; connection closed")
    assert said["left"] == "never"


@slicings
def test_04_the_same_correlation_id_twice_is_answered_in_order(chunks: Chunks) -> None:
    actor = Stage().actor()
    actor.ask(heartbeat_request(1) + commit(1), chunks)
    actor.answer(heartbeat_response(1) + response("OffsetCommit", 1, version=2), chunks)
    assert [x.api for x in actor.done] == ["Heartbeat", "OffsetCommit"]
    assert actor.stage.totals.undecoded == 0


def test_04_the_table_is_bounded() -> None:
    actor = Stage(waiting=5).actor()
    for number in range(5):
        assert not actor.connection.full("request")
        actor.ask(heartbeat_request(number))
    assert actor.connection.full("request")
    pairing = Pairing(limit=1)
    assert pairing.sent(Pending(1, 3, 1, None, 1, 0, 0))
    assert not pairing.sent(Pending(2, 3, 1, None, 1, 0, 0))
