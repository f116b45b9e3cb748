from __future__ import annotations

import pytest

from barnabas.fuzz.targets.wire import KEPT_LIMIT, REPLY_LIMIT, Wire, question
from barnabas.specs.keys import METADATA, PRODUCE
from tests.fuzz.observed import request

ASK = request(METADATA, 1, {"topics": None})
QUIET = request(PRODUCE, 3, {"acks": 0, "timeout_ms": 1, "topic_data": []})
REPLIES = [b"one!", b"", b"a third reply"]
STREAM = b"".join(len(one).to_bytes(4, "big") + one for one in REPLIES)


@pytest.mark.parametrize(
    ("chunks", "answers", "rest"),
    [
        ((ASK,), 1, ""),
        ((ASK, ASK), 2, ""),
        ((ASK + QUIET,), 1, ""),
        ((ASK[:-1],), 0, "partial"),
        ((ASK + b"\0\0",), 1, "partial"),
        ((b"\xff\xff\xff\xff" + ASK[4:],), 0, "nonsense"),
        ((b"\x7f\xff\xff\xff" + ASK[4:],), 0, "nonsense"),
        ((b"\0\0\0\x02ab",), 1, ""),
    ],
)
def test_what_a_broker_is_asked(chunks: tuple[bytes, ...], answers: int, rest: str) -> None:
    found = question(chunks)
    assert (found.answers, found.rest) == (answers, rest)


@pytest.mark.parametrize("step", [1, 2, 3, 5, 7, 1000])
def test_replies_are_the_same_in_whatever_pieces_they_come(step: int) -> None:
    wire = Wire()
    for at in range(0, len(STREAM), step):
        wire.receive(STREAM[at : at + step])
    assert wire.replies == REPLIES
    assert not wire.midway


def test_part_of_a_reply_is_no_reply_yet() -> None:
    wire = Wire()
    wire.receive(STREAM[:6])
    assert wire.replies == []
    assert wire.midway


def test_a_negative_size_ends_what_can_be_understood() -> None:
    wire = Wire()
    wire.receive(b"\xff\xff\xff\xfe" + STREAM)
    assert wire.garbled
    assert wire.replies == []


def test_a_large_reply_is_cut_and_the_next_one_is_whole() -> None:
    wire = Wire()
    size = REPLY_LIMIT * 3
    wire.receive(size.to_bytes(4, "big") + b"x" * 100)
    left = size - 100
    while left:
        step = min(left, 1 << 20)
        wire.receive(b"y" * step)
        left -= step
    wire.receive(STREAM)
    assert list(map(len, wire.replies)) == [REPLY_LIMIT, *map(len, REPLIES)]


def test_what_is_kept_of_a_case_is_bounded() -> None:
    wire = Wire()
    for _ in range(8):
        wire.receive(REPLY_LIMIT.to_bytes(4, "big") + bytes(REPLY_LIMIT))
    assert sum(map(len, wire.replies)) == KEPT_LIMIT
    assert len(wire.replies) == 8
