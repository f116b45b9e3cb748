"""Test for records of a partition that are out of order."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.kafka.exchange import Exchange
from tests.captures.checks.given import descriptions, evidence_packets, findings_of, produce

NOT_LEADER = 6
LAST = 2**31 - 1


def sent(at: float, value: str, offset: int = 0, took: float = 9, **more: Any) -> Exchange:
    """Make a Produce of one record that is in flight for 9 ms."""
    return produce(at, [value], offset=offset, took=took, **more)


def refused(at: float, value: str, took: float = 9, error: int = 6, **more: Any) -> Exchange:
    return sent(at, value, took=took, error=error, **more)


def lost(at: float, value: str, **more: Any) -> Exchange:
    return sent(at, value, error=None, **more)


def numbered(at: float, value: str, sequence: int, offset: int = 0, **more: Any) -> Exchange:
    """Make a Produce of an idempotent producer."""
    who = {"producer": 1, "epoch": 0, "sequence": sequence}
    return sent(at, value, offset, **{**who, **more})


def old(at: float, values: list[str], **more: Any) -> Exchange:
    """Make a Produce of magic 1, where each record has its own checksum."""
    return produce(at, values, version=2, **more)


BACK = sent(1, "a", 9)
NUMBERED_BACK = numbered(1, "a", 5, 9)
PAUSED = (refused(1, "a", took=1), refused(3, "b"))

CASES = {
    "in order": (0, [sent(1, "a", 0), sent(2, "b", 1)]),
    # offsets that go back without anything in flight: the topic was made anew
    "not pipelined": (0, [sent(1, "a", 9, took=1), sent(5, "b")]),
    "sent when the answer comes": (0, [sent(1, "a", 9, took=1), sent(2, "b")]),
    "a lost response": (
        1, [lost(1, "a"), sent(2, "b", took=1), sent(20, "a", 1, took=1, connection=2, host="10.0.0.1")],
    ),
    "a retry with a new timestamp": (
        1, [refused(1, "a"), sent(2, "b", 0), sent(20, "a", 1, stamp=1_700_000_000_500)],
    ),
    "equal records in flight together, the first unanswered": (
        0, [lost(1, "a"), sent(2, "b", 0), sent(5, "a", 1)],
    ),
    "equal records in flight together, the first refused later": (
        0, [refused(1, "a", took=9), sent(2, "b", 0), sent(5, "a", 1)],
    ),
    "all fail and are sent again in order": (
        0, [*(refused(1 + n, f"{n}") for n in range(3)), *(sent(20 + n, f"{n}", n) for n in range(3))],
    ),
    "all are lost and are sent again in order": (
        0, [*(lost(1 + n, f"{n}") for n in range(3)), *(sent(20 + n, f"{n}", n) for n in range(3))],
    ),
    "all are sent again in order elsewhere": (
        0,
        [
            *(lost(1 + n, f"{n}") for n in range(3)),
            *(sent(20 + n, f"{n}", n, connection=2) for n in range(3)),
        ],
    ),
    "nothing in flight behind a retry": (
        0, [refused(1, "a", took=1), sent(5, "a", 0, took=1), sent(9, "b", 1, took=1)],
    ),
    "other records behind the failure": (0, [refused(1, "a"), sent(2, "b"), sent(20, "c", 1)]),
    "a retry of old records": (
        1, [old(1, ["a", "b"], error=6, took=9), old(2, ["x"]), old(20, ["a", "b"], offset=1)],
    ),
    "other old records that begin alike": (
        0, [old(1, ["a", "b"], error=6, took=9), old(2, ["x"]), old(20, ["a", "c"], offset=1)],
    ),
    "records that can't be read": (0, [sent(1, "a", 1, records=b"?"), sent(2, "b", 0, records=b"?")]),
    "partitions": (0, [BACK, sent(2, "b", partition=1)]),
    "topics": (0, [BACK, sent(2, "b", topic="clicks")]),
    "clients": (0, [BACK, sent(2, "b", client="x")]),
    # the last one is sent between the refusal of the first and its retry, and is refused itself
    "sent again in a pause": (0, [*PAUSED, sent(5, "a", 0), sent(20, "b", 1)]),
    "sent again elsewhere in a pause": (
        0, [*PAUSED, sent(5, "a", 0, host="10.0.0.1", connection=2), sent(20, "b", 1)],
    ),
    "acks=0 is not sent again": (
        0, [produce(1, ["a"], acks=0, error=None), sent(2, "b", 0), sent(20, "a", 1)],
    ),
    "numbered anew behind a gap": (0, [sent(1, "a", 1), sent(2, "b", 0, losses=1)]),
    "no retry if the first were taken": (0, [sent(1, "a", 0), sent(2, "b", 1), sent(20, "a", 2)]),
    "a broker that takes what is behind a gap": (1, [numbered(1, "a", 0, 1), numbered(2, "b", 1, 0)]),
    # a transactional producer of Java: the first batch is refused with CONCURRENT_TRANSACTIONS, what is in
    # flight behind it with OUT_OF_ORDER_SEQUENCE_NUMBER; the last is sent before the retry of the first
    "numbers say the order": (
        0,
        [
            numbered(1, "a", 0, error=51, took=2),
            *(numbered(2 + n, f"{n}", n, error=45) for n in (1, 2)),
            numbered(5, "a", 0, 0),
            *(numbered(20 + n, f"{n}", n, n) for n in (1, 2)),
        ],
    ),
    "0 follows the greatest number": (0, [numbered(1, "a", LAST, 0), numbered(2, "b", 0, 1)]),
    "0 before the greatest number": (1, [numbered(1, "a", LAST, 1), numbered(2, "b", 0, 0)]),
    "another epoch": (0, [NUMBERED_BACK, numbered(2, "b", 6, epoch=1)]),
    "another producer": (0, [NUMBERED_BACK, numbered(2, "b", 6, producer=2)]),
    # the topic was made anew, and its offsets begin at 0
    "numbers not in flight together": (0, [numbered(1, "a", 0, 9, took=1), numbered(5, "b", 1, 0)]),
    # its replicas were too few when it was appended: it failed, and is known when it comes again
    "a repetition that was accepted before": (
        0,
        [numbered(1, "a", 0, error=20), numbered(12, "b", 1, 1, took=20), numbered(15, "a", 0, 0, took=20)],
    ),
    "a repetition that the broker knows": (
        0,
        [
            *(numbered(1 + n, f"{n}", n, error=None) for n in (0, 1)),
            *(numbered(20 + n, f"{n}", n, n) for n in (0, 1)),
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("findings", "exchanges"), CASES.values(), ids=CASES)
def test_how_often_it_is_found(findings: int, exchanges: list[Exchange]) -> None:
    assert len(findings_of("order", *exchanges)) == findings


TEXTS = {
    "the later request is in front": (
        [sent(1, "a", 1), sent(2, "b", 0)],
        "records sent later come first in the log: offset 0 was sent after offset 1",
        [(11, 12), (21, 22)],
        True,
    ),
    "a retry behind what was sent after it": (
        [refused(1, "a"), sent(2, "b", 0), sent(20, "a", 1)],
        "retried records come after records sent later: offset 1 was sent before offset 0",
        [(11, 12), (21, 22), (201, 202)],
        True,
    ),
    "numbers in another order than in the log": (
        [numbered(1, "a", 0, error=NOT_LEADER), numbered(2, "b", 1, 0), numbered(20, "a", 0, 1)],
        "the broker accepted sequence 0 at offset 1, but sequence 1 at offset 0",
        [(21, 22), (201, 202)],
        False,
    ),
}


@pytest.mark.parametrize(("exchanges", "what", "packets", "client"), TEXTS.values(), ids=TEXTS)
def test_what_is_said(
    exchanges: list[Exchange], what: str, packets: list[tuple[int, int]], client: bool
) -> None:
    findings = findings_of("order", *exchanges)
    assert descriptions(findings) == [("error", f"orders[0]: {what}")]
    assert evidence_packets(findings) == [packets]
    assert ("enable.idempotence" in findings[0].advice) == client
