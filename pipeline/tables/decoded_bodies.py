"""Adds the decoded bodies to rows of exchanges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from barnabas.pipeline.rows.bodies import BODY, Names, body_batch, json_array
from barnabas.pipeline.rows.columns import BODY_JSON
from barnabas.specs.jsonform import Blob, elided

PART: Final = 2 << 20
"""Bytes of frames whose bodies are made VARIANT at once."""


@dataclass(frozen=True, slots=True)
class Bodies:
    """How the bodies of exchanges are written. Tasks are given it: it can be pickled."""

    json: bool = False
    """Whether they are also written as JSON text."""
    blob: Blob = elided
    """How bytes in them are written."""

    def schema(self, exchanges: pa.Schema) -> pa.Schema:
        """Return the schema of exchanges with the columns of the bodies after it."""
        whole = exchanges.append(pa.field("body", BODY))
        return whole.append(pa.field(BODY_JSON.name, pa.string())) if self.json else whole

    def decoded(self, rows: pa.RecordBatch, names: Names, schema: pa.Schema) -> pa.RecordBatch:
        """Return exchanges with their bodies decoded.

        Args:
            rows: exchanges with the columns of RAW.
            names: names of topics by id.
            schema: what `schema` returned.
        """
        made = [body_batch(rows, names, self.blob)]
        if self.json:
            made.append(json_array(made[0]))
        kept = [rows[name] for name in schema.names[: -len(made)]]
        return pa.RecordBatch.from_arrays([*kept, *made], schema=schema)


ELIDED: Final = Bodies()
"""Large bytes are elided, and there is no JSON text."""


def portions(one: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Cut a batch so that the bodies of each part come to about PART bytes at most."""
    begin = size = 0
    sizes = [one[name].to_pylist() for name in ("request_size", "response_size")]
    for end, (request, response) in enumerate(zip(*sizes, strict=True), 1):
        size += request + (response or 0)
        if size >= PART or end == len(one):
            yield one.slice(begin, end - begin)
            begin, size = end, 0
