"""Exchanges with their decoded bodies, and error rows for bodies that exceed Spark's limit for VARIANT."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from barnabas.pipeline.rows.bodies import BODY, Names, body_batch, json_array
from barnabas.pipeline.rows.columns import BODY_JSON
from barnabas.pipeline.tables.partitioned_parquet import WrittenFile
from barnabas.specs.jsonform import Blob, elided

PART: Final = 2 << 20
"""Bytes of frames whose bodies become VARIANT at once."""


@dataclass(frozen=True, slots=True)
class Bodies:
    """The form in which the bodies of exchanges are written. It can be pickled for tasks."""

    json: bool = False
    """Whether bodies are also written as JSON text."""
    blob: Blob = elided
    """How bytes in bodies are written."""

    def schema(self, exchanges: pa.Schema) -> pa.Schema:
        """Return the schema of exchanges with the columns of bodies appended."""
        whole = exchanges.append(pa.field("body", BODY))
        return whole.append(pa.field(BODY_JSON.name, pa.string())) if self.json else whole

    def decoded(self, rows: pa.RecordBatch, names: Names, schema: pa.Schema) -> pa.RecordBatch:
        """Return exchanges with decoded bodies.

        Args:
            rows: Exchanges with the columns of RAW.
            names: Names of topics by id.
            schema: The result of `schema`.
        """
        bodies = [body_batch(rows, names, self.blob)]
        if self.json:
            bodies.append(json_array(bodies[0]))
        unchanged = [rows[name] for name in schema.names[: -len(bodies)]]
        return pa.RecordBatch.from_arrays([*unchanged, *bodies], schema=schema)


ELIDED: Final = Bodies()
"""Large bytes are elided, and there is no JSON text."""


def portions(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield parts of a batch whose bodies have about PART bytes at most."""
    begin = size = 0
    sizes = [batch[name].to_pylist() for name in ("request_size", "response_size")]
    for end, (request, response) in enumerate(zip(*sizes, strict=True), 1):
        size += request + (response or 0)
        if size >= PART or end == len(batch):
            yield batch.slice(begin, end - begin)
            begin, size = end, 0


REASON: Final = "larger than Spark's limit for VARIANT: its body is null in exchanges"

_WANTED: Final = ("connection", "ts_ns", "request_packet", "request_size", "response_size")


def lost_bodies(written: Iterable[WrittenFile], capture: str | None = None) -> list[dict[str, Any]]:
    """Return rows of ERRORS for the exchanges in these files whose body is null.

    Pass `capture` if the folders' names lack it. Raises OSError.
    """
    rows = []
    for file in written:
        if not file.nulls:
            continue
        exchanges = pq.read_table(file.path, columns=[*_WANTED, "body"])
        without_body = exchanges.filter(exchanges["body"].is_null()).drop_columns("body")
        rows += [
            {
                "capture": capture_of(file.path) if capture is None else capture,
                "connection": row["connection"],
                "bytes": row["request_size"] + (row["response_size"] or 0),
                "ts_ns": row["ts_ns"],
                "packet": row["request_packet"],
                "kind": "too large",
                "reason": REASON,
            }
            for row in without_body.to_pylist()
        ]
    return rows


def capture_of(path: Path) -> str:
    """Return the capture of a file, from the names of its folders."""
    folders = dict(folder.partition("=")[::2] for folder in path.parent.parts)
    return unquote(folders["capture"])
