"""Message sets of 0.8: magic 0, no timestamps, compression by a message around messages."""

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


class ParsedSet(NamedTuple):
    """The content of a fetched set: pairs of offset and message."""

    messages: tuple[tuple[int, Message], ...]
    too_small: bool
    """Not one message is whole: a consumer with this limit of bytes never gets further."""


def write(messages: Iterable[Message], compression: str = "none") -> bytes:
    """Encode a set for Produce. Offsets count from 0; the broker assigns others.

    compression: none, gzip or snappy, and from 0.8.2 lz4. Raises barnabas.specs.codec.Unfit.

    >>> len(write([Message(None, b"v")])), len(write([Message(None, b"v")] * 100, "gzip")) < 300
    (27, True)
    """
    records = [Record(offset, -1, *message) for offset, message in enumerate(messages)]
    return build(records, magic=0, compression=compression) if records else b""


def read_from(data: bytes, position: int) -> ParsedSet:
    """Decode the messages of a fetched set from an offset on.

    Brokers begin with the whole compressed message that contains the offset; `read_from` leaves out the
    messages before the offset. The set's end may be cut off anywhere. An unreadable message, e.g. with
    a wrong checksum, ends the set. Raises Malformed if that is the first message.

    >>> data = write([Message(None, b"a"), Message(None, b"b")])
    >>> read_from(data, 1)
    ParsedSet(messages=((1, Message(key=None, value=b'b')),), too_small=False)
    >>> read_from(data[:20], 0)
    ParsedSet(messages=(), too_small=True)
    """
    messages: list[tuple[int, Message]] = []
    try:
        for batch in read(data):
            if not batch.crc_ok:
                crc = f"batches[{batch.index}].crc"
                raise Malformed(crc, batch.position + 12, "it does not fit")
            messages += [
                (record.offset, Message(record.key, record.value))
                for record in batch
                if record.offset >= position
            ]
    except Malformed:
        if not messages:
            raise
    return ParsedSet(tuple(messages), too_small=bool(data) and not summary(data).batches)
