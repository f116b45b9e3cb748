"""Record batches for the live cluster: another producer, other sequences, other times, checksums anew.

Layout: DefaultRecordBatch of Apache Kafka. Records stay as they are, and packed: times in them are
relative to the batch's.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import Final

import crc32c

from barnabas.peers.replay.identities import Identities, Producer
from barnabas.peers.replay.offsets import Place
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
"""Where the bytes begin that the checksum is about: it follows the leader epoch and the magic."""
TIMES: Final = 27
PRODUCER: Final = 43
OVERHEAD: Final = 61
_WRAP: Final = 1 << 31
"""Behind the last sequence comes 0."""


@dataclass(slots=True)
class Sequences:
    """The sequence that a live partition expects next of a producer.

    Recorded sequences hold as they are, unless two recorded epochs are one live epoch: a live cluster
    without KIP-890 does not begin a new epoch with each transaction.
    """

    _next: dict[tuple[Producer, Place], int] = field(default_factory=dict)
    _shift: dict[tuple[Producer, Place], int] = field(default_factory=dict)

    def live(self, recorded: Producer, live: Producer, place: Place, base: int, count: int) -> int:
        """The base sequence of a batch of so many records.

        >>> sequences, place = Sequences(), ("t", 0)
        >>> sequences.live((1000, 0), (7, 0), place, 0, 5), sequences.live((1000, 1), (7, 0), place, 0, 2)
        (0, 5)
        """
        if (recorded, place) not in self._shift:
            following = self._next.get((live, place), base)
            self._shift[recorded, place] = following - base
        found = (base + self._shift[recorded, place]) % _WRAP
        self._next[live, place] = max(self._next.get((live, place), 0), found + count)
        return found


def renewed(
    data: bytes,
    place: Place,
    identities: Identities,
    sequences: Sequences,
    shift_ms: int = 0,
) -> bytes:
    """A record set for the live partition. shift_ms: added to all timestamps. Raises Malformed."""
    if len(data) > MAGIC and data[MAGIC] < 2:
        return _older(data, shift_ms) if shift_ms else data
    found: bytearray | None = None
    at = 0
    while at < len(data):
        if len(data) - at < OVERHEAD:
            raise Malformed("records", at, f"{len(data) - at} bytes are no batch")
        size = 12 + _FRONT.unpack_from(data, at)[1]
        if not OVERHEAD <= size <= len(data) - at:
            raise Malformed("records", at, f"a batch of {size} bytes")
        producer_id, epoch, base, count = _PRODUCER.unpack_from(data, at + PRODUCER)
        changed = producer_id, epoch, base
        if producer_id >= 0:
            live = identities.producer((producer_id, epoch))
            changed = *live, sequences.live((producer_id, epoch), live, place, base, count)
        if shift_ms or changed != (producer_id, epoch, base):
            found = bytearray(data) if found is None else found
            _PRODUCER.pack_into(found, at + PRODUCER, *changed, count)
            times = _TIMES.unpack_from(data, at + TIMES)
            _TIMES.pack_into(
                found, at + TIMES, *(time + shift_ms if time >= 0 else time for time in times)
            )
            with memoryview(found) as view:
                crc = crc32c.crc32c(view[at + CHECKED : at + size])
            _CRC.pack_into(found, at + CRC, crc)
        at += size
    return data if found is None else bytes(found)


def _older(data: bytes, shift_ms: int) -> bytes:
    """Messages of magic 0 and 1 have their times in each of them, and 0 has none."""
    parts = []
    for batch in records.read(data):
        if batch.magic == 0:
            return data
        later = [one._replace(timestamp=one.timestamp + shift_ms) for one in batch.records()]
        parts.append(records.build(later, magic=1, compression=batch.compression))
    return b"".join(parts)
