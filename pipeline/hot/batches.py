"""What the headers of a record set say: how many records, up to where, and whose."""

from __future__ import annotations

from typing import NamedTuple

from specs.malformed import Malformed
from specs.records import Batch, read


class Measured(NamedTuple):
    """A record set in figures, as far as it can be read."""

    first: Batch | None
    records: int | None
    """None: a compressed message of magic 0 or 1 is among them, which does not say."""
    last_offset: int | None
    """Of the last whole batch, as it counts in the set."""
    base_sequence: int | None
    """The lowest; None without an idempotent producer."""


def measured(data: bytes) -> Measured:
    """A record set's figures, from its headers; never raises.

    Batches of control records (transaction markers) count like any other.

    >>> measured(b"").records
    0
    """
    first = last = None
    count: int | None = 0
    sequence: int | None = None
    try:
        for batch in read(data):
            first = first or batch
            last = batch
            if batch.count is not None:
                count = None if count is None else count + max(batch.count, 0)
            elif batch.compression != "none":
                count = None
            elif count is not None:
                count += 1
            if batch.producer_id >= 0 and batch.base_sequence >= 0:
                here = batch.base_sequence
                sequence = here if sequence is None else min(sequence, here)
    except Malformed:
        pass  # what stands before it was read
    return Measured(first, count, last.last_offset if last else None, sequence)
