"""Test sequence numbers of idempotent producers: gaps, repetitions, epochs, and the wrap."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

import pytest

from barnabas.captures.kafka.exchange import STRAY, Exchange
from tests.captures.checks.given import (
    descriptions,
    evidence_packets,
    exchange,
    findings_of,
    produce,
)

OUT_OF_ORDER = 45
DUPLICATE = 46
NOT_LEADER = 6
LAST = 2**31 - 1
ORDERS = uuid.UUID(int=7)


def sent(at: float, sequence: int, count: int = 2, *, epoch: int = 0, **more: Any) -> Exchange:
    values = [f"v{at}-{number}" for number in range(count)]
    return produce(at, values, **{"sequence": sequence, "producer": 9, "epoch": epoch, **more})


def begun(at: float, epoch: int = 0, *, producer: int = 9, error: int = 0) -> Exchange:
    answer = {"error_code": error, "producer_id": producer, "producer_epoch": epoch}
    asked = {"transactional_id": None, "transaction_timeout_ms": 1}
    return exchange("InitProducerId", 1, asked, answer, at=at)


def ended(at: float, epoch: int) -> Exchange:
    asked = {"transactional_id": "t", "producer_id": 9, "producer_epoch": epoch - 1}
    answer = {"error_code": 0, "producer_id": 9, "producer_epoch": epoch}
    return exchange("EndTxn", 5, asked | {"committed": True}, answer, at=at)


def named(at: float) -> Exchange:
    """Make a Metadata that has the id of the topic."""
    topic = {"name": "orders", "topic_id": ORDERS, "error_code": 0, "partitions": []}
    return exchange("Metadata", 12, {"topics": None}, {"topics": [topic]}, at=at)


BEGUN = begun(0)
FIRST = (BEGUN, sent(1, 0))
BUMPED = (*FIRST, sent(2, 2), sent(3, 0, epoch=1), sent(4, 2, epoch=1))
GAP = (sent(9, 50, losses=1), sent(10, 52, losses=1))
# the acknowledgement came, but nobody read it: the client had closed that connection
ELSEWHERE = sent(5, 0, connection=2)
LOST = sent(1, 0, error=None)

CASES = {
    "one behind the other": (0, [*FIRST, sent(2, 2, 3), sent(3, 5)]),
    "by name and by id": (0, [*FIRST, named(1.5), sent(2, 2, version=13, topic=ORDERS), sent(3, 4)]),
    "a gap by id": (1, [*FIRST, named(1.5), sent(2, 4, version=13, topic=ORDERS)]),
    "the first number is 0": (1, [BEGUN, sent(1, 4)]),
    "a stray response hides no gap": (1, [BEGUN, replace(named(0.5), key=STRAY), sent(1, 4)]),
    "begun before the capture": (0, [sent(1, 4), sent(2, 6)]),
    "partitions": (0, [*FIRST, sent(2, 0, partition=1)]),
    "topics": (0, [*FIRST, sent(2, 0, topic="clicks")]),
    "a new epoch begins at 0": (0, BUMPED),
    "a new epoch begins behind 0": (1, [*BUMPED[:3], sent(3, 4, epoch=1)]),
    # KIP-890: each transaction has an epoch of its own
    "transactions": (0, [sent(1, 40, epoch=3), ended(2, 4), sent(3, 0, epoch=4)]),
    "a partition that is new in a transaction": (
        1, [sent(1, 40, epoch=3), ended(2, 4), sent(3, 5, epoch=4, partition=7)],
    ),
    "the old epoch ends late": (0, [sent(1, 0), sent(3, 0, epoch=1), sent(2, 2, error=None)]),
    "not answered and sent again": (0, [BEGUN, LOST, sent(5, 0), sent(6, 2)]),
    "failed and sent again": (0, [BEGUN, sent(1, 0, error=NOT_LEADER), sent(5, 0), sent(6, 2)]),
    "five in flight fail with the first one and come again in order": (
        0,
        [
            *(BEGUN, sent(1, 0, error=NOT_LEADER, took=10)),
            *(sent(1 + n / 10, 2 * n, error=OUT_OF_ORDER, took=10) for n in range(1, 5)),
            *(sent(20 + n / 10, 2 * n, took=10) for n in range(5)),
            sent(40, 10),
        ],
    ),
    # Java lowers the numbers behind a batch that failed for good (MESSAGE_TOO_LARGE)
    "numbers that a failed batch gave back": (
        0,
        [
            *(BEGUN, sent(1, 0, 5, error=10, took=9), sent(2, 5, error=OUT_OF_ORDER, took=9)),
            *(sent(20, 0), sent(21, 2)),
        ],
    ),
    # its connection was closed behind its successful repetition on another one
    "an attempt that is told late": (0, [BEGUN, ELSEWHERE, LOST, sent(6, 2, connection=2)]),
    "sent again by a client that gave up waiting": (
        0, [BEGUN, sent(1, 0, took=2000), sent(3000, 0, connection=2), sent(3002, 2, connection=2)],
    ),
    "the first answer comes behind the repetition": (
        0, [BEGUN, sent(3000, 0, connection=2), sent(1, 0, took=3100), sent(3200, 2, connection=2)],
    ),
    "sent again, sent meanwhile, ended before": (1, [*FIRST, sent(6, 2), sent(5, 0, connection=2, took=9)]),
    "said once": (1, [*FIRST, ELSEWHERE, sent(6, 2), sent(7, 4)]),
    "the first connection was used before": (0, [*FIRST, sent(4, 2), ELSEWHERE, sent(6, 4, connection=2)]),
    "the first connection was used at that moment": (0, [*FIRST, ELSEWHERE, sent(5, 2)]),
    "the first connection was used before and after": (
        1, [*FIRST, ELSEWHERE, sent(4, 2, took=3), sent(7, 4)],
    ),
    "sent again before it could know": (0, [BEGUN, sent(1, 0, took=9), sent(5, 0, error=DUPLICATE)]),
    "a duplicate counts as taken": (1, [BEGUN, LOST, sent(5, 0, error=DUPLICATE), sent(9, 0)]),
    # both were lost or refused; the retry of the first is acknowledged before the refusal of the second is
    # heard
    "refused elsewhere before the one before was taken": (
        0, [BEGUN, LOST, sent(9, 0, connection=2), sent(2, 2, error=OUT_OF_ORDER, took=20)],
    ),
    "refused elsewhere though the one before was taken": (
        1, [BEGUN, LOST, sent(9, 0, connection=2), sent(12, 2, error=OUT_OF_ORDER, took=20)],
    ),
    # a request between them left a proxy behind them: then it is answered behind them
    "what still waits holds the numbers": (0, [*FIRST, sent(3, 4), sent(2, 2, took=30), sent(40, 6)]),
    "nothing waits that holds the numbers": (1, [*FIRST, sent(3, 4), sent(40, 6)]),
    "a gap of the capture": (0, [*FIRST, *GAP]),
    "a gap behind a gap of the capture": (1, [*FIRST, *GAP, sent(11, 99, losses=1)]),
    "not idempotent": (0, [produce(1, ["a"]), produce(2, ["a"])]),
    # the broker refuses a zombie, and its numbers are not those of the present epoch
    "a producer of a past epoch": (
        0,
        [*(*FIRST, begun(2, 1), sent(3, 0, epoch=1)), *(sent(4, 7, epoch=0, error=47), sent(5, 2, epoch=1))],
    ),
    # the first producer of a cluster has the id 0
    "producer 0": (1, [sent(1, 0, 1, producer=0), sent(2, 5, producer=0)]),
    "producer 0 begins at 0": (1, [begun(0, producer=0), sent(1, 4, producer=0)]),
    "an id that was refused begins nothing": (0, [begun(0, error=51), sent(1, 4)]),
}  # fmt: skip


@pytest.mark.parametrize(("findings", "exchanges"), CASES.values(), ids=CASES)
def test_how_often_it_is_found(findings: int, exchanges: list[Exchange]) -> None:
    assert len(findings_of("sequences", *exchanges)) == findings


@pytest.mark.parametrize("last", [LAST, LAST - 1, 0])
def test_the_numbers_wrap(last: int) -> None:
    """A batch that ends with 2^31 - 1, before it, and one that goes over it."""
    base, following = (last - 1) % 2**31, (last + 1) % 2**31
    third = (following + 2) % 2**31
    assert findings_of("sequences", sent(1, base), sent(2, following), sent(3, third)) == []
    assert len(findings_of("sequences", sent(1, base), sent(2, (following + 1) % 2**31))) == 1


WHO = "orders[0]: producer 9 epoch 0"
AGAIN = f"{WHO} sent sequence 0 again after it had been acknowledged"
TEXTS = {
    "a gap": (
        [sent(2, 5), sent(3, 7)],
        ("error", f"{WHO} skipped 3 sequence numbers: 2 was expected, 5 was sent"),
        (21, 22),
    ),
    "sent again though it knew": ([sent(5, 0), sent(6, 2)], ("warning", AGAIN), (51, 52)),
    # elsewhere, though the first connection is used
    "used again": ([ELSEWHERE, sent(6, 2)], ("warning", AGAIN), (51, 52)),
    "used without an answer": ([ELSEWHERE, sent(6, 2, error=None)], ("warning", AGAIN), (51, 52)),
    "used for another API": (
        [ELSEWHERE, exchange("Metadata", 12, None, None, at=6)], ("warning", AGAIN), (51, 52),
    ),
    "refused though the one before was taken": (
        [sent(2, 2, error=OUT_OF_ORDER)],
        (
            "warning",
            f"{WHO}: sequence 2 was rejected as out of order, though the one before it was acknowledged",
        ),
        (21, 22),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("exchanges", "what", "packets"), TEXTS.values(), ids=TEXTS)
def test_what_is_said(
    exchanges: list[Exchange], what: tuple[str, str], packets: tuple[int, ...]
) -> None:
    findings = findings_of("sequences", *FIRST, *exchanges)
    assert (descriptions(findings), evidence_packets(findings)) == ([what], [[(11, 12), packets]])


def test_what_is_missing_before_the_first_numbers_has_them_alone_as_evidence() -> None:
    assert evidence_packets(findings_of("sequences", BEGUN, sent(1, 4))) == [[(11, 12)]]
