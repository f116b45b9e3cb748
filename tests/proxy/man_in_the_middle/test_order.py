"""Failures between a client and a broker, 1 to 4 and 13: order, losses, correlation ids, delays.

Rules that act together are here, too. Elsewhere: frames that wait or are lost after others
(tests/proxy/connection/test_egress.py); every fault by itself (tests/proxy/faults).
"""

from __future__ import annotations

import struct
from typing import Any

import pytest

from barnabas.captures.kafka.pairing.in_flight import Pairing, Pending
from barnabas.specs.frames import Direction
from tests.proxy.frames import (
    Chunks,
    commit_request,
    commit_response,
    heartbeat_request,
    heartbeat_response,
    request,
    response,
    slicings,
)
from tests.proxy.playbook import Stage, one_rule, ruled

OBSERVED = pytest.mark.parametrize("observed", [True, False])


# 1: order


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
    times = [(x.latency_ms, x.broker_ms) for x in actor.done]
    assert times == [(500.0, 500.0), (505.0, 5.0), (4.0, 4.0)]


# 2: acks=0


@pytest.mark.parametrize("version", [*range(14), 99])
@OBSERVED
def test_02_acks_0_is_not_waited_for_in_any_version_of_produce(
    version: int, observed: bool
) -> None:
    actor = Stage(observed=observed).actor()
    actor.ask(heartbeat_request(1))
    actor.answer(heartbeat_response(1))
    ids: dict[str, Any] = {} if version < 3 else {"transactional_id": "tx" * 50}
    for number, acks in enumerate((1, 0, -1, 0, 1)):  # all but the first may be skimmed
        body = {"acks": acks, "timeout_ms": 0x7F7F7F7F, **ids}
        frame = request("Produce", number, version=min(version, 9), **body)
        actor.ask(frame[:6] + struct.pack(">h", version) + frame[8:])
    assert actor.waiting == [0, 2, 4]


# 3: losses


@slicings
@pytest.mark.parametrize("direction", ["request", "response"])
def test_03_behind_a_dropped_message_nothing_comes_until_somebody_closes(
    chunks: Chunks, direction: Direction
) -> None:
    actor = ruled(
        "drop", f"{{api: Heartbeat, direction: {direction}}}", "when: {skip: 1, times: 1}"
    )
    actor.ask(heartbeat_request(1), chunks)
    actor.answer(heartbeat_response(1), chunks)
    actor.ask(heartbeat_request(2) + commit_request(3), chunks)
    if direction == "response":  # a broker answers what it got
        actor.answer(heartbeat_response(2) + commit_response(3), chunks)
    actor.stage.wait(60_000)
    assert (actor.ids(direction), actor.ids("response")) == ([1], [1])
    sizes = (10, 8) if direction == "response" else (None, None)
    assert [(x.correlation_id, x.note, x.response_size) for x in actor.done if x.note] == [
        (2, f"{direction} dropped by a rule", sizes[0]),
        (3, f"{direction} lost after a dropped one", sizes[1]),
    ]
    assert not actor.aborted
    actor.end("request")
    assert actor.finished == ["request"]


# 4: correlation ids


@slicings
@OBSERVED
def test_04_correlation_ids_are_verified_and_a_wrong_order_passes_flagged(
    chunks: Chunks, observed: bool
) -> None:
    actor = Stage(observed=observed).actor()
    actor.ask(b"".join(map(heartbeat_request, (1, 2, 3))), chunks)
    wrong = b"".join(map(heartbeat_response, (1, 3, 2)))
    actor.answer(wrong, chunks)
    assert actor.sent["response"] == wrong
    assert [line.partition(": ")[2] for line in actor.said] == [
        "response undecodable, forwarded unchanged: correlation id 3 is out of order"
    ]
    assert actor.stage.totals.undecoded == 1


@slicings
@OBSERVED
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
    assert actor.aborted
    why = f"no request in flight has correlation id {wrong}; addresses in such a response can't be replaced"
    assert [line.partition(": ")[2] for line in actor.said] == [f"{why}; connection closed"]
    assert actor.stage.totals.withheld == 1
    told = {key: value for cut in actor.cuts for key, value in cut.items()}
    assert (told["withheld"], told["left"]) == (why, "never")


