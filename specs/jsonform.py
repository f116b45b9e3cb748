"""The JSON form of a body: what logs print and what conditions of rules see.

Names stay in snake_case. Values follow the converters of Apache Kafka's message generator: bytes
are standard base64, a uuid is 22 characters of URL-safe base64. Unknown tagged fields (`_tags`) appear
under their number.
"""

from __future__ import annotations

import base64
import uuid
from typing import Any


def uuid_text(value: uuid.UUID) -> str:
    """A uuid as Kafka writes it (Uuid.java).

    >>> uuid_text(uuid.UUID(int=0))
    'AAAAAAAAAAAAAAAAAAAAAA'
    """
    return base64.urlsafe_b64encode(value.bytes)[:22].decode()


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
