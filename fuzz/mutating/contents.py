"""Checksums of what comes out of a container that was changed: gzip's, LZ4's and zstd's. Snappy has none.

No part of a container is what they are of: a reader says what comes out. Where that is nothing, they stay.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from construct import Construct, ConstructError

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.compressed import MOST
from barnabas.fuzz.frame_map.containers import declared
from barnabas.specs.containers.zstd import CHECKSUM, ZSTD
from barnabas.specs.malformed import Malformed
from barnabas.specs.records import decompress
from barnabas.specs.records.xxhash import xxh32, xxh64


class _Read(NamedTuple):
    """What comes out of a container, and the container with checksums that fit that."""

    content: bytes
    fitting: bytes


def summed(
    codec: str, magic: int, before: bytes, data: bytes, dice: SeededRandom
) -> tuple[bytes, str]:
    """A container that was changed, and in words what became of the checksums of its content where the change
    made them wrong: half of the time they are mended. magic: of the batch that it is in."""
    was, is_ = _read(codec, magic, before), _read(codec, magic, data)
    if was is None or is_ is None or was.content == is_.content or is_.fitting == data:
        return data, ""
    if dice.below(2):
        return is_.fitting, "; content checksum mended"
    return data, "; content checksum left wrong"


def _read(codec: str, magic: int, data: bytes) -> _Read | None:
    """None for what can't be read to its end, or has none."""
    found, fit = declared(codec, magic, data), _FITS.get(codec)
    if found is None or fit is None:
        return None
    _, declaration = found
    try:
        fields = declaration.parse(data)
        if _built(declaration, fields) != data:
            return None
        content = fit(fields, data, magic)
        return _Read(content, _built(declaration, fields))
    except (ConstructError, Malformed, struct.error, zlib.error):
        return None


def _built(declaration: Construct, fields: Any) -> bytes:
    return bytes(declaration.build(fields))


def _fit_gzip(fields: Any, data: bytes, magic: int) -> bytes:
    out = []
    for member in fields.members:
        inflating = zlib.decompressobj(wbits=-15)
        content = inflating.decompress(member.deflated, MOST)
        if not inflating.eof:
            raise Malformed("gzip", 0, f"more than {MOST} bytes of output")
        member.crc, member.size = zlib.crc32(content), len(content)
        out.append(content)
    return b"".join(out)


def _fit_lz4(fields: Any, data: bytes, magic: int) -> bytes:
    content = decompress("lz4", data, limit=MOST, magic=magic)
    if fields.content_checksum is not None:
        fields.content_checksum = xxh32(content)
    return content


def _fit_zstd(fields: Any, data: bytes, magic: int) -> bytes:
    checked = fields.checksum is not None
    fields.descriptor, fields.checksum = fields.descriptor & ~CHECKSUM, None
    content = decompress("zstd", _built(ZSTD, fields), limit=MOST, magic=magic)
    if checked:
        fields.descriptor, fields.checksum = (
            fields.descriptor | CHECKSUM,
            xxh64(content) & 0xFFFFFFFF,
        )
    return content


_FITS: Final[dict[str, Callable[[Any, bytes, int], bytes]]] = {
    "gzip": _fit_gzip,
    "lz4": _fit_lz4,
    "zstd": _fit_zstd,
}
"""What puts the checksums of a container's fields right, and returns its content."""
