"""Any bytes: the connection is closed or the frame is answered; nothing else is raised, nothing hangs."""

from __future__ import annotations

import struct

from hypothesis import given, settings
from hypothesis import strategies as st

from barnabas.designs.brokers.listener import Close, Send
from barnabas.designs.consumer_rewrite.peers.consumer import Consumer
from barnabas.designs.consumer_rewrite.peers.coordinator import Broker
from barnabas.designs.consumer_rewrite.peers.settings import BrokerSettings, ConsumerSettings
from barnabas.designs.consumer_rewrite.peers.wire import request, response
from barnabas.designs.consumer_rewrite.states import DOWN

JOIN = request(
    "JoinGroup",
    1,
    "c",
    {
        "group_id": "g",
        "session_timeout": 500,
        "topics": ["t"],
        "consumer_id": "",
        "partition_assignment_strategy": "range",
    },
)
BEAT = request(
    "Heartbeat", 2, "c", {"group_id": "g", "group_generation_id": 1, "consumer_id": "g-x"}
)
COMMIT = request(
    "OffsetCommit",
    3,
    "c",
    {
        "group_id": "g",
        "group_generation_id": 1,
        "consumer_id": "g-x",
        "topics": [
            {
                "topic": "t",
                "partitions": [{"partition": 0, "offset": 1, "timestamp": 2, "metadata": "m"}],
            }
        ],
    },
)
FETCH = request(
    "OffsetFetch", 4, "c", {"group_id": "g", "topics": [{"name": "t", "partition_indexes": [0]}]}
)
METADATA = request("Metadata", 5, "c", {"topics": []})
LEAVE = request("LeaveGroup", 6, "c", {"group_id": "g", "consumer_id": "g-x"})
FIND = request("ConsumerMetadata", 7, "c", {"group_id": "g"})
REQUESTS = (JOIN, BEAT, COMMIT, FETCH, METADATA, LEAVE, FIND)


@st.composite
def mutated(draw: st.DrawFn, frames: tuple[bytes, ...]) -> bytes:
    """Frames of the protocol, some of them with bytes changed, put in or left out."""
    data = b""
    for frame in draw(st.lists(st.sampled_from(frames), min_size=1, max_size=5)):
        body = bytearray(frame[4:])
        for _ in range(draw(st.integers(0, 3))):
            at = draw(st.integers(0, len(body)))
            body[at : at + draw(st.integers(0, 2))] = draw(st.binary(max_size=4))
        data += struct.pack(">i", len(body)) + bytes(body)
    return data


def broker() -> Broker:
    one = Broker(1, BrokerSettings(slots=1), new_id=lambda: "x")
    one.topics({"t": 2}, 0)
    one.elected(0)
    one.loaded(0, {}, 0)
    one.connected(1)
    return one


@settings(max_examples=100)
@given(st.one_of(st.binary(max_size=200), mutated(REQUESTS)), st.integers(1, 50))
def test_a_broker(data: bytes, piece: int) -> None:
    one = broker()
    closed = False
    for at in range(0, len(data), piece):
        for action in one.receive(1, data[at : at + piece], at):
            assert not closed, "nothing comes behind a close"
            closed |= isinstance(action, Close)
            if not isinstance(action, Close | Send):
                one.written(action.group, at)  # type: ignore[union-attr]
    one.tick(10_000)
    # whatever it has seen, others are served
    one.connected(2)
    (answer,) = one.receive(2, METADATA, 10_000)
    assert isinstance(answer, Send)


@settings(max_examples=100)
@given(st.one_of(st.binary(max_size=200), st.none()), st.data())
def test_a_consumer(noise: bytes | None, data: st.DataObject) -> None:
    one = Consumer(ConsumerSettings("g", (("h", 1),), topics=("t",)))
    one.start(0)
    one.connected(0)
    find = response("ConsumerMetadata", 1, {"error_code": 0, "node_id": 1, "host": "h", "port": 1})
    join = response(
        "JoinGroup",
        2,
        {
            "error_code": 0,
            "group_generation_id": 1,
            "consumer_id": "x",
            "assigned_partitions": [{"topic": "t", "partitions": [0]}],
        },
    )
    if data.draw(st.booleans()):
        one.receive(find, 1)
    if noise is None:
        noise = data.draw(mutated((find, join)))
    one.receive(noise, 2)
    for now in range(3, 20_000, 1_000):
        one.poll(now)
        one.connected(now)
    assert one.state == DOWN or one.wake is not None


def test_a_frame_that_is_too_large_is_not_waited_for() -> None:
    one = broker()
    (close,) = one.receive(1, struct.pack(">i", (1 << 20) + 1), 0)
    assert isinstance(close, Close)
    assert one.receive(1, METADATA, 0) == []


def test_a_connection_that_sends_on_while_its_join_waits_is_closed_at_last() -> None:
    one = broker()
    one.receive(1, JOIN, 0)
    actions = []
    for _ in range(8 << 20 >> 16):
        actions += one.receive(1, METADATA * ((1 << 16) // len(METADATA)), 0)
    assert any(isinstance(action, Close) for action in actions)


def test_many_requests_at_once_need_no_stack() -> None:
    one = broker()
    assert len(one.receive(1, METADATA * 5_000, 0)) == 5_000
