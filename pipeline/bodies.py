"""Decoded bodies as JSON text, for a column of the type VARIANT, and back to bytes.

The form is that of `Exchange.row()`, secrets redacted; and where a message has a topic's id alone, the
name stands beside it, as the field that earlier versions have there (null: not known).
"""

from __future__ import annotations

import functools
import json
import math
import uuid
from collections.abc import Mapping
from typing import Any, Final

from captures.context.completing import complete, gaps
from captures.context.pairs import TOPIC, places, structs
from captures.exchange import SASL_TOKEN, Exchange, body_version
from specs.codec import Unfit
from specs.contents import NAMES, api
from specs.frames import Direction
from specs.jsonform import Way, text_uuid, ways_of

DIRECTIONS: Final[tuple[Direction, Direction]] = ("request", "response")

_API_VERSIONS: Final = 18
_NONE: Final = uuid.UUID(int=0)

Names = Mapping[uuid.UUID, str]


def body_text(exchange: Exchange, names: Names | None = None) -> str:
    """`{"request": ..., "response": ...}`; null for what is not there or can't be decoded.

    names: of topics, by id; None: names are left out.

    >>> body_text(Exchange(0, 1, "", None, None, 3, 0, 0, 12, request_body=b"\\0\\0\\0\\1\\0\\1t"))
    '{"request":{"topics":[{"name":"t"}]},"response":null}'
    """
    found = exchange.row(DIRECTIONS)
    if names is not None and exchange.key in NAMES:
        for direction in DIRECTIONS:
            if found[direction] is not None:
                version = _version(exchange, direction)
                complete(found[direction], exchange.key, version, direction, names)
    try:
        return _json(found)
    except ValueError:  # quotas may be NaN or infinite, which JSON has no number for
        return _json(_finite(found))


def _version(exchange: Exchange, direction: Direction) -> int:
    body = exchange.request_body if direction == "request" else exchange.response_body
    return body_version(exchange.key, exchange.version, direction, body or b"")


def _json(found: Any) -> str:
    return json.dumps(found, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _finite(value: Any) -> Any:
    match value:
        case dict():
            return {name: _finite(inner) for name, inner in value.items()}
        case list():
            return [_finite(item) for item in value]
        case float() if not math.isfinite(value):
            return str(value)
    return value


def bodies(
    key: int, version: int, text: str | None
) -> tuple[bytes | None, bytes | None, dict[uuid.UUID, str]]:
    """Bodies that decode to what such a text says, and the names of topics that it has beside ids.

    None for a body that is null, or has a field that was redacted: nothing is made up for it. The bytes
    need not be those that were captured.

    >>> bodies(3, 0, '{"request":{"topics":[{"name":"t"}]},"response":null}')
    (b'\\x00\\x00\\x00\\x01\\x00\\x01t', None, {})
    """
    if text is None or key == SASL_TOKEN or key not in NAMES:
        return None, None, {}
    found = json.loads(text)
    names: dict[uuid.UUID, str] = {}
    made = [
        _bytes(key, version, direction, found.get(direction), names) for direction in DIRECTIONS
    ]
    return made[0], made[1], names


def _bytes(
    key: int, version: int, direction: Direction, values: Any, names: dict[uuid.UUID, str]
) -> bytes | None:
    if values is None:
        return None
    if key == _API_VERSIONS and direction == "response" and "throttle_time_ms" not in values:
        version = 0  # see captures.exchange.body_version
    completed = gaps(key, version, direction)
    for place in (*places(key, version, direction, TOPIC), *completed):
        for struct in structs(values, place.path):
            name = struct.get(place.name) if place.name else None
            topic = text_uuid(struct[place.id]) if name else _NONE
            if name and topic.int >= TOPIC.least:
                names[topic] = name
            if place in completed and place.name:
                struct.pop(place.name, None)
    names_of, ways = _ways(key, version, direction)
    try:
        body = {
            name: ways[name](value) if name in ways else value
            for name, value in values.items()
            if name in names_of
        }
        return api(key).message(direction).codec(version).encode(body)
    except (ValueError, Unfit):
        return None


@functools.cache
def _ways(key: int, version: int, direction: Direction) -> tuple[frozenset[str], dict[str, Way]]:
    """The names of the fields, and how those come out of JSON that need more than that."""
    layout = api(key).message(direction).layout(version)
    return frozenset(slot.name for slot in layout.slots), ways_of(layout)
