"""A request as the answers see it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

UNKNOWN_TOPIC_OR_PARTITION: Final = 3
UNKNOWN_TOPIC_ID: Final = 100


class Ask(NamedTuple):
    """A decoded request. What an answer says may have more fields than its version has."""

    version: int
    client_id: str
    body: Mapping[str, Any]


def named(topic: Mapping[str, Any], name: str = "name") -> dict[str, Any]:
    """What names a topic in a request, to be said again in its response."""
    return {key: topic[key] for key in (name, "topic_id") if key in topic}


def which(topic: Mapping[str, Any], name: str = "name") -> str | uuid.UUID:
    """The topic's name, or its id where a version has ids."""
    found: str | uuid.UUID = topic[name] if name in topic else topic["topic_id"]
    return found
