"""Decoded bodies as VARIANT, and from JSON text back to bytes.

The form is that of `Exchange.row()`, secrets redacted; and where a message has a topic's id alone, the
name stands beside it, as the field that earlier versions have there (null: not known).
"""

from __future__ import annotations

import functools
import json
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import pyarrow as pa

from barnabas.captures.kafka.context.completing import gaps
from barnabas.captures.kafka.context.id_names import TOPIC, places, structs
from barnabas.captures.kafka.exchange import SASL_TOKEN, Exchange, body_version
from barnabas.specs.codec import Unfit
from barnabas.specs.codec.variant import NULL, Write, metadata, pair, variant_writer
from barnabas.specs.codec.variant import names as names_of_fields
from barnabas.specs.frames import DIRECTIONS, Direction
from barnabas.specs.jsonform import Way, text_uuid, ways_of
from barnabas.specs.registry import NAMES, api
from barnabas.specs.secrets import secret_paths

_API_VERSIONS: Final = 18
_NONE: Final = uuid.UUID(int=0)

Names = Mapping[uuid.UUID, str]

BODY: Final = pa.struct(
    [
        pa.field("value", pa.binary(), nullable=False),
        pa.field("metadata", pa.binary(), nullable=False),
    ]
)
"""How Parquet has a VARIANT."""

LIMIT: Final = 128 << 20
"""Bytes of a VARIANT that Spark reads (org.apache.spark.types.variant.VariantUtil.SIZE_LIMIT)."""


class Body(NamedTuple):
    """A VARIANT as it stands in a file."""

    value: bytes
    metadata: bytes


def body(exchange: Exchange, names: Names | None = None) -> Body:
    """`{"request": ..., "response": ...}`; null for what is not there or can't be decoded.

    names: of topics, by id; None: names are left out.
    """
    values = exchange.request, exchange.response
    given = exchange.request_body, exchange.response_body
    versions = tuple(
        None
        if value is None
        else body_version(exchange.key, exchange.version, direction, one or b"")
        for value, direction, one in zip(values, DIRECTIONS, given, strict=True)
    )
    writers = _writers(exchange.key, versions, completed=names is not None)
    more: list[str] = []
    request, response = (
        NULL if one is None or write is None else write(one, names or {}, more)
        for one, write in zip(values, writers.write, strict=True)
    )
    known = writers.metadata if not more else metadata((*writers.dictionary, *more))
    return Body(pair((request, response)), known)


def body_batch(batch: pa.RecordBatch, names: Names | None = None) -> pa.Array:
    """The same of exchanges that travel, see `pipeline.columns.RAW`: of the type BODY. Null for one that is
    larger than LIMIT."""
    wanted = ("key", "version", "request_body", "response_body")
    rows = zip(*(batch[name].to_pylist() for name in wanted), strict=True)
    made = [
        body(
            Exchange(
                0, 0, "", None, None, key, version, 0, 0, request_body=sent, response_body=came
            ),
            names,
        )
        for key, version, sent, came in rows
    ]
    return body_array(made)


def body_array(made: Sequence[Body]) -> pa.Array:
    """Bodies as a column of the type BODY. Null for one that is larger than LIMIT."""
    lost = [len(one.value) > LIMIT for one in made]
    values = pa.array(
        [b"" if gone else one.value for one, gone in zip(made, lost, strict=True)], pa.binary()
    )
    return pa.StructArray.from_arrays(
        [values, pa.array([one.metadata for one in made], pa.binary())],
        fields=list(BODY),
        mask=pa.array(lost, pa.bool_()),
    )


class _Writers(NamedTuple):
    """How the bodies of an API in some versions are written."""

    dictionary: tuple[str, ...]
    metadata: bytes
    write: list[Write | None]


@functools.lru_cache(4096)
def _writers(key: int, versions: tuple[int | None, ...], *, completed: bool) -> _Writers:
    """versions: of request and response; None: there is none that can be read, whatever the other is."""
    sides = []
    for direction, version in zip(DIRECTIONS, versions, strict=True):
        if version is None:
            continue
        named = [
            (place.path, place.id, place.name)
            for place in (gaps(key, version, direction) if completed else ())
            if place.name is not None
        ]
        sides.append((direction, version, api(key).message(direction).layout(version), named))
    inner = {name for *_, layout, named in sides for name in names_of_fields(layout, named)}
    dictionary = (*DIRECTIONS, *sorted(inner.difference(DIRECTIONS)))
    write: dict[Direction, Write] = {}
    for direction, version, layout, named in sides:
        secrets = [tuple(path.split(".")) for path in secret_paths(key, direction)]
        origin = f"{NAMES[key]} {direction} v{version}"
        write[direction] = variant_writer(layout, origin, dictionary, secrets, named)
    return _Writers(dictionary, metadata(dictionary), [write.get(one) for one in DIRECTIONS])


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
        version = 0  # see barnabas.captures.kafka.exchange.body_version
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
