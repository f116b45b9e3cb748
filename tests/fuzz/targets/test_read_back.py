from __future__ import annotations

import pytest

from barnabas.fuzz.targets.read_back import compared
from barnabas.specs.records import build, with_crc
from barnabas.specs.records.record import Record

RECORDS = [Record(i, 1000, b"k", b"v%d" % i) for i in range(3)]
SENT = build(RECORDS)
SERVED = build([one._replace(offset=one.offset + 40) for one in RECORDS], partition_leader_epoch=3)


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


def test_a_batch_that_is_cut_off_should_not_have_been_accepted() -> None:
    assert compared(SENT + SENT[:-1], 40, SERVED) == ["it was not whole batches"]


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
