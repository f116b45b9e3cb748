"""Any bytes: the connection is closed or the frame is answered; nothing else is raised, nothing hangs."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from barnabas.designs.brokers.listener import Close, Send
from barnabas.designs.central_coordination.peers.actions import (
    BrokerAction,
    ReadOffsets,
    StoreOffsets,
)
from barnabas.designs.central_coordination.peers.consumer import Consumer
from barnabas.designs.central_coordination.peers.coordinator import Broker
from barnabas.designs.central_coordination.peers.interest import parse
from barnabas.designs.central_coordination.peers.settings import BrokerSettings, ConsumerSettings
from barnabas.designs.central_coordination.peers.wire import request, response
from barnabas.designs.central_coordination.states import DOWN, FETCHING
from barnabas.designs.consuming.dialer import Connect, Transmit

BODY: dict[str, object] = {
    "group_id": "g",
    "consumer_id": "c",
    "topic_count": '{"t": 1}',
    "auto_commit": True,
    "auto_offset_reset": "largest",
    "session_timeout_ms": 3_000,
}
REGISTER = request("RegisterConsumer", BODY)
ROWS = {"offset_info": [{"topic": "t", "partition": "0-0", "offset": 5}]}
KNOWN = {"coordinator_id": 1, "brokers_info": [{"id": 1, "host": "h", "port": 1}]}
TO_BROKER = (
    REGISTER,
    request("ClusterMetadata"),
    request("Ping"),
    response("Ping"),
    response("StopFetcher", body=ROWS),
    response("StartFetcher"),
)
TO_CONSUMER = (
    response("ClusterMetadata", body=KNOWN),
    response("RegisterConsumer"),
    request("Ping"),
    request("StopFetcher"),
    request("StartFetcher", ROWS),
)


@st.composite
def mutated(draw: st.DrawFn, frames: tuple[bytes, ...]) -> bytes:
    """Frames of the protocol, some of them with bytes changed, put in or left out."""
    data = b""
    for frame in draw(st.lists(st.sampled_from(frames), min_size=1, max_size=6)):
        body = bytearray(frame[4:])
        for _ in range(draw(st.integers(0, 2))):
            at = draw(st.integers(0, len(body)))
            body[at : at + draw(st.integers(0, 2))] = draw(st.binary(max_size=4))
        data += struct.pack(">i", len(body)) + bytes(body)
    return data


def broker() -> Broker:
    one = Broker(1, BrokerSettings())
    one.cluster({1: ("h", 1)}, 1)
    one.elected({"t": ("0-0", "0-1")}, 0)
    one.connected(1)
    return one


def read(one: Broker, actions: list[BrokerAction], now: int) -> list[BrokerAction]:
    """What it does with offsets that it has asked for: there are none."""
    asked = [action for action in actions if isinstance(action, ReadOffsets)]
    return [action for each in asked for action in one.offsets(each, {}, now)]


@settings(max_examples=100)
@given(st.one_of(st.binary(max_size=200), mutated(TO_BROKER)), st.integers(1, 50), st.booleans())
def test_a_broker(data: bytes, piece: int, registered: bool) -> None:
    one = broker()
    if registered:
        one.receive(1, REGISTER, 0)
    closed = False
    for at in range(0, len(data), piece):
        actions = one.receive(1, data[at : at + piece], at)
        for action in actions:
            assert not (closed and isinstance(action, Send) and action.connection == 1)
            closed |= isinstance(action, Close)
        read(one, actions, at)
    for now in range(1_000, 20_000, 500):
        one.tick(now)
    one.connected(2)
    (answer,) = one.receive(2, request("ClusterMetadata"), 20_000)
    assert isinstance(answer, Send)


@settings(max_examples=100)
@given(st.one_of(st.binary(max_size=200), mutated(TO_CONSUMER)), st.integers(0, 3))
def test_a_consumer(data: bytes, met: int) -> None:
    one = Consumer(ConsumerSettings("g", "c", (("h", 1),)))
    one.start(0)
    one.connected(0)
    for frame in TO_CONSUMER[:met]:
        one.receive(frame, 1)
        one.connected(1) if met == 1 else None
    one.receive(data, 2)
    for now in range(3, 20_000, 1_000):
        one.tick(now)
        one.connected(now)
    assert one.state == DOWN or one.wake is not None


def pieces(data: bytes, whole: bool) -> list[bytes]:
    return [data] if whole else [data[at : at + 1] for at in range(len(data))]


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "byte by byte"])
def test_a_conversation(whole: bool) -> None:
    one, consumer = broker(), Consumer(ConsumerSettings("g", "c", (("h", 1),)))
    waits = consumer.start(0)
    for step in range(8):
        if any(isinstance(action, Connect) for action in waits):
            waits = consumer.connected(step)
        asked = b"".join(action.data for action in waits if isinstance(action, Transmit))
        answers = [a for piece in pieces(asked, whole) for a in one.receive(1, piece, step)]
        answers += read(one, answers, step)
        back = b"".join(action.data for action in answers if isinstance(action, Send))
        waits = [a for piece in pieces(back, whole) for a in consumer.receive(piece, step)]
    assert consumer.positions == {("t", "0-0"): -1, ("t", "0-1"): -1}
    assert consumer.state == FETCHING
    assert one.groups["g"].rebalances == 1


def test_a_request_that_is_the_coordinators_to_ask() -> None:
    one = broker()
    (close,) = one.receive(1, request("Ping"), 0)
    assert isinstance(close, Close)
    assert "the coordinator's to ask" in close.why


def test_a_response_that_nobody_asked_for() -> None:
    one = broker()
    one.receive(1, REGISTER, 0)  # it is asked to stop its fetchers
    actions = one.receive(1, response("StopFetcher", body=ROWS) + response("Ping"), 1)
    assert any(isinstance(action, Close) for action in actions)


def test_an_error_is_no_answer_to_a_ping() -> None:
    one = broker()
    one.receive(1, REGISTER, 0)
    read(one, one.receive(1, response("StopFetcher"), 1), 2)
    one.receive(1, response("StartFetcher"), 3)
    one.tick(1_000)  # it is pinged, and registers once more: 6 in the place of an error code
    (_, close) = one.receive(1, REGISTER, 1_001)
    assert isinstance(close, Close)
    assert "Ping answered with" in close.why


def test_an_offset_below_0_is_not_stored() -> None:
    one = broker()
    one.receive(1, REGISTER, 0)
    rows = {"offset_info": [{"topic": "t", "partition": "0-0", "offset": -5}]}
    actions = one.receive(1, response("StopFetcher", body=rows), 1)
    assert [action.why for action in actions if isinstance(action, Close)]
    assert not any(isinstance(action, StoreOffsets) for action in actions)


@pytest.mark.parametrize(
    ("field", "value", "error", "why"),
    [
        ("session_timeout_ms", 999, "SessionTimeoutTooLow", "999, the least is 1000"),
        ("session_timeout_ms", 3_600_001, "Unknown", "3600001, the most is 3600000"),
        ("auto_offset_reset", "latest", "Unknown", "auto_offset_reset 'latest'"),
        ("topic_count", "[]", "Unknown", "topic_count: no topic_count"),
    ],
)
def test_the_log_says_why_a_registration_is_refused(
    field: str, value: object, error: str, why: str
) -> None:
    answer, close = broker().receive(1, request("RegisterConsumer", BODY | {field: value}), 0)
    assert isinstance(answer, Send)
    assert answer.data == response("RegisterConsumer", error)
    assert isinstance(close, Close)
    assert f"c is refused: {error}: " in close.why
    assert why in close.why


@pytest.mark.parametrize(
    "text", ["", "[]", "7", '{"t": 0}', '{"t": "1"}', "*1*(", "*1*(a+)+", "!1!a*b*c*d*", "*1*["]
)
def test_interests_that_can_not_be(text: str) -> None:
    with pytest.raises(ValueError):
        parse(text)


def test_a_frame_that_is_too_large_is_not_waited_for() -> None:
    (close,) = broker().receive(1, struct.pack(">i", (1 << 20) + 1), 0)
    assert isinstance(close, Close)
