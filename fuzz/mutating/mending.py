"""Other bytes in the place of some, and what is said about them put right, or deliberately not.

A change of bytes makes wrong: the lengths of all that they stand in, the counts if elements came or went,
the checksums that cover them, and the size of the frame. What is left wrong on purpose is said.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Sequence
from typing import Final

import crc32c

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.frame_map.numbers import WRITE
from barnabas.specs.records.lz4 import header_checksum
from barnabas.specs.records.xxhash import xxh32

LENGTHS: Final = 1
COUNTS: Final = 2
CHECKSUMS: Final = 4
SIZE: Final = 8
ALL: Final = LENGTHS | COUNTS | CHECKSUMS | SIZE

_KINDS: Final = {"length": LENGTHS, "count": COUNTS, "crc": CHECKSUMS}
_WORDS: Final = {LENGTHS: "lengths", COUNTS: "counts", CHECKSUMS: "checksums", SIZE: "frame size"}
_ONES: Final = tuple(tuple(one for one in _WORDS if wrong & one) for wrong in range(ALL + 1))
"""What each sum of them is of."""
LEFT_ONE_IN: Final = 8
"""How rarely something around a change is left as it was, if it is a draw that decides."""

_SIZE: Final = struct.Struct(">I").pack
CHECKSUM: Final[dict[str, Callable[[bytes], int]]] = {
    "crc32c": crc32c.crc32c,
    "crc32": zlib.crc32,
    "crc16le": zlib.crc32,  # of which the lower half is kept (RFC 1952)
    "xxh32": header_checksum,
    "xxh32le": xxh32,
}
"""What a checksum is computed with, by its coding: magic 2 has the first, magic 0 and 1 the second, the
headers of gzip and LZ4 the next two, blocks of LZ4 the last."""


def splice(
    fieldmap: FieldMap,
    start: int,
    end: int,
    new: bytes,
    around: Sequence[int] = (),
    *,
    elements: int = 0,
    mend: int = ALL,
) -> bytes:
    """The frame, size in front, with other bytes in frame[start:end].

    around: as in a part that stands there. elements: how many came (or, below zero, went) in what the
    innermost count of `around` counts. mend: which of the numbers around it are put right.

    >>> from barnabas.fuzz.cases.case import Seed
    >>> from barnabas.fuzz.frame_map.fields import map_of
    >>> found = map_of(Seed(3, 1, "request", bytes.fromhex("0003 0001 00000007 0001 61 ffffffff"), ""))
    >>> client = found.parts[found.index["header.client_id"]]
    >>> splice(found, client.start, client.end, b"abc", client.around).hex(" ", -4)
    '00000011 00030001 00000007 00036162 63ffffff ff'
    """
    framed = fieldmap.framed
    start += 4  # in `framed` all stands behind the size
    end += 4
    grown = len(new) - (end - start)
    if not grown and not elements and fieldmap.sums.isdisjoint(around):
        return framed[:start] + new + framed[end:]
    behind = [framed[end:], new]  # all behind `start`, the last first
    parts = fieldmap.parts
    further: list[Part] = []
    for index in around:
        _, kind, first, last, _, _, _, coding, value, until, _ = parts[index]
        if kind == "crc":
            if not mend & CHECKSUMS:
                continue
            if until == first:
                further.append(parts[index])
                continue
            behind.append(framed[last + 4 : start])
            covered = b"".join(reversed(behind))
            behind = [covered]
            text = _SIZE(CHECKSUM[coding](covered[: until + 4 - len(framed) or None]))
        else:
            if kind == "count":
                if not elements:
                    continue
                value += elements
                elements = 0
                if not mend & COUNTS:
                    continue
            elif not grown or not mend & LENGTHS:
                continue
            else:
                value += grown
            text = WRITE[coding](value)
            grown += len(text) - (last - first)
            behind.append(framed[last + 4 : start])
        behind.append(text)
        start = first + 4
    size = len(framed) - 4
    behind.append(framed[4:start])
    behind.append(_SIZE(size + grown if mend & SIZE else size))
    behind.reverse()
    whole = b"".join(behind)
    return _summed_up(whole, further, len(whole) - len(framed)) if further else whole


def _summed_up(framed: bytes, sums: Sequence[Part], grown: int) -> bytes:
    """The frame with checksums put right that stand behind what they are of, which has grown."""
    data = bytearray(framed)
    for part in sums:
        at = part.start + grown + 4
        text = WRITE[part.coding](CHECKSUM[part.coding](bytes(data[part.since + 4 : at])))
        data[at : at + len(text)] = text
    return bytes(data)


def leave(
    fieldmap: FieldMap, around: Sequence[int], grown: int, elements: int, dice: SeededRandom
) -> tuple[int, str]:
    """What to mend and, in words, what not: one thing of those that the change makes wrong, if it does."""
    wrong = SIZE if grown else 0
    for index in around:
        wrong |= _KINDS[fieldmap.parts[index].kind]
    if not grown:
        wrong &= ~LENGTHS
    if not elements:
        wrong &= ~COUNTS
    if not wrong:
        return ALL, ""
    one = dice.pick(_ONES[wrong])
    return ALL - one, f"; {_WORDS[one]} unchanged"
