"""Decoded bodies as VARIANT.

The form is that of `Exchange.row()`, secrets redacted; and where a message has a topic's id alone, the
name stands beside it, as the field that earlier versions have there (null: not known). Large bytes are elided
as `decode --json` does it.
"""

from __future__ import annotations

import functools
import uuid
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import pyarrow as pa

from barnabas.captures.kafka.context.completing import gaps
from barnabas.captures.kafka.exchange import Exchange, body_version
from barnabas.specs.codec.variant import NULL, Write, metadata, pair, variant_writer
from barnabas.specs.codec.variant import names as names_of_fields
from barnabas.specs.frames import DIRECTIONS, Direction
from barnabas.specs.jsonform import Blob, elided
from barnabas.specs.registry import NAMES, api
from barnabas.specs.secrets import by_field, secret_paths

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


def body(exchange: Exchange, names: Names | None = None, blob: Blob = elided) -> Body:
    """`{"request": ..., "response": ...}`; null for what is not there or can't be decoded.

    names: of topics, by id; None: names are left out. blob: how bytes are written.
    """
    values = exchange.request, exchange.response
    given = exchange.request_body, exchange.response_body
    versions = tuple(
        None
        if value is None
        else body_version(exchange.key, exchange.version, direction, one or b"")
        for value, direction, one in zip(values, DIRECTIONS, given, strict=True)
    )
    writers = _writers(exchange.key, versions, blob, completed=names is not None)
    more: list[str] = []
    request, response = (
        NULL if one is None or write is None else write(one, names or {}, more)
        for one, write in zip(values, writers.write, strict=True)
    )
    known = writers.metadata if not more else metadata((*writers.dictionary, *more))
    return Body(pair((request, response)), known)


def body_batch(batch: pa.RecordBatch, names: Names | None = None, blob: Blob = elided) -> pa.Array:
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
            blob,
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


def json_array(bodies: pa.Array) -> pa.Array:
    """Bodies of the type BODY as JSON text, as Spark's `to_json` writes it."""
    from pyspark.sql.types import VariantVal

    made = (
        None if one is None else VariantVal(one["value"], one["metadata"]).toJson()
        for one in bodies.to_pylist()
    )
    return pa.array(made, pa.string())


class _Writers(NamedTuple):
    """How the bodies of an API in some versions are written."""

    dictionary: tuple[str, ...]
    metadata: bytes
    write: list[Write | None]


@functools.lru_cache(4096)
def _writers(
    key: int, versions: tuple[int | None, ...], blob: Blob, *, completed: bool
) -> _Writers:
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
        secrets = by_field(secret_paths(key, direction))
        origin = f"{NAMES[key]} {direction} v{version}"
        write[direction] = variant_writer(layout, origin, dictionary, secrets, named, blob)
    return _Writers(dictionary, metadata(dictionary), [write.get(one) for one in DIRECTIONS])
