"""The JSON form of a body, which logs print and conditions of rules read.

Names stay in snake_case. Values follow the converters of Apache Kafka's message generator: bytes are standard
base64, a uuid is 22 characters of URL-safe base64. Unknown tagged fields (`_tags`) appear under their number.
"""

from __future__ import annotations

import base64
import hashlib
import uuid
from binascii import b2a_base64
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from barnabas.specs.json_text import number
from barnabas.specs.layout import Layout, Node

Blob = Callable[[bytes], Any]
"""A writer for bytes values: `base64_text` or `elided`."""

MOST: Final = 4096
"""The longest bytes value that `elided` writes in full. Members' metadata and small record batches are
shorter; the text of a longer value would cost more than the rest of the row."""

ELISION: Final = ("bytes", "sha256")
"""The fields of the object that replaces elided bytes."""

_ALIKE: Final = frozenset((str, int, bool, type(None)))
"""Types of most values: JSON has the same value."""


@lru_cache(4096)
def uuid_text(value: uuid.UUID) -> str:
    """Return a uuid as Kafka writes it (Uuid.java).

    >>> uuid_text(uuid.UUID(int=0))
    'AAAAAAAAAAAAAAAAAAAAAA'
    """
    return base64.urlsafe_b64encode(value.bytes)[:22].decode()


def text_uuid(text: str) -> uuid.UUID:
    """Return the uuid that Kafka writes as this text. Raises ValueError.

    >>> text_uuid("AAAAAAAAAAAAAAAAAAAAAQ").int
    1
    """
    raw = base64.urlsafe_b64decode(f"{text}==")
    if len(text) != 22 or len(raw) != 16:
        raise ValueError(f"{text!r} is not a uuid of 22 characters")
    return uuid.UUID(bytes=raw)


def base64_text(value: bytes) -> str:
    """Return bytes as standard base64.

    >>> base64_text(b"abc")
    'YWJj'
    """
    return b2a_base64(value, newline=False).decode()


def elided(value: bytes) -> str | dict[str, Any]:
    """Return short bytes as base64, and longer ones as an object with their length and SHA-256.

    >>> elided(b"abc"), elided(bytes(5000))["bytes"]
    ('YWJj', 5000)
    """
    if len(value) <= MOST:
        return base64_text(value)
    return dict(zip(ELISION, (len(value), hashlib.sha256(value).hexdigest()), strict=True))


BLOBS: Final[Mapping[str, Blob]] = {"elided": elided, "full": base64_text}
"""The writers of bytes values by the names that options use."""


def to_json(value: Any, blob: Blob = base64_text) -> Any:
    """Return a decoded value in JSON form. For bodies, `barnabas.specs.json_forms` is faster.

    >>> to_json({"records": b"abc", "_tags": {7: b""}})
    {'records': 'YWJj', '_tags': {'7': ''}}
    """
    if isinstance(value, dict):
        return {
            str(name): inner if inner.__class__ in _ALIKE else to_json(inner, blob)
            for name, inner in value.items()
        }
    if isinstance(value, list):
        return [item if item.__class__ in _ALIKE else to_json(item, blob) for item in value]
    if isinstance(value, bytes):
        return blob(value)
    if isinstance(value, uuid.UUID):
        return uuid_text(value)
    return number(value) if isinstance(value, float) else value


def from_json(value: Any, node: Node) -> Any:
    """Return the value of a JSON form, as a codec accepts it.

    Values that JSON represents unchanged are returned unchanged; the codec reports values that do not fit.

    Raises:
        ValueError: The text is not base64 or not a uuid.
    """
    match node.kind, value:
        case (("bytes" | "records"), str()):
            return base64.b64decode(value, validate=True)
        case "uuid", str():
            return text_uuid(value)
        case "array", list() | tuple() if node.element is not None:
            return [from_json(item, node.element) for item in value]
        case "struct", dict() if node.struct is not None:
            return body_from_json(value, node.struct)
    return value


def body_from_json(value: dict[str, Any], layout: Layout) -> dict[str, Any]:
    """Return the body of a JSON form, as its codec accepts it. Raises ValueError."""
    body = dict(value)
    for slot in layout.slots:
        if slot.name in body:
            body[slot.name] = from_json(body[slot.name], slot.node)
    return body
