# ruff: noqa: E501 - a table of faults, a case a line
"""What every fault does to acks=0, to the order of responses, and to the requests in flight.

One playbook for all: three messages pass, a fault is done to the first, and a broker answers what
reaches it. The table says what reaches the broker and what the client gets.
"""

from __future__ import annotations

import importlib
import struct
from typing import Any, Final, NamedTuple

import pytest

from barnabas.proxy.faults import CONNECTIONS, FAULTS
from barnabas.specs.frames import Direction
from barnabas.specs.records import Record, build
from tests.proxy.faults.given import ask, beat, produce, slicings
from tests.proxy.playbook import Actor, Chunks, Stage, response

ALL = [1, 2, 3]
NONE: list[int] = []


class Fate(NamedTuple):
    """Correlation ids that reach the broker, and that the client gets; how it ends."""

    broker: list[int]
    client: list[int]
    end: str = "open"


PASSES: Final = Fate(ALL, ALL)
QUIET: Final = Fate(ALL, [2, 3])
"""All reaches the broker, which answers all but the first: that had acks=0."""


class Row(NamedTuple):
    """A fault's settings, and what becomes of three messages."""

    settings: str
    unacknowledged: Fate = QUIET
    """It is done to a Produce request with acks=0, behind which two Heartbeats follow."""
    request: Fate = PASSES
    """It is done to the first of three Heartbeat requests."""
    response: Fate = PASSES
    """It is done to the first of three Heartbeat responses."""


# fmt: off
TABLE: Final[dict[str, list[Row]]] = {
    "delay": [Row("1s")],
    "throttle": [Row("{messages: 1}"), Row("{bytes: 10B, per: client}")],
    "hold": [
        Row(settings, Fate([2, 1, 3], [2, 3]), Fate([2, 1, 3], ALL), Fate(ALL, [2, 1, 3]))
        for settings in ("{messages: 1}", "{messages: 1, same: client}")
    ] + [
        Row(settings, Fate([2, 3, 1], [2, 3]), Fate([2, 3, 1], ALL), Fate(ALL, [2, 3, 1]))
        for settings in ("{time: 1s}", "{control: true}", "{until: {api: JoinGroup}}")
    ],
    "reorder": [
        Row(settings, Fate([2, 1, 3], [2, 3]), Fate([2, 1, 3], ALL), Fate(ALL, [2, 1, 3]))
        for settings in ("{swap: 1}", "{swap: 1, same: any}")
    ] + [
        Row("{swap: 1, restore: false}", Fate([2, 1, 3], [2, 3]), Fate([2, 1, 3], [2, 1, 3]), Fate(ALL, [2, 1, 3])),
        # nothing else is in the window, and its time comes when the others have passed
        Row("{reverse: 2}", Fate([2, 3, 1], [2, 3]), Fate([2, 3, 1], ALL), Fate(ALL, [2, 3, 1])),
        Row("{shuffle: 2, same: client}", Fate([2, 3, 1], [2, 3]), Fate([2, 3, 1], ALL), Fate(ALL, [2, 3, 1])),
    ],
    "drop": [
        Row("{}", Fate(NONE, NONE, "lost"), Fate(NONE, NONE, "lost"), Fate(ALL, NONE, "lost")),
        Row("{selective: true}", Fate([2, 3], [2, 3]), Fate([2, 3], [2, 3]), Fate(ALL, [2, 3])),
    ],
    "lose_reply": [Row("{}", Fate([1], NONE, "closed"), Fate(ALL, NONE, "closed"), Fate(ALL, NONE, "closed"))],
    "duplicate": [Row("{}", Fate([1, *ALL], [2, 3]), Fate([1, *ALL], ALL), Fate(ALL, [1, *ALL]))],
    "truncate": [Row("{keep: 6B}", Fate(NONE, NONE, "closed"), Fate(NONE, NONE, "closed"), Fate(ALL, NONE, "closed"))],
    "corrupt": [Row("{path: 'PATH'}")],
    "edit": [Row("{set: {'PATH': NEW}}")],
    "respond": [Row("{body: {throttle_time_ms: 5}}", Fate([2, 3], [2, 3]), Fate([2, 3], ALL))],
    "inject": [
        Row("{api: Heartbeat, version: 1}", Fate([1, *ALL], [2, 3]), Fate([1, *ALL], ALL), Fate(ALL, [1, *ALL])),
        Row("{api: Heartbeat, version: 1, direction: response}", Fate(ALL, ALL), Fate(ALL, [1, *ALL]), Fate(ALL, [1, *ALL])),
    ],
    "close": [
        Row("{}", Fate(NONE, NONE, "closed"), Fate(NONE, NONE, "closed"), Fate(ALL, NONE, "closed")),
        Row("{forward: true}", Fate([1], NONE, "closed"), Fate([1], NONE, "closed"), Fate(ALL, [1], "closed")),
    ],
    "reset": [Row("{}", Fate(NONE, NONE, "closed"), Fate(NONE, NONE, "closed"), Fate(ALL, NONE, "closed"))],
    "half_close": [Row("{}", Fate([1], NONE, "lost"), Fate([1], [1], "lost"), Fate(ALL, [1], "lost"))],
    "stall": [Row("{time: 1s, side: both}")],
    "blackhole": [Row("{at_most: 1s}", Fate(NONE, NONE, "closed"), Fate(NONE, NONE, "closed"), Fate(ALL, NONE, "closed"))],
    "quota": [Row("1s")],
    "slice": [Row("{size: 8B}")],
    "coalesce": [Row("{count: 2}")],
    "isolate": [Row("{lasts: 1s}")],
    "steer": [Row("{leader: 2, coordinator: 2}")],
    "clamp": [Row("{versions: {Heartbeat: 1}}")],
    "skew": [Row("{by: 1s}")],
}
# fmt: on

ROWS = [(name, row) for name, rows in TABLE.items() for row in rows]
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
    assert not connection.state.unasked
    assert not connection.state.reply_lost_by
    assert not connection.dispatch.order.bytes
    assert not connection.requests.replies


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


def test_every_fault_is_in_the_table() -> None:
    assert set(TABLE) == {name for name, model, _ in FAULTS if model not in CONNECTIONS}


@pytest.mark.parametrize("name", [name for name, _, _ in FAULTS])
def test_every_fault_says_what_it_does_to_them(name: str) -> None:
    text: Any = importlib.import_module(f"barnabas.proxy.faults.{name}").__doc__
    assert [word for word in ("acks=0:", "Order:", "In flight:") if word not in text] == []
