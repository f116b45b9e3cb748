from __future__ import annotations

import dataclasses

import pytest

from barnabas.captures.kafka.exchange import Exchange
from barnabas.peers.recorded.answers import Answers
from barnabas.peers.recorded.shape import shape
from barnabas.specs import api, records
from barnabas.specs.records import Record
from tests.captures.checks.given import exchange

SAME, SHAPE, NAMES, AGAIN = "same bytes", "same shape", "same names", "again"


def commit(offset: int, *, generation: int = 1, topic: str = "t") -> bytes:
    partitions = [{"partition_index": 0, "committed_offset": offset}]
    asked = {"group_id": "g", "generation_id_or_member_epoch": generation}
    topics = [{"name": topic, "partitions": partitions}]
    return api("OffsetCommit").request.codec(2).encode({**asked, "topics": topics})


def recorded(
    request: bytes,
    number: int = 1,
    *,
    broker: int = 1,
    name: str = "OffsetCommit",
    version: int = 2,
) -> Exchange:
    one = exchange(name, version, None, None, at=0, broker=broker, correlation_id=number)
    return dataclasses.replace(one, request_body=request, response_body=b"", broker_ms=0.0)


def unanswered(one: Exchange) -> Exchange:
    return dataclasses.replace(one, response_body=None)


def found(answers: Answers, request: bytes, broker: int | None = None) -> tuple[int, str] | None:
    answer = answers.find(8, 2, request, broker)
    return None if answer is None else (answer.exchange.correlation_id, answer.how)


FIVE, SIX = commit(5), commit(6)
TWICE = [recorded(FIVE, 1), recorded(FIVE, 2)]
BROKERS = [recorded(FIVE, 1, broker=1), recorded(FIVE, 2, broker=2)]
OTHER = [recorded(SIX, 1, broker=1), recorded(FIVE, 2, broker=2)]
LOST = [BROKERS[0], unanswered(BROKERS[1])]

FOUND = {
    "in recorded order and then again": (
        TWICE, [(FIVE, None)] * 4, [(1, SAME), (2, SAME), (2, AGAIN), (2, AGAIN)]
    ),
    "a response that never came is kept back once": (
        LOST, [(FIVE, 2)] * 3, [(2, SAME), (1, SAME), (1, AGAIN)]
    ),
    "the only response never came": (LOST[1:], [(FIVE, None)] * 2, [(2, SAME), (2, AGAIN)]),
    "what is of the run does not count": (
        OTHER, [(commit(5, generation=9), None), (commit(6, generation=9), None)], [(2, SHAPE), (1, SHAPE)],
    ),
    "at least it is about the same": (
        TWICE[:1], [(commit(7, topic="u"), None), (commit(7), None)], [None, (1, NAMES)]
    ),
    "the same broker goes first": (BROKERS, [(FIVE, 2)] * 2, [(2, SAME), (1, SAME)]),
    "a better fit elsewhere goes first": (OTHER, [(FIVE, 1)], [(2, SAME)]),
    "what can't be read": ([recorded(b"\xff", 4)], [(b"\xff", None), (b"\xfe", None)], [(4, SAME), None]),
}  # fmt: skip


@pytest.mark.parametrize(("exchanges", "asked", "expected"), FOUND.values(), ids=FOUND)
def test_what_is_answered(
    exchanges: list[Exchange],
    asked: list[tuple[bytes, int | None]],
    expected: list[tuple[int, str] | None],
) -> None:
    answers = Answers(exchanges)
    assert [found(answers, request, broker) for request, broker in asked] == expected


def test_what_was_used_and_what_nobody_asked_for() -> None:
    answers = Answers([*TWICE, recorded(b"", name="Fetch", version=4)])
    found(answers, FIVE)
    assert (answers.used, answers.unused()) == ({0}, {"OffsetCommit": 1})
    found(answers, FIVE)
    assert (answers.used, answers.unused()) == ({0, 1}, {})


def test_a_produce_is_answered_once() -> None:
    topics = [{"name": "t", "partition_data": [{"index": 0}]}]
    request = api("Produce").request.codec(3).encode({"topic_data": topics})
    answers = Answers([recorded(request, name="Produce", version=3)])
    assert answers.find(0, 3, request) is not None
    assert answers.find(0, 3, request) is None


def produce(value: bytes, *, timestamp: int = 1, producer_id: int = -1, topic: str = "t") -> bytes:
    data = records.build([Record(0, timestamp, None, value)], producer_id=producer_id)
    partitions = [{"index": 0, "records": data}]
    topics = [{"name": topic, "partition_data": partitions}]
    return api("Produce").request.codec(9).encode({"topic_data": topics})


@pytest.mark.parametrize(("one", "other", "same"), [
    (produce(b"v"), produce(b"v", timestamp=2), True),
    (produce(b"v"), produce(b"v", producer_id=7), True),
    (produce(b"v"), produce(b"w"), False),
    (produce(b"v"), produce(b"v", topic="u"), False),
    (b"\xff", b"\xff", True),
    (b"\xff", b"\xfe", False),
])  # fmt: skip
def test_shapes(one: bytes, other: bytes, same: bool) -> None:
    assert (shape(0, 9, one) == shape(0, 9, other)) is same
