"""What counts as a batch that is in the log twice, and what does not."""

from __future__ import annotations

from typing import Any

import pytest

from barnabas.testing.exchange import Exchange
from barnabas.testing.sequences import duplicate_sequences
from tests.barnabas.testing.made import batch, exchange, produce

FIRST = batch(7, 0, 0)
LOST: dict[str, Any] = {"latency_ms": None}


def found(*exchanges: Exchange) -> list[tuple[int, tuple[int, ...]]]:
    return [(each.base_sequence, each.offsets) for each in duplicate_sequences(exchanges)]


def test_taken_at_two_offsets() -> None:
    first = produce(1, (0, FIRST), offsets={0: 0}, **LOST)
    again = produce(2, (0, FIRST), offsets={0: 3})
    (duplicate,) = duplicate_sequences([again, first])
    assert duplicate.exchanges == (first, again)
    assert duplicate.offsets == (0, 3)
    assert (duplicate.topic, duplicate.partition) == ("orders", 0)
    assert (duplicate.producer_id, duplicate.producer_epoch) == (7, 0)


SECOND = (1, batch(7, 0, 50))
LOST_ONE = produce(1, (0, FIRST), offsets={0: 0}, **LOST)
TAKEN = produce(1, (0, FIRST), offsets={0: 0})
LATER = produce(3, (0, FIRST), offsets={0: 9})
PLAIN = (0, batch(value=b"same"))


@pytest.mark.parametrize(
    ("exchanges", "duplicates"),
    [
        ([LOST_ONE, produce(2, (0, FIRST), offsets={0: 0})], []),
        ([LOST_ONE, produce(2, (0, FIRST), errors={0: 46})], []),
        ([LOST_ONE, produce(2, (0, FIRST), offsets={0: -1})], []),
        ([produce(1, (0, FIRST), errors={0: 6}), LATER], []),
        ([produce(1, (0, FIRST), **LOST), LATER], []),
        ([TAKEN, produce(2, (1, FIRST), offsets={1: 3})], []),
        ([TAKEN, produce(2, (0, batch(8, 0, 0)), offsets={0: 3})], []),
        ([TAKEN, produce(2, (0, batch(7, 1, 0)), offsets={0: 3})], []),
        ([TAKEN, produce(2, (0, batch(7, 0, 1)), offsets={0: 3})], []),
        ([produce(1, PLAIN, offsets={0: 0}), produce(2, PLAIN, offsets={0: 1})], []),
        (
            [
                produce(1, (0, FIRST), SECOND, offsets={0: 0, 1: 0}),
                produce(2, SECOND, offsets={1: 4}),
            ],
            [(50, (0, 4))],
        ),
        ([exchange("Fetch", request=None)], []),
    ],
    ids=[
        *("the broker knows the sequence", "it refuses the second", "it does not say where"),
        *("the first was refused", "the first has no answer", "another partition"),
        *("another producer", "another epoch", "another sequence", "no sequence"),
        *("one of several in a request", "another API"),
    ],
)
def test_what_is_a_duplicate(
    exchanges: list[Exchange], duplicates: list[tuple[int, tuple[int, ...]]]
) -> None:
    assert found(*exchanges) == duplicates
