"""A request as the response functions see it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

UNKNOWN_TOPIC_OR_PARTITION: Final = 3
UNKNOWN_TOPIC_ID: Final = 100


class Request(NamedTuple):
    """A decoded request. A response may have more fields than its version."""

    version: int
    client_id: str
    body: Mapping[str, Any]


def topic_reference(topic: Mapping[str, Any]) -> dict[str, Any]:
    """Return the topic's name or id in a request, for its response."""
    return {key: topic[key] for key in ("name", "topic_id") if key in topic}


def topic_key(topic: Mapping[str, Any], name: str = "name") -> str | uuid.UUID:
    """Return the topic's name, or its id in a version with ids."""
    name_or_id: str | uuid.UUID = topic[name] if name in topic else topic["topic_id"]
    return name_or_id
