"""Record batches for the live cluster: with live producers, sequences, times and new checksums.

Layout: DefaultRecordBatch of Apache Kafka. Records stay unchanged and compressed: their times are relative to
the batch's.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Final

import crc32c

from barnabas.peers.replay.identities import Identities, Producer
from barnabas.peers.replay.offsets import TopicPartition
from barnabas.specs import records
from barnabas.specs.malformed import Malformed

_FRONT: Final = struct.Struct(">qii")
_CRC: Final = struct.Struct(">I")
_TIMES: Final = struct.Struct(">qq")
_PRODUCER: Final = struct.Struct(">qhii")
"""Producer id, epoch, base sequence, number of records."""

MAGIC: Final = 16
CRC: Final = 17
CHECKED: Final = 21
"""The first byte of the checksummed part, which follows the leader epoch, the magic and the checksum."""
TIMES: Final = 27
PRODUCER: Final = 43
OVERHEAD: Final = 61
_WRAP: Final = 1 << 31
"""After the last sequence comes 0."""


@dataclass(slots=True)
class Sequences:
    """The next sequence that each live partition expects of each producer.

    Recorded sequences stay as they are, unless two recorded epochs are one live epoch: a live cluster without
    KIP-890 does not begin a new epoch with each transaction.
    """

    _next: dict[tuple[Producer, TopicPartition], int] = field(default_factory=dict)
    _shift: dict[tuple[Producer, TopicPartition], int] = field(default_factory=dict)

    def live(
        self, recorded: Producer, live: Producer, partition: TopicPartition, base: int, count: int
    ) -> int:
        """Return the live base sequence of a recorded batch of `count` records.

        >>> sequences, place = Sequences(), ("t", 0)
        >>> sequences.live((1000, 0), (7, 0), place, 0, 5), sequences.live((1000, 1), (7, 0), place, 0, 2)
        (0, 5)
        """
        if (recorded, partition) not in self._shift:
            following = self._next.get((live, partition), base)
            self._shift[recorded, partition] = following - base
        sequence = (base + self._shift[recorded, partition]) % _WRAP
        self._next[live, partition] = max(self._next.get((live, partition), 0), sequence + count)
        return sequence


def renew_batches(
    data: bytes,
    partition: TopicPartition,
    identities: Identities,
    sequences: Sequences,
    shift_ms: int = 0,
) -> bytes:
    """Return a record set for the live partition, with other producers, sequences and timestamps.

    Args:
        data: the recorded record set.
        partition: the partition.
        identities: of live producers.
        sequences: of live producers.
        shift_ms: added to all timestamps.

    Raises:
        Malformed: The record set can't be read.
    """
    if len(data) > MAGIC and data[MAGIC] < 2:
        return _older(data, shift_ms) if shift_ms else data
    changed_data: bytearray | None = None
    at = 0
    while at < len(data):
        if len(data) - at < OVERHEAD:
            raise Malformed("records", at, f"{len(data) - at} bytes are not a batch")
        size = 12 + _FRONT.unpack_from(data, at)[1]
        if not OVERHEAD <= size <= len(data) - at:
            raise Malformed("records", at, f"a batch of {size} bytes")
        producer_id, epoch, base, count = _PRODUCER.unpack_from(data, at + PRODUCER)
        changed = producer_id, epoch, base
        if producer_id >= 0:
            live = identities.producer((producer_id, epoch))
            changed = *live, sequences.live((producer_id, epoch), live, partition, base, count)
        if shift_ms or changed != (producer_id, epoch, base):
            changed_data = bytearray(data) if changed_data is None else changed_data
            _PRODUCER.pack_into(changed_data, at + PRODUCER, *changed, count)
            times = _TIMES.unpack_from(data, at + TIMES)
            _TIMES.pack_into(
                changed_data,
                at + TIMES,
                *(time + shift_ms if time >= 0 else time for time in times),
            )
            with memoryview(changed_data) as view:
                crc = crc32c.crc32c(view[at + CHECKED : at + size])
            _CRC.pack_into(changed_data, at + CRC, crc)
        at += size
    return data if changed_data is None else bytes(changed_data)


def _older(data: bytes, shift_ms: int) -> bytes:
    """Shift the timestamps of messages of magic 1; magic 0 has none."""
    parts = []
    for batch in records.read(data):
        if batch.magic == 0:
            return data
        later = [
            record._replace(timestamp=record.timestamp + shift_ms) for record in batch.records()
        ]
        parts.append(records.build(later, magic=1, compression=batch.compression))
    return b"".join(parts)
