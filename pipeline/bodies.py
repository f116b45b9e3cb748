"""Decoded bodies as JSON text, for a column of the type VARIANT, and back to bytes.

The form is that of `Exchange.row()`, secrets redacted; and where a message has a topic's id alone, the
name stands beside it, as the field that earlier versions have there (null: not known).
"""

from __future__ import annotations

import functools
import json
import uuid
from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa

from captures.context.completing import gaps
from captures.context.pairs import TOPIC, places, structs
from captures.exchange import SASL_TOKEN, Exchange, body_version
from specs.codec import Unfit
from specs.codec.json_text import Write, json_writer
from specs.contents import NAMES, api
from specs.frames import Direction
from specs.jsonform import Way, text_uuid, ways_of
from specs.secrets import secret_paths

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
    request, response = (_text(exchange, direction, names) for direction in DIRECTIONS)
    return f'{{"request":{request},"response":{response}}}'


def body_texts(batch: pa.RecordBatch, names: Names | None = None) -> list[str]:
    """The same of a batch of exchanges that travel, see `pipeline.columns.RAW`."""
    wanted = ("key", "version", "request_body", "response_body")
    rows = zip(*(batch[name].to_pylist() for name in wanted), strict=True)
    return [
        body_text(
            Exchange(
                0, 0, "", None, None, key, version, 0, 0, request_body=sent, response_body=came
            ),
            names,
        )
        for key, version, sent, came in rows
    ]


def _text(exchange: Exchange, direction: Direction, names: Names | None) -> str:
    asked = direction == "request"
    values = exchange.request if asked else exchange.response
    if values is None:
        return "null"
    body = exchange.request_body if asked else exchange.response_body
    version = body_version(exchange.key, exchange.version, direction, body or b"")
    write = _writer(exchange.key, version, direction, completed=names is not None)
    return write(values, names or {})


@functools.lru_cache(4096)
def _writer(key: int, version: int, direction: Direction, *, completed: bool) -> Write:
    message = api(key).message(direction)
    named = [
        (place.path, place.id, place.name)
        for place in (gaps(key, version, direction) if completed else ())
        if place.name is not None
    ]
    secrets = [tuple(path.split(".")) for path in secret_paths(key, direction)]
    origin = f"{NAMES[key]} {direction} v{version}"
    return json_writer(message.layout(version), origin, secrets, named)


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
