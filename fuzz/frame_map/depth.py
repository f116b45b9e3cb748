"""The depth of a field in a message, by its path: in a batch, a record, or compressed data."""

from __future__ import annotations

import functools
import re
from typing import Final

MESSAGE: Final = "message"
"""In no batch: the headers and bodies of messages."""

CONTAINERS: Final = ("gzip", "xerial", "snappy", "lz4", "zstd")
"""The formats of compressed data."""

DEPTHS: Final = (
    MESSAGE,
    "batch",
    *CONTAINERS,
    "record",
    "record header",
    "packed record",
    "packed record header",
)
"""All depths, the shallow ones first."""

_BATCH: Final = re.compile(r"records\[\d*\](?:\.(\w+))?")
_HEADER: Final = re.compile(r"\.headers\[\d*\]")


@functools.lru_cache(maxsize=1 << 16)
def depth_of(path: str) -> str:
    """Return the depth of a part's path, or of a field's. Messages in a wrapper are packed records.

    >>> [depth_of(f"responses[].records[].{path}") for path in ("crc", "lz4.flags", "records[].key")]
    ['batch', 'lz4', 'record']
    >>> depth_of("records[0].unpacked.records[3].headers[1].key.length")
    'packed record header'
    """
    in_batch = _BATCH.search(path)
    if in_batch is None:
        return MESSAGE
    first = in_batch[1]
    if first in CONTAINERS:
        return first
    if first not in ("records", "unpacked") or path.endswith(".records.count"):
        return "batch" if first != "unpacked" else "packed record"
    inside = "record header" if _HEADER.search(path, in_batch.end()) else "record"
    return inside if first == "records" else f"packed {inside}"
