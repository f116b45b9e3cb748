"""The JSON form of a body: what logs print and what conditions of rules see.

Names stay in snake_case. Values follow the converters of Apache Kafka's message generator: bytes
are standard base64, a uuid is 22 characters of URL-safe base64. Unknown tagged fields (`_tags`) appear
under their number.
"""

from __future__ import annotations

import base64
import uuid
from typing import Any

from specs.layout import Node


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
    return uuid.UUID(bytes=base64.urlsafe_b64decode(f"{text}=="))


def to_json(value: Any) -> Any:
    """A decoded value with everything that JSON lacks spelled out.

    >>> to_json({"records": b"abc", "_tags": {7: b""}})
    {'records': 'YWJj', '_tags': {'7': ''}}
    """
    match value:
        case dict():
            return {str(name): to_json(inner) for name, inner in value.items()}
        case list():
            return [to_json(item) for item in value]
        case bytes():
            return base64.b64encode(value).decode()
        case uuid.UUID():
            return uuid_text(value)
    return value


def from_json(value: Any, node: Node) -> Any:
    """The value that a JSON form stands for, as a codec takes it. Raises ValueError.

    What is not written otherwise in JSON comes back as it is: the codec says if it does not fit.
    """
    match node.kind, value:
        case (("bytes" | "records"), str()):
            return base64.b64decode(value, validate=True)
        case "uuid", str():
            return uuid_of(value)
        case "array", list() | tuple() if node.element is not None:
            return [from_json(item, node.element) for item in value]
        case "struct", dict() if node.struct is not None:
            nodes = {slot.name: slot.node for slot in node.struct.slots}
            return {
                name: from_json(inner, nodes[name]) if name in nodes else inner
                for name, inner in value.items()
            }
    return value


def uuid_of(text: str) -> uuid.UUID:
    """The uuid that Kafka writes so. Raises ValueError.

    >>> uuid_of("AAAAAAAAAAAAAAAAAAAAAQ") == uuid.UUID(int=1)
    True
    """
    raw = base64.urlsafe_b64decode(text + "==")
    if len(text) != 22 or len(raw) != 16:
        raise ValueError(f"{text!r} is no uuid of 22 characters")
    return uuid.UUID(bytes=raw)
