"""The depth of a field in a message, by its path: in a batch, a record, compressed data, or other bytes."""

from __future__ import annotations

import functools
import re
from typing import Final

MESSAGE: Final = "message"
"""In no batch: the headers and bodies of messages."""

EMBEDDED: Final = "embedded"
"""In a message inside a field of bytes, whose name is in the path."""

CONTAINERS: Final = ("gzip", "xerial", "snappy", "lz4", "zstd")
"""The formats of compressed data."""

DEPTHS: Final = (
    MESSAGE,
    EMBEDDED,
    "batch",
    *CONTAINERS,
    "record",
    "record header",
    "packed record",
    "packed record header",
)
"""All depths, the shallow ones first."""

_BATCH: Final = re.compile(r"records\[\d*\](?:\.(\w+))?")
_EMBEDDED: Final = re.compile(r"\.[A-Z]")
_HEADER: Final = re.compile(r"\.headers\[\d*\]")


@functools.lru_cache(maxsize=1 << 16)
def depth_of(path: str) -> str:
    """Return the depth of a part's path, or of a field's. Messages in a wrapper are packed records.

    >>> [depth_of(f"responses[].records[].{path}") for path in ("crc", "lz4.flags", "records[].key")]
    ['batch', 'lz4', 'record']
    >>> depth_of("records[0].unpacked.records[3].headers[1].key.length")
    'packed record header'
    >>> depth_of("protocols[0].metadata.ConsumerProtocolSubscription.topics.count")
    'embedded'
    """
    in_batch = _BATCH.search(path)
    if in_batch is None:
        return EMBEDDED if _EMBEDDED.search(path) else MESSAGE
    first = in_batch[1]
    if first in CONTAINERS:
        return first
    if first not in ("records", "unpacked") or path.endswith(".records.count"):
        return "batch" if first != "unpacked" else "packed record"
    inside = "record header" if _HEADER.search(path, in_batch.end()) else "record"
    return inside if first == "records" else f"packed {inside}"


COUNTS: Final = "counts"
"""The class of the numbers of records and of headers: many readers take memory by them."""

CLASSES: Final = (
    COUNTS,
    EMBEDDED,
    "container",
    "batch",
    "record",
    "container",
    "record header",
    "packed record",
    "container",
    "packed record header",
)
"""The classes of fields below the message, in the order of their turns; containers have three."""

_COUNTED: Final = (".records.count", ".headers.count")


def class_of(path: str) -> str:
    """Return the class of a field below the message, whose depth is not MESSAGE.

    >>> class_of("responses[].records[].lz4.flags"), class_of("records[].records[].headers.count")
    ('container', 'counts')
    """
    depth = depth_of(path)
    if depth != EMBEDDED and path.endswith(_COUNTED):
        return COUNTS
    return "container" if depth in CONTAINERS else depth
