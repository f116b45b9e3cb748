"""Repacking: changed content of a container put back, with lengths and checksums around it corrected.

gzip, LZ4 and zstd also have checksums of the content. These are computed by a reader of the container; where
there is none, the checksums stay as they are.
"""

from __future__ import annotations

import functools
import struct
import zlib
from collections.abc import Callable
from typing import Final, NamedTuple

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.cases.tuples import tuple_of
from barnabas.fuzz.frame_map.compressed import MOST
from barnabas.fuzz.frame_map.fields import FieldMap, Packing
from barnabas.fuzz.frame_map.parts import Part
from barnabas.fuzz.mutators.mutator import Mutated
from barnabas.fuzz.mutators.splicing import replace
from barnabas.specs.containers import gzip, xerial
from barnabas.specs.containers.lz4 import CONTENT_CHECKSUM
from barnabas.specs.containers.zstd import CHECKSUM
from barnabas.specs.malformed import Malformed
from barnabas.specs.records import compress, decompress, raw_snappy
from barnabas.specs.records.xxhash import xxh32, xxh64

_TRAILER: Final = struct.Struct("<II")
"""At the end of a member of gzip: the checksum of its content, and its size."""

_MEMBER: Final = b"\x1f\x8b\x08"
_RESERVED: Final = 0xE0
"""The beginning of a member of gzip, and the flags that it may not have (RFC 1952)."""


def repack(message: FieldMap, made: Mutated, dice: SeededRandom) -> Mutated:
    """Return the message around a container whose bytes or content were changed.

    The checksums of the content are corrected or not; sometimes, so are the numbers around the container.
    """
    packing = message.packing
    if packing is None:
        return made
    outer, part, codec, magic = packing
    new, detail = made.chunks[0][4:], made.detail  # without the frame's size
    if codec == "none":
        name = message.parts[0].path.rpartition(".")[2]
        new, more = _summed(name, magic, message.seed.frame, new, dice)
        detail += more
    else:
        count = b""
        if magic == 2:
            count, new = new[:4], new[4:]
            path, kind, _, end, nullable, compact, around, *others = part
            start = outer.parts[around[0]].start
            part = tuple_of(Part, (path, kind, start, end, nullable, compact, around[1:], *others))
        new, detail = count + _compressed(packing, new), f"{detail}, packed by {codec}"
    return repack(outer, replace(outer, part, new, dice, detail), dice)


def _compressed(packing: Packing, data: bytes) -> bytes:
    """Compress data in the framing that it had; snappy has two."""
    outer, part, codec, magic = packing
    if codec == "snappy" and not outer.seed.frame.startswith(xerial.MAGIC, part.start):
        return raw_snappy(data)
    return compress(codec, data, magic=magic)


class _Read(NamedTuple):
    """The content of a container, and the container with checksums that fit the content."""

    content: bytes
    fitting: bytes


def _summed(
    codec: str, magic: int, before: bytes, data: bytes, dice: SeededRandom
) -> tuple[bytes, str]:
    """Correct the checksums of a container's content in half of the cases in which a change made them wrong.

    Returns the container, and a description of the checksums. magic: of the batch around it.
    """
    read = _read(codec, magic, data)
    if read is None or read.fitting == data or read.content == _content(codec, magic, before):
        return data, ""
    if dice.below(2):
        return read.fitting, "; content checksum mended"
    return data, "; content checksum left wrong"


def _read(codec: str, magic: int, data: bytes) -> _Read | None:
    """Read a container to its end; None if that is impossible, or its content has no checksum."""
    fit = _FITS.get(codec)
    try:
        return fit(data, magic) if fit else None
    except (Malformed, zlib.error, IndexError, ValueError):
        return None


@functools.lru_cache(maxsize=1024)
def _content(codec: str, magic: int, seed: bytes) -> bytes | None:
    """Return the content of a seed's container; cached, since seeds are few and changed often."""
    try:
        return decompress(codec, seed, limit=MOST, magic=magic)
    except Malformed:
        return None


def _fit_gzip(data: bytes, magic: int) -> _Read | None:
    fitting, contents, at = bytearray(data), [], 0
    while at < len(data):
        start = _deflated_at(data, at)
        if data[at : at + 3] != _MEMBER or data[at + 3] & _RESERVED:
            return None
        if data[at + 3] & gzip.HEADER_CRC:
            zlib.decompressobj(wbits=31).decompress(
                data[at:start]
            )  # it raises if a header is wrong
        inflating = zlib.decompressobj(wbits=-15)
        content = inflating.decompress(data[start:], MOST)
        end = len(data) - len(inflating.unused_data)
        if not inflating.eof or end + _TRAILER.size > len(data):
            return None
        _TRAILER.pack_into(fitting, end, zlib.crc32(content), len(content))
        contents.append(content)
        at = end + _TRAILER.size
    return _Read(b"".join(contents), bytes(fitting))


def _deflated_at(data: bytes, at: int) -> int:
    """Return the end of the header of a gzip member (RFC 1952). Raises IndexError, ValueError."""
    flags = data[at + 3]
    at += 10
    if flags & gzip.EXTRA:
        at += 2 + int.from_bytes(data[at : at + 2], "little")
    for text in (gzip.NAME, gzip.COMMENT):
        if flags & text:
            at = data.index(0, at) + 1
    return at + 2 if flags & gzip.HEADER_CRC else at


def _fit_lz4(data: bytes, magic: int) -> _Read | None:
    if not data[4:5] or not data[4] & CONTENT_CHECKSUM:
        return None
    content = decompress("lz4", data, limit=MOST, magic=magic)
    try:  # if the frame is whole without its last end mark and checksum, other bytes follow it
        decompress("lz4", data[:-8], limit=MOST, magic=magic)
    except Malformed:
        return _Read(content, data[:-4] + xxh32(content).to_bytes(4, "little"))
    return None


def _fit_zstd(data: bytes, magic: int) -> _Read | None:
    if not data[4:5] or not data[4] & CHECKSUM:
        return None
    bare = data[:4] + bytes((data[4] & ~CHECKSUM,)) + data[5:-4]
    content = decompress("zstd", bare, limit=MOST, magic=magic)
    return _Read(content, data[:-4] + (xxh64(content) & 0xFFFFFFFF).to_bytes(4, "little"))


_FITS: Final[dict[str, Callable[[bytes, int], _Read | None]]] = {
    "gzip": _fit_gzip,
    "lz4": _fit_lz4,
    "zstd": _fit_zstd,
}
"""Readers of containers: None where there is no checksum, or where something stands after it."""
