"""What the headers of a record set say: how many records, up to where, and whose."""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

from barnabas.specs.malformed import Malformed
from barnabas.specs.records.batch import read_batch
from barnabas.specs.records.compression import codec_name
from barnabas.specs.records.record import int64
from barnabas.specs.records.record_set import places

_HEADER: Final = struct.Struct(">q9xIhi16xqhii").unpack_from
"""Of a batch of magic 2: a `Batch` has more, and takes longer to make."""


class First(NamedTuple):
    """The header of a batch; -1 where an older magic has no such field."""

    magic: int
    crc: int
    last_offset: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    announced: int


class Measured(NamedTuple):
    """A record set in figures, as far as it can be read."""

    first: First | None
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
    first = None
    last: int | None = None
    count: int | None = 0
    sequence: int | None = None
    try:
        for position, size, magic in places(data):
            if magic == 2:
                one = _header(data, position)
                records, uncounted = max(one.announced, 0), False
            else:
                batch = read_batch(memoryview(data)[position : position + size])
                one = First(magic, batch.crc, batch.last_offset, -1, -1, -1, 1)
                records, uncounted = 1, batch.compression != "none"
            first = first or one
            last = one.last_offset
            count = None if uncounted or count is None else count + records
            here = one.base_sequence
            if one.producer_id >= 0 and here >= 0:
                sequence = here if sequence is None else min(sequence, here)
    except Malformed:
        pass  # what stands before it was read
    return Measured(first, count, last, sequence)


def _header(data: bytes, at: int) -> First:
    """Raises Malformed."""
    offset, crc, attributes, delta, producer_id, epoch, sequence, count = _HEADER(data, at)
    codec_name(attributes)
    return First(2, crc, int64(offset + delta), producer_id, epoch, sequence, count)
