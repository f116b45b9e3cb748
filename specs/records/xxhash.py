"""xxHash (the algorithm's description, 0.1.1), the checksum in frames of LZ4 and zstd."""

from __future__ import annotations

import struct
from typing import Final

import cramjam

_P1: Final = 11400714785074694791
_P2: Final = 14029467366897019727
_P3: Final = 1609587929392839161
_P4: Final = 9650029242287828579
_P5: Final = 2870177450012600261
_MASK: Final = (1 << 64) - 1


def xxh32(data: bytes) -> int:
    """Return xxHash32, by LZ4's library: a frame may end with the hash of its content.

    >>> hex(xxh32(b"hello"))
    '0xfb0077f9'
    """
    packing = cramjam.lz4.Compressor(content_checksum=True)
    packing.compress(data)
    return int.from_bytes(bytes(packing.finish())[-4:], "little")


def xxh64(data: bytes) -> int:
    """Return xxHash64; a frame of zstd has its lower half.

    >>> hex(xxh64(b"hello"))
    '0x26c7827d889f6da3'
    """
    whole = len(data) & ~31
    h = _P5
    if whole:
        lanes = [_P1 + _P2, _P2, 0, -_P1]
        for words in struct.iter_unpack("<4Q", data[:whole]):
            lanes = [_round(lane, word) for lane, word in zip(lanes, words, strict=True)]
        h = sum(_rotate(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True))
        for lane in lanes:
            h = (h ^ _round(0, lane)) * _P1 + _P4
    h += len(data)
    rest = data[whole:]
    words_end, half_end = len(rest) & ~7, len(rest) & ~3
    for (word,) in struct.iter_unpack("<Q", rest[:words_end]):
        h = _rotate(h ^ _round(0, word), 27) * _P1 + _P4
    for (word,) in struct.iter_unpack("<I", rest[words_end:half_end]):
        h = _rotate(h ^ word * _P1, 23) * _P2 + _P3
    for byte in rest[half_end:]:
        h = _rotate(h ^ byte * _P5, 11) * _P1
    h &= _MASK
    h = (h ^ h >> 33) * _P2 & _MASK
    h = (h ^ h >> 29) * _P3 & _MASK
    return h ^ h >> 32


def _round(lane: int, word: int) -> int:
    return _rotate(lane + word * _P2, 31) * _P1 & _MASK


def _rotate(value: int, by: int) -> int:
    value &= _MASK
    return (value << by | value >> 64 - by) & _MASK
