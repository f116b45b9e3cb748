"""A part of a frame, and the list of parts while a map is made."""

from __future__ import annotations

from typing import NamedTuple

from barnabas.fuzz.cases.tuples import tuple_of


class Part(NamedTuple):
    """A field, or a number that describes others: a length, a count, a checksum.

    Attributes:
        path: Dotted with indices, "header.client_id", "topics[0].partitions[1].records[0].crc"; "" is the
            whole frame. A length or count has the path of the field and ".length" or ".count".
        kind: Fields: "int8" .. "int64", "uint16", "uint32", "bool", "float64", "uuid", "uvarint", "varint",
            "varlong", "string", "bytes", "records", "array", "struct", "tags" (a section), "tag" (number,
            size and data of one), "batch", "record", "header" (of a record), "packed" (compressed bytes),
            "container" (these in their own map), "frame". Numbers about others: "length", "count", "crc",
            "marker" (of a structure that may be null).
        start: The first byte in the frame, without a length before the field.
        end: The end in the frame.
        nullable: The field may be null.
        compact: The length or count is a compact one.
        around: Indices of the lengths, counts and checksums of the structures around this part, innermost
            first.
        coding: How a number is written (barnabas.fuzz.frame_map.numbers).
        value: The number; for a field with a length or a count, that, or -1 for null.
        until: For a checksum, the end of what it covers, which begins after it.
        since: For a checksum after what it covers, the beginning of that (`until` is then the checksum's own
            start); the checksum is the first in `around` of these parts.
    """

    path: str
    kind: str
    start: int
    end: int
    nullable: bool = False
    compact: bool = False
    around: tuple[int, ...] = ()
    coding: str = ""
    value: int = 0
    until: int = 0
    since: int = 0


class Parts:
    """The parts of a map while it is made, in wire order; a part may be added before its end is known."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.items: list[Part] = []

    def add(self, part: Part) -> int:
        """Add a part; return its index."""
        self.items.append(part)
        return len(self.items) - 1

    def ends(self, index: int, end: int) -> None:
        """Set the end of a part that was added at its beginning."""
        path, kind, start, _, *others = self.items[index]
        self.items[index] = tuple_of(Part, (path, kind, start, end, *others))

    def sums_up(self, index: int, first: int) -> None:
        """Make a checksum cover all parts before it, from the one of index `first` on."""
        items = self.items
        checksum = items[index]
        items[index] = checksum._replace(until=checksum.start, since=items[first].start)
        for at in range(first, index):
            items[at] = items[at]._replace(around=(index, *items[at].around))