@slicings
def test_04_the_same_correlation_id_twice_is_answered_in_order(chunks: Chunks) -> None:
    actor = Stage().actor()
    actor.ask(heartbeat_request(1) + commit_request(1), chunks)
    actor.answer(heartbeat_response(1) + commit_response(1), chunks)
    assert [x.api for x in actor.done] == ["Heartbeat", "OffsetCommit"]
    assert actor.stage.totals.undecoded == 0


def test_04_the_table_is_bounded() -> None:
    actor = Stage(waiting=5).actor()
    for number in range(5):
        assert not actor.connection.full("request")
        actor.ask(heartbeat_request(number))
    assert actor.connection.full("request")
    actor.answer(heartbeat_response(0))
    assert not actor.connection.full("request")
    pairing = Pairing(limit=1)
    assert pairing.sent(Pending(1, 3, 1, None, 1, 0, 0))
    assert not pairing.sent(Pending(2, 3, 1, None, 1, 0, 0))


# 13: delays, and rules that act together


@slicings
def test_13_delays_keep_order_and_run_from_arrival(chunks: Chunks) -> None:
    """Frames delayed by 100 ms leave 100 ms after each came; what is behind waits no longer than they do."""
    actor = ruled("{delay: 100ms}")
    frames = [heartbeat_request(1), heartbeat_request(2), heartbeat_request(3), commit_request(4)]
    actor.ask(frames[0], chunks)
    actor.stage.wait(30)
    actor.ask(b"".join(frames[1:]), chunks)
    actor.stage.wait(200)
    assert actor.times["request"] == list(zip((100.0, 130.0, 130.0, 130.0), frames, strict=True))
    assert [cut["left"] for cut in actor.cuts] == ["later"] * 4
    actor.answer(heartbeat_response(1))
    assert (actor.done[0].latency_ms, actor.done[0].broker_ms) == (230.0, 130.0)
    assert actor.done[0].rules == ("r",)


@pytest.mark.parametrize("early", [1, 1_000, 1_000_000])
def test_13_nothing_leaves_early_though_a_timer_does_fire_early(early: int) -> None:
    """Timers of uvloop may fire 1 ms early."""
    actor = ruled("{delay: 100ms}")
    actor.ask(heartbeat_request(1))
    wake = actor.connection.wake
    assert wake is not None
    for now, left in ((wake - early, []), (wake, [1])):
        assert actor.connection.wake == wake
        actor.perform(actor.connection.tick(now))
        assert actor.ids("request") == left


def test_two_rules_add_their_delays_and_name_themselves() -> None:
    second = "- {name: s, match: {api: Heartbeat}, do: {delay: 20ms}}\n"
    actor = Stage(one_rule("{delay: 10ms}") + second).actor()
    actor.ask(heartbeat_request(1))
    actor.stage.wait(100)
    actor.answer(heartbeat_response(1))
    actor.stage.wait(100)
    assert [at for at, _ in actor.times["request"] + actor.times["response"]] == [30.0, 120.0]
    (exchange,) = actor.done
    assert (exchange.rules, exchange.latency_ms, exchange.broker_ms) == (("r", "s"), 120.0, 70.0)
    both = {"rules": ["r", "s"], "what": ["delay 10 ms", "delay 20 ms"]}
    assert actor.cuts[0] == {"frame": 0, **both, "left": "later"}


def test_the_capture_has_the_rules_of_a_response_that_leaves_later() -> None:
    actor = ruled("{delay: 1ms}", "{api: Heartbeat, direction: response}")
    actor.ask(heartbeat_request(1))
    actor.answer(heartbeat_response(1))
    actor.stage.wait(1)
    assert actor.left == [("response", heartbeat_response(1), {"frame": 0, "rules": ["r"]})]


def test_what_could_not_be_done_is_said_ten_times() -> None:
    actor = ruled("{edit: {set: {group_instance_id: x}}}", "{api: Heartbeat, direction: request}")
    for number in range(12):
        actor.ask(heartbeat_request(number))
    assert len(actor.said) == 10
    assert actor.said[0].endswith("; the message passes without it")
    assert actor.stage.rules.rules[0].unable == 12
