"""Decoded bodies as VARIANT.

The form is that of `Exchange.row()`, with secrets redacted. If a message has only a topic's id, the name is
added in the field that earlier versions have (null: unknown). Large bytes are elided as by `decode --json`.
"""

from __future__ import annotations

import functools
import uuid
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import pyarrow as pa

from barnabas.captures.kafka.context.name_completion import gaps
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
"""Parquet's type for a VARIANT."""

LIMIT: Final = 128 << 20
"""The most bytes of a VARIANT that Spark reads (org.apache.spark.types.variant.VariantUtil.SIZE_LIMIT)."""


class Body(NamedTuple):
    """A VARIANT as it is stored in a file."""

    value: bytes
    metadata: bytes


def body(exchange: Exchange, names: Names | None = None, blob: Blob = elided) -> Body:
    """Return `{"request": ..., "response": ...}`; a missing or undecodable body is null.

    `names` are topic names by id; with None no name is added. `blob` writes bytes values.
    """
    values = exchange.request, exchange.response
    raw_bodies = exchange.request_body, exchange.response_body
    versions = tuple(
        None
        if value is None
        else body_version(exchange.key, exchange.version, direction, data or b"")
        for value, direction, data in zip(values, DIRECTIONS, raw_bodies, strict=True)
    )
    writers = _writers(exchange.key, versions, blob, completed=names is not None)
    more: list[str] = []
    request, response = (
        NULL if data is None or write is None else write(data, names or {}, more)
        for data, write in zip(values, writers.write, strict=True)
    )
    body_metadata = writers.metadata if not more else metadata((*writers.dictionary, *more))
    return Body(pair((request, response)), body_metadata)


def body_batch(batch: pa.RecordBatch, names: Names | None = None, blob: Blob = elided) -> pa.Array:
    """Return the bodies of a batch of exchanges, as type BODY; null for one larger than LIMIT.

    The batch has columns of `rows.columns.RAW`.
    """
    columns = ("key", "version", "request_body", "response_body")
    rows = zip(*(batch[name].to_pylist() for name in columns), strict=True)
    bodies = [
        body(
            Exchange(
                0, 0, "", None, None, key, version, 0, 0, request_body=sent, response_body=came
            ),
            names,
            blob,
        )
        for key, version, sent, came in rows
    ]
    return body_array(bodies)


def body_array(bodies: Sequence[Body]) -> pa.Array:
    """Return bodies as a column of type BODY; null for one larger than LIMIT."""
    lost = [len(body.value) > LIMIT for body in bodies]
    values = pa.array(
        [b"" if too_large else body.value for body, too_large in zip(bodies, lost, strict=True)],
        pa.binary(),
    )
    return pa.StructArray.from_arrays(
        [values, pa.array([body.metadata for body in bodies], pa.binary())],
        fields=list(BODY),
        mask=pa.array(lost, pa.bool_()),
    )


def json_array(bodies: pa.Array) -> pa.Array:
    """Return bodies of type BODY as JSON text, as Spark's `to_json` writes it."""
    from pyspark.sql.types import VariantVal

    texts = (
        None if body is None else VariantVal(body["value"], body["metadata"]).toJson()
        for body in bodies.to_pylist()
    )
    return pa.array(texts, pa.string())


class _Writers(NamedTuple):
    """The functions that write the bodies of an API in some versions."""

    dictionary: tuple[str, ...]
    metadata: bytes
    write: list[Write | None]


@functools.lru_cache(4096)
def _writers(
    key: int, versions: tuple[int | None, ...], blob: Blob, *, completed: bool
) -> _Writers:
    """Return the writers for an API.

    `versions` are those of request and response; None: there is no readable body.
    """
    sides = []
    for direction, version in zip(DIRECTIONS, versions, strict=True):
        if version is None:
            continue
        named = [
            (gap.path, gap.id, gap.name)
            for gap in (gaps(key, version, direction) if completed else ())
            if gap.name is not None
        ]
        sides.append((direction, version, api(key).message(direction).layout(version), named))
    inner = {name for *_, layout, named in sides for name in names_of_fields(layout, named)}
    dictionary = (*DIRECTIONS, *sorted(inner.difference(DIRECTIONS)))
    write: dict[Direction, Write] = {}
    for direction, version, layout, named in sides:
        secrets = by_field(secret_paths(key, direction))
        origin = f"{NAMES[key]} {direction} v{version}"
        write[direction] = variant_writer(layout, origin, dictionary, secrets, named, blob)
    return _Writers(dictionary, metadata(dictionary), [write.get(side) for side in DIRECTIONS])
