"""Changes of a record batch's header, with a checksum that fits."""

from __future__ import annotations

import struct
from typing import Final

import crc32c

Field = tuple[int, str]
"""Byte offset in the batch, and format."""

ATTRIBUTES: Final = (21, ">h")
LAST_OFFSET_DELTA: Final = (23, ">i")
BASE_TIMESTAMP: Final = (27, ">q")
MAX_TIMESTAMP: Final = (35, ">q")
COUNT: Final = (57, ">i")
"""Fields of a batch of magic 2 that the checksum covers."""

CRC: Final = 17
CHECKED: Final = 21
"""Byte offsets of the checksum, and of the first byte that it covers."""


def rewritten(data: bytes, field: Field, value: int) -> bytes:
    """Return a batch of magic 2 with another value of a field, and the checksum of the changed bytes."""
    changed = bytearray(data)
    offset, form = field
    struct.pack_into(form, changed, offset, value)
    struct.pack_into(">I", changed, CRC, crc32c.crc32c(bytes(changed[CHECKED:])))
    return bytes(changed)
