"""Checksums of what comes out of a container that was changed: gzip's, LZ4's and zstd's. Snappy has none.

No part of a container is what they are of: a reader says what comes out. Where that is nothing, they stay.
"""

from __future__ import annotations

import functools
import io
import zlib
from collections.abc import Callable
from typing import Final, NamedTuple

from construct import ConstructError

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.compressed import MOST
from barnabas.specs.containers.gzip import GZIP
from barnabas.specs.containers.lz4 import CONTENT_CHECKSUM, LZ4
from barnabas.specs.containers.zstd import CHECKSUM
from barnabas.specs.malformed import Malformed
from barnabas.specs.records import decompress
from barnabas.specs.records.xxhash import xxh32, xxh64

_WRONG: Final = ("incorrect data check", "incorrect length check")
"""What zlib says of a member whose trailer does not fit."""


class _Read(NamedTuple):
    """What comes out of a container, and the container with checksums that fit that."""

    content: bytes
    fitting: bytes


def summed(
    codec: str, magic: int, before: bytes, data: bytes, dice: SeededRandom
) -> tuple[bytes, str]:
    """A container that was changed, and in words what became of the checksums of its content where the change
    made them wrong: half of the time they are mended. magic: of the batch that it is in."""
    read = _read(codec, magic, data)
    if read is None or read.fitting == data or read.content == _content(codec, magic, before):
        return data, ""
    if dice.below(2):
        return read.fitting, "; content checksum mended"
    return data, "; content checksum left wrong"


def _read(codec: str, magic: int, data: bytes) -> _Read | None:
    """None for what can't be read to its end, or has nothing to mend."""
    fit = _FITS.get(codec)
    try:
        return fit(data, magic) if fit else None
    except (ConstructError, Malformed, zlib.error):
        return None


@functools.lru_cache(maxsize=1024)
def _content(codec: str, magic: int, seed: bytes) -> bytes | None:
    """Seeds are few, and each is changed often."""
    try:
        return decompress(codec, seed, limit=MOST, magic=magic)
    except Malformed:
        return None


def _fit_gzip(data: bytes, magic: int) -> _Read | None:
    if not _wrong_gzip(data):
        return None
    fields = GZIP.parse(data)
    out = []
    for member in fields.members:
        inflating = zlib.decompressobj(wbits=-15)
        content = inflating.decompress(member.deflated, MOST)
        if not inflating.eof:
            raise Malformed("gzip", 0, f"more than {MOST} bytes of output")
        member.crc, member.size = zlib.crc32(content), len(content)
        out.append(content)
    fitting = bytes(GZIP.build(fields))
    # else something stands behind the members
    return _Read(b"".join(out), fitting) if len(fitting) == len(data) else None


def _wrong_gzip(data: bytes) -> bool:
    """Whether the checksum of a member is what is wrong: zlib says that sooner than a declaration is read."""
    try:
        while data:
            inflating = zlib.decompressobj(wbits=31)
            inflating.decompress(data, MOST)
            if not inflating.eof:
                return False
            data = inflating.unused_data
    except zlib.error as problem:
        return str(problem).endswith(_WRONG)
    return False


def _fit_lz4(data: bytes, magic: int) -> _Read | None:
    if not data[4:5] or not data[4] & CONTENT_CHECKSUM:
        return None
    content = decompress("lz4", data, limit=MOST, magic=magic)
    stream = io.BytesIO(data)
    LZ4.parse_stream(stream)
    if stream.tell() < len(data):
        return None
    return _Read(content, data[:-4] + xxh32(content).to_bytes(4, "little"))


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
"""Readers of containers: None where no checksum is, or something stands behind the last."""
