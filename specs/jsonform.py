"""The JSON form of a body: what logs print and what conditions of rules see.

Names stay in snake_case. Values follow the converters of Apache Kafka's message generator: bytes
are standard base64, a uuid is 22 characters of URL-safe base64. Unknown tagged fields (`_tags`) appear
under their number.
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
"""How bytes are written: `base64_text` or `elided`."""

MOST: Final = 4096
"""Bytes that are written whole where large ones are elided. What a group's members say of themselves and
small batches of records are shorter; of what is longer, the text would cost more than all else in a row."""

ELISION: Final = ("bytes", "sha256")
"""The fields of what stands in the place of bytes that are elided."""

_ALIKE: Final = frozenset((str, int, bool, type(None)))
"""Most values: JSON has them as they are."""


@lru_cache(4096)
def uuid_text(value: uuid.UUID) -> str:
    """A uuid as Kafka writes it (Uuid.java).

    >>> uuid_text(uuid.UUID(int=0))
    'AAAAAAAAAAAAAAAAAAAAAA'
    """
    return base64.urlsafe_b64encode(value.bytes)[:22].decode()


def text_uuid(text: str) -> uuid.UUID:
    """The uuid that Kafka writes so. Raises ValueError if it is none.

    >>> text_uuid("AAAAAAAAAAAAAAAAAAAAAQ").int
    1
    """
    raw = base64.urlsafe_b64decode(f"{text}==")
    if len(text) != 22 or len(raw) != 16:
        raise ValueError(f"{text!r} is no uuid of 22 characters")
    return uuid.UUID(bytes=raw)


def base64_text(value: bytes) -> str:
    """Bytes as standard base64.

    >>> base64_text(b"abc")
    'YWJj'
    """
    return b2a_base64(value, newline=False).decode()


def elided(value: bytes) -> str | dict[str, Any]:
    """Bytes as base64, if they are few; else an object with their number and SHA-256, which no value that is
    written whole is.

    >>> elided(b"abc"), elided(bytes(5000))["bytes"]
    ('YWJj', 5000)
    """
    if len(value) <= MOST:
        return base64_text(value)
    return dict(zip(ELISION, (len(value), hashlib.sha256(value).hexdigest()), strict=True))


BLOBS: Final[Mapping[str, Blob]] = {"elided": elided, "full": base64_text}
"""By the words for it of commands and options."""


def to_json(value: Any, blob: Blob = base64_text) -> Any:
    """A decoded value with everything that JSON lacks spelled out. `barnabas.specs.json_forms` makes the same
    of bodies, and faster.

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
    """The value that a JSON form stands for, as a codec takes it. Raises ValueError.

    What is not written otherwise in JSON comes back as it is: the codec says if it does not fit.
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
    """The body that a JSON form stands for, as its codec takes it. Raises ValueError."""
    found = dict(value)
    for slot in layout.slots:
        if slot.name in found:
            found[slot.name] = from_json(found[slot.name], slot.node)
    return found
