from __future__ import annotations

from typing import Any

import pytest

from barnabas.fuzz.cases.case import Case
from barnabas.fuzz.cases.observation import Observation
from barnabas.fuzz.observations.requests import question
from barnabas.fuzz.targets.read_back import MOVED, ReadBack, compared, served
from barnabas.specs.keys import FETCH, PRODUCE
from barnabas.specs.records import build, with_crc
from barnabas.specs.records.record import Record
from tests.fuzz.observed import observed, request, response

RECORDS = [Record(i, 1000, b"k", b"v%d" % i) for i in range(3)]
SENT = build(RECORDS)
SERVED = build([one._replace(offset=one.offset + 40) for one in RECORDS], partition_leader_epoch=3)
OTHER = build([Record(40, 1000, b"k", b"w")])


def test_the_same_records_at_their_offset_are_fine() -> None:
    assert compared(SENT, 40, SERVED) == []


def test_a_batch_that_was_accepted_and_is_not_there_is_told() -> None:
    assert compared(SENT, 40, b"") == ["nothing is served at its offset"]


def test_other_records_are_told() -> None:
    other = build([one._replace(offset=40, value=b"w") for one in RECORDS[:1]])
    assert compared(SENT, 40, other) == ["other records are served"]


def test_a_wrong_checksum_that_was_accepted_is_told() -> None:
    broken = SENT[:17] + b"\0\0\0\0" + SENT[21:]
    assert compared(broken, 40, SERVED) == ["its checksum was wrong"]


def test_what_is_served_with_a_wrong_checksum_is_told() -> None:
    broken = SERVED[:17] + b"\0\0\0\0" + SERVED[21:]
    assert compared(SENT, 40, broken) == ["what is served has a wrong checksum"]


def test_a_batch_that_is_cut_off_is_left_out_and_those_before_are_compared() -> None:
    assert compared(SENT + SENT[:-1], 40, SERVED) == []
    assert compared(SENT + SENT[:-1], 40, OTHER) == ["other records are served"]


def test_what_no_reader_reads_should_not_have_been_accepted() -> None:
    broken = SENT[:16] + b"\7" + SENT[17:]
    (found,) = compared(broken, 40, SERVED)
    assert found.startswith("it can't be read")


@pytest.mark.parametrize("delta", [-1, 0, 1, 3, 2**31 - 1])
def test_a_batch_of_other_offsets_than_records_should_not_have_been_accepted(delta: int) -> None:
    # Kafka 0.11.0.1 takes it; from 2.8 on it is refused: Inconsistent batch offset range
    gap = with_crc(SENT[:23] + delta.to_bytes(4, "big", signed=True) + SENT[27:])
    assert compared(gap, 40, SERVED) == ["it announced another number of offsets"]


def test_offsets_are_counted_from_wherever_a_producer_begins() -> None:
    for base in (-1, 7, 2**63 - 1, -(2**63)):
        moved = base.to_bytes(8, "big", signed=True) + SENT[8:]
        assert compared(moved, 40, SERVED) == []


@pytest.mark.parametrize(
    ("there", "found"),
    [
        ({}, []),  # what was sent before under the same sequences: the offset that was given is its
        ({"base_sequence": 5}, ["other records are served"]),
        ({"producer_epoch": 1}, ["other records are served"]),
        ({"producer_id": 8}, ["other records are served"]),
    ],
)
def test_what_a_producer_sends_again_is_not_compared_with_what_it_sent_first(
    there: dict[str, Any], found: list[str]
) -> None:
    producer: dict[str, Any] = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 2}
    first = [Record(40 + i, 1000, b"k", b"first") for i in range(3)]
    assert compared(build(RECORDS, **producer), 40, build(first, **(producer | there))) == found


def test_what_a_producer_sends_again_need_not_be_readable() -> None:
    producer: dict[str, Any] = {"producer_id": 7, "producer_epoch": 0, "base_sequence": 2}
    first = build([one._replace(offset=one.offset + 40) for one in RECORDS], **producer)
    again = bytearray(build(RECORDS, **producer))
    again[61] = 0x7F  # the length of the first record
    broken = with_crc(bytes(again))
    assert compared(broken, 40, first) == []
    (found,) = compared(broken, 40, build(RECORDS))
    assert found.startswith("it can't be read")


def test_the_very_batch_that_a_producer_sent_is_compared() -> None:
    backwards = build([RECORDS[0], RECORDS[1]._replace(offset=-5)], last_offset=1, producer_id=7)
    moved = (40).to_bytes(8, "big") + backwards[8:]
    assert compared(backwards, 40, moved) == ["other records are served"]


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
    assert served(broker.produced(), broker, {FETCH: (4, 12)}) == told  # type: ignore[arg-type]


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
    (asked,) = question(first.sent).requests
    found = look.look(first, asked, {FETCH: (4, 12)})
    assert found is not None
    assert dict(found.facts).get("served") == told
    assert broker.there == []
    assert broker.again == [first.case] * (len(there) - 1)
