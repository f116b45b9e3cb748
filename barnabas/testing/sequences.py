"""Batches that are in the log twice, though their producer numbered them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from barnabas.testing.batches import PRODUCE, batches
from barnabas.testing.exchange import Exchange


@dataclass(frozen=True, slots=True)
class DuplicateSequence:
    """A base sequence of a producer that a partition's leader took more than once."""

    topic: str
    partition: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    offsets: tuple[int, ...]
    """The base offsets at which it was written, in the order of the requests."""
    exchanges: tuple[Exchange, ...]
    """Those requests."""


def duplicate_sequences(exchanges: Iterable[Exchange]) -> list[DuplicateSequence]:
    """What the broker acknowledged, without an error, at more than one offset.

    To send a batch again after a lost response is what an idempotent producer must do. A broker that
    knows the sequence answers with the first offset, or with DUPLICATE_SEQUENCE_NUMBER: neither is
    a duplicate. What the broker did and answered counts, whether or not the client got the answer;
    what it never answered is not known, nor is what the fault `duplicate` sent once more. Batches
    without a sequence are not looked at. Sequences begin again at 0 after 2,147,483,647: a producer that
    sent so many to a partition is found here too. Raises Unreadable.
    """
    taken: dict[tuple[str, int, int, int, int], dict[int, Exchange]] = {}
    for exchange in sorted(exchanges, key=lambda found: found.ts):
        if exchange.key != PRODUCE:
            continue
        for batch in batches(exchange):
            offset = batch.base_offset
            if batch.idempotent and batch.error_code == 0 and offset is not None and offset >= 0:
                number = (
                    batch.topic,
                    batch.partition,
                    batch.producer_id,
                    batch.producer_epoch,
                    batch.base_sequence,
                )
                taken.setdefault(number, {}).setdefault(offset, exchange)
    return [
        DuplicateSequence(*number, tuple(offsets), tuple(offsets.values()))
        for number, offsets in taken.items()
        if len(offsets) > 1
    ]
