"""A partition's log without its file: the offsets of messages, and their positions in the file.

    log = Log()
    data, _ = stamped(message_set, log.end)     # the bytes to write
    log.add(data)
    log.place(offset, most)                 # (position, size) in the file

Messages are those of 0.8, of magic 0. A compressed message counts as one, with its last message's offset, as
in brokers of 0.8.
"""

from __future__ import annotations

import struct
import zlib
from array import array
from bisect import bisect_left
from dataclasses import replace
from typing import Final

from barnabas.specs.malformed import Malformed
from barnabas.specs.records import build, read, summary
from barnabas.specs.records.message_set import OVERHEAD

_ENTRY: Final = struct.Struct(">qi")
"""Offset and size of a message; the size counts the bytes after it."""

_HEAD: Final = struct.Struct(">qiIBB")
"""Offset and size of a message, the checksum of the rest, magic and attributes."""

_SUMMED: Final = _ENTRY.size + 4
"""The first byte of the checksummed part."""

OUTPUT_LIMIT: Final = 16 << 20
"""Bytes that the compressed messages of a request may hold."""


MESSAGE_LIMIT: Final = 1_000_000
"""Bytes of a message: message.max.bytes of 0.8."""


class OutOfRange(LookupError):
    """The log has no such offset."""


class TooLarge(ValueError):
    """A message has more bytes than MESSAGE_LIMIT."""


class Log:
    """The positions of messages in a file, with 16 bytes of memory for each.

    >>> from barnabas.specs.records import Record
    >>> log = Log()
    >>> data, _ = stamped(build([Record(7, -1, None, b"a"), Record(8, -1, None, b"b")], magic=0), log.end)
    >>> log.add(data + data[:20]), log.end, log.size
    (54, 2, 54)
    >>> log.place(1, 1000), log.place(1, 20), log.place(2, 1000)
    ((27, 27), (27, 20), (54, 0))
    """

    def __init__(self) -> None:
        self.end = 0
        """The offset of the next message; the first one is 0."""
        self.size = 0
        """Bytes."""
        self._last = array("q")
        """The offset of each message, or of its last one if it is compressed."""
        self._positions = array("q")

    def add(self, data: bytes) -> int:
        """Add bytes at the end of the file; return how many of them are whole, valid messages.

        Their offsets must follow the log's end, and their checksums must be right.
        """
        at, view = 0, memoryview(data)
        while len(data) - at >= OVERHEAD[0]:
            offset, size, crc, _, attributes = _HEAD.unpack_from(data, at)
            end = at + _ENTRY.size + size
            if (
                end < at + OVERHEAD[0]
                or len(data) < end
                or zlib.crc32(view[at + _SUMMED : end]) != crc
            ):
                break
            most = OUTPUT_LIMIT if attributes & 7 else 1  # compressed
            if not self.end <= offset < self.end + most:  # the checksum is not of this
                break
            self._last.append(offset)
            self._positions.append(self.size)
            self.end = offset + 1
            self.size += end - at
            at = end
        return at

    def torn(self, rest: bytes) -> bool:
        """Return whether the bytes after the last message are the beginning of the next one.

        That is an unfinished write, which was not acknowledged. Anything else is damage.
        """
        if len(rest) < _ENTRY.size:
            return True
        offset, size = _ENTRY.unpack_from(rest)
        whole: int = _ENTRY.size + size
        return bool(
            self.end <= offset < self.end + OUTPUT_LIMIT and len(rest) < whole <= MESSAGE_LIMIT
        )

    def place(self, offset: int, most: int) -> tuple[int, int]:
        """Return the position and the number of bytes to read from an offset on.

        The last message may be cut off, as in 0.8. Raises OutOfRange.
        """
        if not 0 <= offset <= self.end:
            raise OutOfRange(f"offset {offset} of a log from 0 to {self.end}")
        at = bisect_left(self._last, offset)
        position = self._positions[at] if at < len(self._last) else self.size
        return position, max(0, min(most, self.size - position))


def stamped(data: bytes, offset: int, limit: int = OUTPUT_LIMIT) -> tuple[bytes, int]:
    """Return a produced set with offsets from this one on, and the number of decompressed bytes.

    limit: of decompressed bytes. Raises Malformed if the data are no such set, and TooLarge.
    """
    outline = summary(data)
    if outline.trailing:
        raise Malformed("records", len(data) - outline.trailing, "a message is cut off")
    parts, output = [], 0
    for batch in read(data):
        if batch.magic:
            raise Malformed("magic", batch.position + 16, f"magic 0, not {batch.magic}")
        if batch.size > MESSAGE_LIMIT:
            raise TooLarge(f"a message of {batch.size} bytes")
        if not batch.crc_ok:
            raise Malformed("crc", batch.position + 12, "it does not fit")
        if batch.compression == "none":
            whole = data[batch.position + 8 : batch.position + batch.size]
            parts.append(offset.to_bytes(8) + whole)
            offset += 1
            continue
        inner = replace(batch, max_output=limit - output)
        records = [record._replace(offset=offset + i) for i, record in enumerate(inner)]
        output += sum(
            OVERHEAD[0] + len(record.key or b"") + len(record.value or b"") for record in records
        )
        if records:
            parts.append(build(records, magic=0, compression=batch.compression))
            if len(parts[-1]) > MESSAGE_LIMIT:
                raise TooLarge(f"a message of {len(parts[-1])} bytes, as it is compressed here")
        offset += len(records)
    return b"".join(parts), output
