"""Message sets as 0.8 has them: magic 0, no timestamps, compression by a message around messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from barnabas.specs.malformed import Malformed
from barnabas.specs.records import Record, build, read
from barnabas.specs.records.record_set import summary


class Message(NamedTuple):
    """A message without its offset."""

    key: bytes | None
    value: bytes | None


class Read(NamedTuple):
    """What a fetched set holds: (offset, message), and whether its first message is cut off."""

    messages: tuple[tuple[int, Message], ...]
    too_small: bool
    """Not one message is whole: with this limit of bytes nobody will ever read on."""


def write(messages: Iterable[Message], compression: str = "none") -> bytes:
    """A set for Produce; the broker gives offsets, so here they count from 0.

    compression: none, gzip or snappy, and from 0.8.2 lz4. Raises barnabas.specs.codec.Unfit.

    >>> len(write([Message(None, b"v")])), len(write([Message(None, b"v")] * 100, "gzip")) < 300
    (27, True)
    """
    records = [Record(offset, -1, *message) for offset, message in enumerate(messages)]
    return build(records, magic=0, compression=compression) if records else b""


def read_from(data: bytes, position: int) -> Read:
    """The messages of a fetched set from an offset on.

    Brokers begin with the whole compressed message in which the offset lies, so what is before is
    left out; the end of the set may be cut off anywhere. What can't be read, as where a checksum does
    not fit, ends it. Raises Malformed if that is the first message.

    >>> data = write([Message(None, b"a"), Message(None, b"b")])
    >>> read_from(data, 1)
    Read(messages=((1, Message(key=None, value=b'b')),), too_small=False)
    >>> read_from(data[:20], 0)
    Read(messages=(), too_small=True)
    """
    found: list[tuple[int, Message]] = []
    try:
        for batch in read(data):
            if not batch.crc_ok:
                raise Malformed(
                    f"batches[{batch.index}].crc", batch.position + 12, "it does not fit"
                )
            found += [
                (record.offset, Message(record.key, record.value))
                for record in batch
                if record.offset >= position
            ]
    except Malformed:
        if not found:
            raise
    return Read(tuple(found), too_small=bool(data) and not summary(data).batches)
