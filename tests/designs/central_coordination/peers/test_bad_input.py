"""Frames that are not allowed; what the fuzzer sends is in tests/designs/test_fuzzed.py."""

from __future__ import annotations

import pytest

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
from barnabas.designs.central_coordination.states import FETCHING
from barnabas.designs.consuming.dialer import Connect, Transmit
from tests.designs.messages import REGISTER, offset_info

ASKED = request("RegisterConsumer", REGISTER)


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
    (close,) = one.receive(1, request("Ping") + ASKED, 0)
    assert isinstance(close, Close)
    assert "the coordinator's to ask" in close.reason
    assert one.receive(1, ASKED, 0) == []


def test_who_does_not_coordinate_says_so() -> None:
    one = Broker(1, BrokerSettings())
    one.connected(1)
    answer, close = one.receive(1, ASKED + ASKED, 0)
    assert answer == Send(1, response("RegisterConsumer", "Unknown"))
    assert isinstance(close, Close)
    assert close.reason == "c is refused: Unknown: broker 1 does not coordinate"


def test_an_offset_below_0_is_not_stored() -> None:
    one = broker()
    one.receive(1, ASKED, 0)
    actions = one.receive(1, response("StopFetcher", body=offset_info(("t", "0-0", -5))), 1)
    assert [action.reason for action in actions if isinstance(action, Close)]
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
    answer, close = broker().receive(1, request("RegisterConsumer", REGISTER | {field: value}), 0)
    assert isinstance(answer, Send)
    assert answer.data == response("RegisterConsumer", error)
    assert isinstance(close, Close)
    assert f"c is refused: {error}: " in close.reason
    assert why in close.reason


@pytest.mark.parametrize(
    "text", ["", "[]", "7", '{"t": 0}', '{"t": "1"}', "*1*(", "*1*(a+)+", "!1!a*b*c*d*", "*1*["]
)
def test_interests_that_can_not_be(text: str) -> None:
    with pytest.raises(ValueError):
        parse(text)
