"""What every fault does to acks=0, to the order of responses, and to the requests in flight.

One playbook for all: three messages pass, a fault is done to the first, and a broker answers what
reaches it. The examples of a fault say what reaches the broker and what the client gets.
"""

from __future__ import annotations

import importlib
import struct
from typing import Any

import pytest

from barnabas.proxy.faults import FAULTS
from barnabas.specs.frames import Direction
from barnabas.specs.records import Record, build
from tests.proxy.faults.examples import ABOUT_MESSAGES, rows
from tests.proxy.faults.given import ALL, Fate, Row, ask, beat, produce, slicings
from tests.proxy.playbook import Actor, Chunks, Stage, response

ROWS = [(name, row) for name, found in ABOUT_MESSAGES.items() for row in rows(found)]
each = pytest.mark.parametrize(
    ("name", "row"), ROWS, ids=[f"{name}-{row.settings}" for name, row in ROWS]
)

SCENARIO = """
version: 1
rules:
- {{name: r, match: {{api: {api}, direction: {direction}}}, when: {{times: 1}}, do: {{{name}: {settings}}}}}
- {{name: idle, match: {{api: {other}}}, when: {{skip: 99}}, do: {{reorder: {{swap: 1}}}}}}
"""
"""The second rule never fires: by it the order of responses is watched."""


def stage(name: str, row: Row, api: str, direction: Direction, path: str, new: str) -> Actor:
    settings = row.settings.replace("PATH", path).replace("NEW", new)
    if api == "Produce":
        settings = settings.replace("throttle_time_ms: 5", "")
    found = Stage(
        SCENARIO.format(api=api, direction=direction, name=name, settings=settings, other="Fetch")
    )
    found.known.add(2)
    return found.actor()


def play(actor: Actor, first: bytes, chunks: Chunks) -> list[int]:
    """The three messages, and a broker that answers what reaches it; the ids that did."""
    actor.ask(first + ask(2) + ask(3), chunks)
    reached: list[int] = []
    for _ in range(60):
        for key, number, acks in _reached(actor)[len(reached) :]:
            reached.append(number)
            if acks == 0 or actor.aborted:
                continue
            answer = beat(number) if key == 12 else response("Produce", number, version=7)
            actor.answer(answer, chunks)
        actor.stage.wait(1000)
    return reached


def _reached(actor: Actor) -> list[tuple[int, int, int | None]]:
    """Key, correlation id and acks of each whole request that reached the broker."""
    data, found = bytes(actor.sent["request"]), []
    while len(data) >= 4 and len(data) >= 4 + struct.unpack_from(">i", data)[0]:
        key, _, number = struct.unpack_from(">hhi", data, 4)
        acks = struct.unpack_from(">h", data, 18)[0] if key == 0 else None
        found.append((key, number, acks))
        data = data[4 + struct.unpack_from(">i", data)[0] :]
    return found


def got(actor: Actor) -> list[int]:
    """Correlation ids of the whole responses that the client got."""
    data, found = bytes(actor.sent["response"]), []
    while len(data) >= 4 and len(data) >= 4 + struct.unpack_from(">i", data)[0]:
        found.append(struct.unpack_from(">i", data, 4)[0])
        data = data[4 + struct.unpack_from(">i", data)[0] :]
    return found


def fate(actor: Actor, reached: list[int]) -> Fate:
    connection = actor.connection
    lost = any(queue.lost for queue in connection.state.queues.values())
    found = Fate(reached, got(actor), "closed" if actor.aborted else "lost" if lost else "open")
    actor.close()
    assert not connection.state.pairing.waiting
    assert all(queue.idle and not queue.bytes for queue in connection.state.queues.values())
    return found


def settled(actor: Actor) -> None:
    """Nothing is left of what was in flight."""
    connection = actor.connection
    assert not connection.state.pairing.waiting
    assert not connection.dispatch.order.expected
    assert not connection.state.unwanted
    assert not connection.state.reply_lost_by
    assert not connection.dispatch.order.bytes
    assert not connection.state.own_replies


def told_once(actor: Actor, expected: Fate) -> None:
    """An exchange is told of once, whatever was done to it; what came behind an end is not read."""
    told = sorted(x.correlation_id for x in actor.done)
    assert told == (ALL[: len(told)] if expected.end == "closed" else ALL)
    assert told


def records() -> bytes:
    return build([Record(0, 1_700_000_000_000, b"k", b"v")])


@each
@slicings
def test_acks_0(name: str, row: Row, chunks: Chunks) -> None:
    actor = stage(name, row, "Produce", "request", "topic_data[0].name", "u")
    reached = play(actor, produce(1, 0, records()), chunks)
    if row.unacknowledged.end == "open":
        settled(actor)
    assert fate(actor, reached) == row.unacknowledged
    exchanges = [x for x in actor.done if x.api == "Produce"]
    assert len(exchanges) == 1
    assert exchanges[0].latency_ms is None


@each
@slicings
def test_order_of_responses_and_what_is_in_flight(name: str, row: Row, chunks: Chunks) -> None:
    actor = stage(name, row, "Heartbeat", "request", "member_id", "x")
    reached = play(actor, ask(1), chunks)
    if row.request.end == "open":
        settled(actor)
    assert fate(actor, reached) == row.request
    told_once(actor, row.request)


@each
@slicings
def test_responses(name: str, row: Row, chunks: Chunks) -> None:
    actor = stage(name, row, "Heartbeat", "response", "error_code", "7")
    reached = play(actor, ask(1), chunks)
    if row.response.end == "open":
        settled(actor)
    assert fate(actor, reached) == row.response
    told_once(actor, row.response)


@pytest.mark.parametrize("name", [name for name, *_ in FAULTS])
def test_every_fault_says_what_it_does_to_them(name: str) -> None:
    text: Any = importlib.import_module(f"barnabas.proxy.faults.{name}").__doc__
    assert [word for word in ("acks=0:", "Order:", "In flight:") if word not in text] == []
