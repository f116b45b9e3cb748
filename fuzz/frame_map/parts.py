"""One field of a frame, and the list that a map is while it is made."""

from __future__ import annotations

from typing import NamedTuple

from barnabas.fuzz.cases.tuples import tuple_of


class Part(NamedTuple):
    """One field, or one of the numbers that say how long something is or how many there are.

    path: dotted with indices, "header.client_id", "topics[0].partitions[1].records[0].crc"; "" is the
    frame as a whole. A length or count has the path of what it speaks of and ".length" or ".count".
    kind: what it is. Fields: "int8" .. "int64", "uint16", "uint32", "bool", "float64", "uuid",
    "uvarint", "varint", "varlong", "string", "bytes", "records", "array", "struct", "tags" (a section),
    "tag" (number, size and data of one), "batch", "record", "header" (of a record), "packed" (what is
    compressed), "container" (the same in a map of its own), "frame". Numbers about others: "length",
    "count", "crc", "marker" (of a structure that may be null). start, end: its bytes in the frame, without
    a length in front.
    around: indices of the parts that say how long or how many what this stands in is, or that are a
    checksum of it, innermost first; each stands before the one that it is in front of in this tuple.
    coding: how a number is written (barnabas.fuzz.frame_map.numbers). value: that number; of what has a
    length or a count: that, or -1 for null. until: of a checksum, where what it is of ends; that begins
    behind it. since: of a checksum that stands behind what it is of, where that begins (`until` is where it
    stands itself then); it is the first in `around`.
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
        self.found: list[Part] = []

    def add(self, part: Part) -> int:
        """Add a part; returns its index."""
        self.found.append(part)
        return len(self.found) - 1

    def ends(self, index: int, end: int) -> None:
        """Set the end of a part that was added when it began."""
        path, kind, start, _, *others = self.found[index]
        self.found[index] = tuple_of(Part, (path, kind, start, end, *others))

    def sums_up(self, index: int, first: int) -> None:
        """Have a checksum cover all parts before it, from the one of index `first` on."""
        found = self.found
        checksum = found[index]
        found[index] = checksum._replace(until=checksum.start, since=found[first].start)
        for at in range(first, index):
            found[at] = found[at]._replace(around=(index, *found[at].around))
