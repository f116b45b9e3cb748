"""Batches that a log contains twice although their producer numbered them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from barnabas.testing.batches import PRODUCE, batches
from barnabas.testing.exchange import Exchange


@dataclass(frozen=True, slots=True)
class DuplicateSequence:
    """A base sequence of a producer that a partition's leader wrote more than once."""

    topic: str
    partition: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    offsets: tuple[int, ...]
    """The base offsets at which the batch was written, in the order of the requests."""
    exchanges: tuple[Exchange, ...]
    """The exchanges of these offsets."""


def duplicate_sequences(exchanges: Iterable[Exchange]) -> list[DuplicateSequence]:
    """Return the sequences that a broker acknowledged, without an error, at more than one offset.

    An idempotent producer must send a batch again after a lost response. A broker that knows the sequence
    responds with the first offset or with DUPLICATE_SEQUENCE_NUMBER; neither is a duplicate. The broker's
    responses count, even if the client did not receive them. Unknown are batches without a response, and
    those that the fault `duplicate` repeated. Batches without a sequence are ignored. Sequences restart at 0
    after 2,147,483,647: a producer that sent that many records to a partition is reported, too.

    Raises:
        Unreadable: The body of a Produce request is not in the log.
    """
    taken: dict[tuple[str, int, int, int, int], dict[int, Exchange]] = {}
    for exchange in sorted(exchanges, key=lambda each: each.ts):
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
