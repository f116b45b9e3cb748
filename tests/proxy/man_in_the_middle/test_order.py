"""What goes wrong between a client and a broker, 1 to 4: order, losses and correlation ids.

Elsewhere: what waits, and what is lost, behind what (tests/proxy/connection/test_egress.py); every fault by
itself (tests/proxy/faults).
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
from tests.proxy.playbook import Stage, ruled

OBSERVED = pytest.mark.parametrize("observed", [True, False])
DIRECTIONS = pytest.mark.parametrize("direction", ["request", "response"])


def heartbeats(direction: Direction) -> str:
    return f"{{api: Heartbeat, direction: {direction}}}"


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
@DIRECTIONS
def test_03_behind_a_dropped_message_nothing_comes_until_somebody_closes(
    chunks: Chunks, direction: Direction
) -> None:
    actor = ruled("drop", heartbeats(direction), "when: {skip: 1, times: 1}")
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
        (3, f"{direction} lost behind a dropped one", sizes[1]),
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
        "response undecodable, forwarded unchanged: correlation id 3 is out of order",
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
