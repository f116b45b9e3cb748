from __future__ import annotations

from typing import Any

import pytest

from barnabas.peers.replay.batches import Sequences, renew_batches
from barnabas.peers.replay.identities import Identities
from barnabas.specs import records
from barnabas.specs.malformed import Malformed
from barnabas.specs.records import Record

PLACE = ("t", 0)


def batch(base: int = 0, count: int = 3, producer: tuple[int, int] = (1000, 0)) -> bytes:
    found = [Record(number, 1000 + number, b"k", b"v" * 40) for number in range(count)]
    number, epoch = producer
    more: dict[str, Any] = {"producer_id": number, "producer_epoch": epoch, "base_sequence": base}
    return records.build(found, compression="gzip", **more)


def known(live: tuple[int, int] = (7, 2)) -> Identities:
    found = Identities()
    found.producer_is((1000, 0), live)
    return found


def test_another_producer_and_the_checksum_of_all_batches() -> None:
    data = renew_batches(batch(0) + batch(3), PLACE, known(), Sequences())
    one, other = records.read(data)
    assert (one.producer_id, one.producer_epoch, one.base_sequence) == (7, 2, 0)
    assert (other.producer_id, other.producer_epoch, other.base_sequence) == (7, 2, 3)
    assert one.crc_ok
    assert other.crc_ok
    before = next(iter(records.read(batch(0))))
    assert one.records() == before.records()


def test_what_nothing_changes_is_the_same_bytes() -> None:
    data = records.build([Record(0, 1, None, b"v")])
    assert renew_batches(data, PLACE, known(), Sequences()) is data
    older = records.build([Record(0, 1, None, b"v")], magic=1)
    assert renew_batches(older, PLACE, known(), Sequences()) is older


@pytest.mark.parametrize("magic", [1, 2])
@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_times_are_shifted(magic: int, compression: str) -> None:
    found = [Record(number, 1000 + number, None, b"v") for number in range(3)]
    data = records.build(found, magic=magic, compression=compression)
    one = renew_batches(data, PLACE, Identities(), Sequences(), 500)
    read = list(records.read(one))
    assert [record.timestamp for each in read for record in each.records()] == [1500, 1501, 1502]
    assert all(each.crc_ok for each in read)


def test_an_epoch_that_does_not_begin_anew_goes_on_counting() -> None:
    identities, sequences = known((7, 2)), Sequences()
    identities.producer_is((1000, 1), (7, 2))  # without KIP-890 the epoch stays
    bases = []
    for data in (batch(0), batch(3), batch(0, producer=(1000, 1)), batch(3, producer=(1000, 1))):
        (found,) = records.read(renew_batches(data, PLACE, identities, sequences))
        bases.append((found.producer_epoch, found.base_sequence))
    assert bases == [(2, 0), (2, 3), (2, 6), (2, 9)]


def test_a_batch_that_is_sent_again_has_the_same_sequence() -> None:
    sequences = Sequences()
    bases = [sequences.live((1, 0), (7, 0), PLACE, base, 5) for base in (0, 5, 0, 5)]
    assert bases == [0, 5, 0, 5]


@pytest.mark.parametrize("data", [batch()[:-1], batch() + b"\0" * 20])
def test_what_is_no_batch(data: bytes) -> None:
    with pytest.raises(Malformed):
        renew_batches(data, PLACE, known(), Sequences())
