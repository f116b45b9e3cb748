"""Splicing of bytes, with the numbers that describe them corrected, or deliberately not.

A change of bytes makes these numbers wrong: the lengths of all structures around them, the counts if elements
came or went, the checksums that cover them, and the size of the frame. What stays wrong on purpose is
reported.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Sequence
from typing import Final

import crc32c

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.cases.tuples import tuple_of
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.frame_map.numbers import WRITE
from barnabas.fuzz.mutators.mutator import Mutated
from barnabas.specs.records.lz4 import header_checksum
from barnabas.specs.records.xxhash import xxh32

LENGTHS: Final = 1
COUNTS: Final = 2
CHECKSUMS: Final = 4
SIZE: Final = 8
ALL: Final = LENGTHS | COUNTS | CHECKSUMS | SIZE

_KINDS: Final = {"length": LENGTHS, "count": COUNTS, "crc": CHECKSUMS}
_WORDS: Final = {LENGTHS: "lengths", COUNTS: "counts", CHECKSUMS: "checksums", SIZE: "frame size"}
_LEFT_ONE_IN: Final = 8
"""One kind of number about a change stays wrong in one of this many cases."""

_SIZE: Final = struct.Struct(">I").pack
CHECKSUM: Final[dict[str, Callable[[bytes], int]]] = {
    "crc32c": crc32c.crc32c,
    "crc32": zlib.crc32,
    "crc16le": zlib.crc32,  # only the lower half is used (RFC 1952)
    "xxh32": header_checksum,
    "xxh32le": xxh32,
}
"""The checksum of each coding: magic 2 has the first, magic 0 and 1 the second, the headers of gzip and LZ4
the next two, blocks of LZ4 the last."""


def replace(
    message: FieldMap, part: Part, new: bytes, dice: SeededRandom, detail: str, elements: int = 0
) -> Mutated:
    """Splice bytes, and now and then leave one kind of number about them as it was.

    Args as `splice` has them. detail: a description of the change.
    """
    mend = ALL
    if not dice.below(_LEFT_ONE_IN):
        wrong = _wrong(message, part, len(new) != part.end - part.start, elements)
        if wrong:
            following = dice.pick(wrong)
            mend, detail = ALL - following, f"{detail}; {_WORDS[following]} unchanged"
    chunk = splice(message, part, new, elements, mend)
    return tuple_of(Mutated, ((chunk,), detail, "whole"))


def _wrong(message: FieldMap, part: Part, resized: bool, elements: int) -> list[int]:
    """Return the kinds of numbers that a change makes wrong."""
    kinds = {_KINDS[message.parts[index].kind] for index in part.around}
    kinds -= {kind for kind, change in ((LENGTHS, resized), (COUNTS, elements)) if not change}
    return sorted(kinds | {SIZE} if resized else kinds)


def replace_number(
    message: FieldMap,
    part: Part,
    dice: SeededRandom,
    new: int,
    otherwise: int,
    description: str = "",
) -> Mutated:
    """Write another number in the place of one. otherwise: the number to write if it is `new` already."""
    if new == part.value:
        new = otherwise
    detail = f"{description}{new} instead of {part.value}"
    return replace(message, part, WRITE[part.coding](new), dice, detail)


def splice(message: FieldMap, part: Part, new: bytes, elements: int = 0, mend: int = ALL) -> bytes:
    """Return a frame, size in front, with other bytes in frame[part.start:part.end].

    part: its `start`, `end` and `around` count. elements: how many elements came (or, below zero, went) in
    what the innermost count of `around` counts. mend: which of the numbers about the bytes are corrected.

    >>> from barnabas.fuzz.cases.case import Seed
    >>> from barnabas.fuzz.frame_map.fields import map_of
    >>> found = map_of(Seed(3, 1, "request", bytes.fromhex("0003 0001 00000007 0001 61 ffffffff"), ""))
    >>> splice(found, found.parts[found.index["header.client_id"]], b"abc").hex(" ", -4)
    '00000011 00030001 00000007 00036162 63ffffff ff'
    """
    framed, around = message.framed, part.around
    start, end = part.start + 4, part.end + 4  # offsets in `framed` include the size
    grown = len(new) - (end - start)
    if not grown and not elements and message.sums.isdisjoint(around):
        return framed[:start] + new + framed[end:]
    after = [framed[end:], new]  # everything after `start`, the last first
    parts = message.parts
    trailers: list[Part] = []
    for index in around:
        _, kind, first, last, _, _, _, coding, value, until, _ = parts[index]
        if kind == "crc":
            if not mend & CHECKSUMS:
                continue
            if until == first:
                trailers.append(parts[index])
                continue
            after.append(framed[last + 4 : start])
            covered = b"".join(reversed(after))
            after = [covered]
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
            after.append(framed[last + 4 : start])
        after.append(text)
        start = first + 4
    size = len(framed) - 4
    after.append(framed[4:start])
    after.append(_SIZE(size + grown if mend & SIZE else size))
    after.reverse()
    whole = b"".join(after)
    return _summed_up(whole, trailers, len(whole) - len(framed)) if trailers else whole


def _summed_up(framed: bytes, sums: Sequence[Part], grown: int) -> bytes:
    """Correct checksums that stand after what they cover, which has grown."""
    data = bytearray(framed)
    for part in sums:
        at = part.start + grown + 4
        text = WRITE[part.coding](CHECKSUM[part.coding](bytes(data[part.since + 4 : at])))
        data[at : at + len(text)] = text
    return bytes(data)
