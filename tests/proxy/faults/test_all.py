"""What every fault does to acks=0, to the order of responses, and to the requests in flight.

One playbook for all: three messages pass, a fault is done to the first, and a broker answers what
reaches it. The examples of a fault say what reaches the broker and what the client gets.
"""

from __future__ import annotations

import pytest

from barnabas.specs.frames import Direction
from barnabas.specs.records import Record, build
from tests.proxy.faults.examples import ABOUT_MESSAGES, rows
from tests.proxy.faults.given import ALL, Fate, Row, produce, requests
from tests.proxy.frames import Chunks, heartbeat_request, heartbeat_response, response, slicings
from tests.proxy.playbook import Actor, Stage

ROWS = [(name, row) for name, found in ABOUT_MESSAGES.items() for row in rows(found)]
each = pytest.mark.parametrize(
    ("name", "row"), ROWS, ids=[f"{name}-{row.settings}" for name, row in ROWS]
)

SCENARIO = """
version: 1
rules:
- {{name: r, match: {{api: {api}, direction: {direction}}}, when: {{times: 1}}, do: {{{name}: {settings}}}}}
- {{name: idle, match: {{api: Fetch}}, when: {{skip: 99}}, do: {{reorder: {{swap: 1}}}}}}
"""
"""The second rule never fires: by it the order of responses is watched."""


def stage(name: str, row: Row, api: str, direction: Direction, path: str, new: str) -> Actor:
    settings = row.settings.replace("PATH", path).replace("NEW", new)
    if api == "Produce":
        settings = settings.replace("throttle_time_ms: 5", "")
    found = Stage(SCENARIO.format(api=api, direction=direction, name=name, settings=settings))
    found.known.add(2)
    return found.actor()


def whole_frames(data: bytes) -> list[bytes]:
    """Return the complete frames."""
    found = []
    while len(data) >= 4 and len(data) >= (size := 4 + int.from_bytes(data[:4])):
        found.append(data[:size])
        data = data[size:]
    return found


def play(actor: Actor, first: bytes, chunks: Chunks) -> Fate:
    """Return the fate of three messages, with a broker that answers every request that it gets."""
    actor.ask(first + requests(2, 3), chunks)
    reached: list[int] = []
    for _ in range(60):
        for frame in whole_frames(bytes(actor.sent["request"]))[len(reached) :]:
            number, heartbeat = int.from_bytes(frame[8:12]), frame[4:6] == b"\0\x0c"
            reached.append(number)
            if (heartbeat or frame[18:20] != b"\0\0") and not actor.aborted:
                answer = (
                    heartbeat_response(number)
                    if heartbeat
                    else response("Produce", number, version=7)
                )
                actor.answer(answer, chunks)
        actor.stage.wait(1000)
    connection = actor.connection
    lost = any(queue.lost for queue in connection.state.queues.values())
    end = "closed" if actor.aborted else "lost" if lost else "open"
    if end == "open":  # nothing is left of what was in flight
        assert not connection.state.pairing.waiting
        assert not connection.state.order.expected
        assert not connection.state.order.bytes
        assert not connection.state.replies
    got = [int.from_bytes(frame[4:8]) for frame in whole_frames(bytes(actor.sent["response"]))]
    actor.close()
    assert not connection.state.pairing.waiting
    assert all(queue.idle and not queue.bytes for queue in connection.state.queues.values())
    return Fate(reached, got, end)


def records() -> bytes:
    return build([Record(0, 1_700_000_000_000, b"k", b"v")])


@each
@slicings
def test_acks_0(name: str, row: Row, chunks: Chunks) -> None:
    actor = stage(name, row, "Produce", "request", "topic_data[0].name", "u")
    assert play(actor, produce(1, 0, records()), chunks) == row.unacknowledged
    assert [x.latency_ms for x in actor.done if x.api == "Produce"] == [None]


@each
@slicings
@pytest.mark.parametrize(
    ("direction", "path", "new"), [("request", "member_id", "x"), ("response", "error_code", "7")]
)
def test_order_and_what_is_in_flight(
    name: str, row: Row, direction: Direction, path: str, new: str, chunks: Chunks
) -> None:
    actor = stage(name, row, "Heartbeat", direction, path, new)
    expected = row.request if direction == "request" else row.response
    assert play(actor, heartbeat_request(1), chunks) == expected
    # an exchange is told of once, whatever was done to it; what came behind an end is not read
    told = sorted(x.correlation_id for x in actor.done)
    assert told == (ALL[: len(told) or 1] if expected.end == "closed" else ALL)
