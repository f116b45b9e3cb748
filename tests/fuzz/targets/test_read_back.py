from __future__ import annotations

from typing import Any

import pytest

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.requests import parse_requests
from barnabas.fuzz.targets.read_back import MOVED, ReadBack, compare_batches, served_differences
from barnabas.specs.keys import FETCH, PRODUCE
from barnabas.specs.records import build, with_crc
from barnabas.specs.records.record import Record
from tests.fuzz.observed import observed, request, response

RECORDS = [Record(i, 1000, b"k", b"v%d" % i) for i in range(3)]
SENT = build(RECORDS)
SERVED = build([one._replace(offset=one.offset + 40) for one in RECORDS], partition_leader_epoch=3)
OTHER = build([Record(40, 1000, b"k", b"w")])


PRODUCER: dict[str, Any] = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 2}
AGAIN = build(RECORDS, **PRODUCER)
UNREADABLE = with_crc(AGAIN[:61] + b"\x7f" + AGAIN[62:])
"""The length of its first record is wrong."""
BACKWARDS = build([RECORDS[0], RECORDS[1]._replace(offset=-5)], last_offset=1, producer_id=7)


def at_40(**producer: int) -> bytes:
    """What was sent first under the same sequences, or nearly."""
    first = [Record(40 + i, 1000, b"k", b"first") for i in range(3)]
    return build(first, **(PRODUCER | producer))


def announcing(delta: int) -> bytes:
    return with_crc(SENT[:23] + delta.to_bytes(4, "big", signed=True) + SENT[27:])


def based(offset: int) -> bytes:
    return offset.to_bytes(8, "big", signed=True) + SENT[8:]


@pytest.mark.parametrize(
    ("sent", "there", "found"),
    [
        (SENT, SERVED, []),
        (SENT, b"", ["nothing is served at its offset"]),
        (SENT, build([RECORDS[0]._replace(offset=40, value=b"w")]), ["other records are served"]),
        (SENT[:17] + b"\0\0\0\0" + SENT[21:], SERVED, ["its checksum was wrong"]),
        (SENT, SERVED[:17] + b"\0\0\0\0" + SERVED[21:], ["what is served has a wrong checksum"]),
        # one that is cut off is left out, and those before are compared
        (SENT + SENT[:-1], SERVED, []),
        (SENT + SENT[:-1], OTHER, ["other records are served"]),
        # Kafka 0.11.0.1 takes it; from 2.8 on it is refused: Inconsistent batch offset range
        *(
            (announcing(delta), SERVED, ["it announced another number of offsets"])
            for delta in (-1, 0, 1, 3, 2**31 - 1)
        ),
        *((based(offset), SERVED, []) for offset in (-1, 7, 2**63 - 1, -(2**63))),
        # what was sent before under the same sequences: the offset that was given is its
        (AGAIN, at_40(), []),
        (AGAIN, at_40(base_sequence=5), ["other records are served"]),
        (AGAIN, at_40(producer_epoch=1), ["other records are served"]),
        (AGAIN, at_40(producer_id=8), ["other records are served"]),
        (
            UNREADABLE,
            build([one._replace(offset=one.offset + 40) for one in RECORDS], **PRODUCER),
            [],
        ),
        # the very batch that a producer sent is compared
        (BACKWARDS, (40).to_bytes(8, "big") + BACKWARDS[8:], ["other records are served"]),
    ],
)
def test_what_is_served_is_compared_with_what_was_sent(
    sent: bytes, there: bytes, found: list[str]
) -> None:
    assert compare_batches(sent, 40, there) == found


@pytest.mark.parametrize(
    ("sent", "there"), [(SENT[:16] + b"\7" + SENT[17:], SERVED), (UNREADABLE, build(RECORDS))]
)
def test_what_no_reader_reads_should_not_have_been_accepted(sent: bytes, there: bytes) -> None:
    (found,) = compare_batches(sent, 40, there)
    assert found.startswith("it can't be read")


class Served:
    """A broker that gives offset 40 to whatever is sent, and serves these record sets in turn."""

    def __init__(self, *there: bytes) -> None:
        self.there = list(there)
        self.again: list[Case] = []

    def ask(self, key: int, version: int, body: dict[str, Any]) -> dict[str, Any]:
        part = {"error_code": 0, "high_watermark": 43, "records": self.there.pop(0)}
        return {"responses": [{"partitions": [part]}]}

    def produced(self) -> Observation:
        part = {"index": 0, "records": SENT}
        topics = [{"name": "t", "partition_data": [part]}]
        sent = request(PRODUCE, 3, {"acks": 1, "timeout_ms": 9, "topic_data": topics})
        done = {"index": 0, "error_code": 0, "base_offset": 40, "log_append_time_ms": -1}
        body = {"responses": [{"name": "t", "partition_responses": [done]}], "throttle_time_ms": 0}
        return observed(sent, replies=(response(PRODUCE, 3, body),))

    def apart(self, case: Case) -> Observation:
        self.again.append(case)
        return self.produced()


class Refusing(Served):
    """Answers Fetch with an error, of a log that ends there."""

    def __init__(self, error: int, end: int) -> None:
        super().__init__()
        self.error, self.end = error, end

    def ask(self, key: int, version: int, body: dict[str, Any]) -> dict[str, Any]:
        part = {"error_code": self.error, "high_watermark": self.end, "records": b""}
        return {"responses": [{"partitions": [part]}]}


@pytest.mark.parametrize(
    ("error", "end", "told"),
    [
        *((error, -1, []) for error in sorted(MOVED)),  # others may have deleted it
        (0, 40, []),  # or its records
        (0, 43, ["nothing is served at its offset"]),
        (-1, -1, ["Fetch of it: answered with UNKNOWN_SERVER_ERROR"]),
        (2, -1, ["Fetch of it: answered with CORRUPT_MESSAGE"]),
    ],
)
def test_a_log_that_is_not_there_any_more_says_nothing_and_another_error_does(
    error: int, end: int, told: list[str]
) -> None:
    broker = Refusing(error, end)
    assert served_differences(broker.produced(), broker, {FETCH: (4, 12)}) == told  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("there", "told"),
    [
        ((SERVED,), None),
        ((OTHER, SERVED), None),  # others had deleted the topic meanwhile, and created it
        ((OTHER, OTHER), ["other records are served"]),
    ],
)
def test_what_is_served_is_wrong_if_it_is_of_the_case_alone(
    there: tuple[bytes, ...], told: list[str] | None
) -> None:
    broker = Served(*there)
    first = broker.produced()
    look = ReadBack(broker, broker.apart)  # type: ignore[arg-type]
    (asked,) = parse_requests(first.sent).requests
    found = look.look(first, asked, {FETCH: (4, 12)})
    assert found is not None
    assert dict(found.facts).get("served") == told
    assert broker.there == []
    assert broker.again == [first.case] * (len(there) - 1)
