"""Test that the hot path of pairing makes the same exchanges as the careful path."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from random import Random
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.captures.kafka.conversations import Conversations
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.pairing.conversation import Conversation
from barnabas.captures.tcp.bytes_needed import BytesNeeded, Needs
from barnabas.captures.tcp.events import Chunk, Closed, Event, Lost, Opened
from barnabas.specs.frames import Direction
from tests.captures.traffic import produce, request, response

KINDS: Final[tuple[Callable[[int, Random], tuple[bytes, bytes]], ...]] = (
    lambda number, _: (request(number, 3, 1), response(number, 3, 1)),
    lambda number, _: (request(number, 18, 3), response(number, 18, 3)),
    lambda number, _: (request(number, 12, 4), response(number, 12, 4)),
    lambda number, _: (request(number, 3, 9), response(number, 3, 9)),
    lambda number, random: (
        produce(number, random.randbytes(random.choice((5, 400)))),
        response(number, 0, 7),
    ),
    lambda number, _: (request(number, 3, 9), tagged(response(number, 3, 9))),
    lambda number, _: (produce(number, b"lost", acks=0), b""),
    lambda number, random: transactional(number, random),
    lambda number, random: (named(request(number, 3, 1), random), response(number, 3, 1)),
    lambda number, _: (request(number, 17, 0), response(number, 17, 0)),
    lambda number, _: (b"\0\0\0\x0e\x03\xe7\0\0" + number.to_bytes(4) + b"\0\2me\0\0", b""),
    lambda number, random: (request(number, 3, 1), response(number + random.randint(-2, 2), 3, 1)),
    lambda _, random: (b"", random.randbytes(9)),
    lambda _, random: (random.randbytes(9), b""),
)
"""A request and what comes back: the usual ones, and those that the hot path must leave alone."""


def tagged(frame: bytes) -> bytes:
    """Add a tag to the header of a response."""
    size = int.from_bytes(frame[:4]) + 3
    return size.to_bytes(4) + frame[4:8] + b"\1\5\1x" + frame[9:]


def transactional(number: int, random: Random) -> tuple[bytes, bytes]:
    """Make a Produce request whose acks are far after its header, or near."""
    name, acks = random.choice((None, "a", "b" * 600)), random.choice((0, 1))
    asked = request(number, 0, 9, transactional_id=name, acks=acks)
    return asked, response(number, 0, 9) if acks else b""


def named(frame: bytes, random: Random) -> bytes:
    """Change the client id of a request, without changing its length."""
    return frame.replace(b"me", random.choice((b"me", b"he")))


def conversation(random: Random, rare: float) -> list[Event]:
    """Make a conversation in chunks of any size, with occasional comments and gaps."""
    streams: dict[Direction, bytes] = {"request": b"", "response": b""}
    events: list[Event] = [Opened(1, 0, "c:1", "s:2", {"broker": 1})]
    number = ordinal = 0
    answers = b""
    for at in range(60):
        for _ in range(random.choice((1, 1, 5))):
            number += 1
            kind = random.choice(KINDS if random.random() < rare else KINDS[:5])
            asked, answered = kind(number, random)
            streams["request"] += asked
            answers += answered
        directions: tuple[Direction, ...] = ("request", "response")
        for direction in directions:
            data = streams[direction]
            count = random.choice((len(data), len(data), random.randint(0, len(data))))
            streams[direction] = data[count:]
            if not streams["request"]:  # nobody answers what has not come
                streams["response"] += answers
                answers = b""
            comments = ({"frame": ordinal, "rules": ["r"], "left": "never"},)
            said = comments if random.random() < rare / 4 else ()
            ordinal += random.randint(0, 3)
            if count or said:
                events.append(Chunk(1, "arrived", direction, at, data[:count], said, at))
            if random.random() < rare / 8:
                events.append(Lost(1, "arrived", direction, at, 7))
    return [*events, Closed(1, 99, False)]


def found(events: list[Event], *, careful: bool) -> tuple[list[tuple[Any, ...]], tuple[int, ...]]:
    """Return all fields of the exchanges, and the counts.

    A callback for each frame forces the careful path.
    """
    seen = (lambda *_: None) if careful else None
    conversations = Conversations(strays=True, on_frame=seen)
    exchanges = list(conversations.exchanges(events))
    counted = conversations.undecoded, conversations.skipped, conversations.losses
    return [every(exchange) for exchange in exchanges], counted


def every(exchange: Exchange) -> tuple[Any, ...]:
    fields = dataclasses.fields(Exchange)
    return tuple(
        getattr(exchange, field.name) for field in fields if not field.name.startswith("_")
    )


@given(seed=st.integers(0, 2**32), rare=st.sampled_from((0.0, 0.05, 0.4)))
def test_the_same_exchanges_as_with_care(seed: int, rare: float) -> None:
    events = conversation(Random(seed), rare)
    assert found(events, careful=False) == found(events, careful=True)


def test_what_is_usual_needs_no_care(monkeypatch: pytest.MonkeyPatch) -> None:
    """But for the first of its kind, by which the others are known."""
    events = conversation(Random(1), 0)
    looked: list[int] = []
    frame = Conversation.frame

    def counted(self: Conversation, *given: Any) -> Any:
        looked.append(1)
        return frame(self, *given)

    monkeypatch.setattr(Conversation, "frame", counted)
    exchanges, _ = found(events, careful=False)
    assert len(exchanges) > 100
    assert 0 < len(looked) < 20
    assert exchanges == found(events, careful=True)[0]


def test_a_header_that_only_the_next_frame_completes_is_read_with_care() -> None:
    whole = request(1, 3, 1)
    nameless = (len(whole) - 6).to_bytes(4) + whole[4:12] + b"\0\0" + whole[16:]
    # the size of the next frame begins as an empty client id does
    short = (8).to_bytes(4) + whole[4:12]
    events: list[Event] = [Opened(1, 0, "c:1", "s:2", {})]
    events += [Chunk(1, "arrived", "request", 0, data, ()) for data in (nameless, short + nameless)]
    assert found(events, careful=False) == found(events, careful=True)


def test_what_a_frame_needs_is_demanded() -> None:
    needs: Needs = {"request": BytesNeeded(), "response": BytesNeeded()}
    conversations = Conversations()
    ask = produce(2, bytes(300))
    pieces = [request(1, 3, 1), produce(1, b"first"), ask[:50], ask[50:] + ask[:3], ask[3:]]
    needed = []

    def events() -> Any:
        yield Opened(1, 0, "c:1", "s:2", {}, needs=needs)
        for at, data in enumerate(pieces):
            yield Chunk(1, "arrived", "request", at, data, (), at)
            needed.append(needs["request"].bytes)

    list(conversations.exchanges(events()))
    assert needed == [0, 0, len(ask) - 50, 0, 0]


def test_a_small_body_keeps_no_large_chunk_alive() -> None:
    """Bodies are kept by who reads; what came with them is not, if that is more."""
    small, large = request(1, 3, 1, topics=[{"name": "orders"}]), produce(2, bytes(5000))
    chunks = [small, large + small[:20], small[20:] + large, small + large]
    events: list[Event] = [Opened(1, 0, "c:1", "s:2", {})]
    events += [Chunk(1, "arrived", "request", 0, data, ()) for data in chunks]
    conversations = Conversations()
    for event in events:
        list(conversations.event(event))
    waiting = conversations._open[1].pairing.waiting
    assert [sys.getsizeof(one.body) <= one.size + 64 for one in waiting] == [True] * 6
