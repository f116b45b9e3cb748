"""Makes the rows of a capture's tables from outcomes: exchanges, and details of other kinds."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import pyarrow as pa

from barnabas.pipeline.reading.facts import Completion, Facts
from barnabas.pipeline.reading.outcomes import ALL
from barnabas.pipeline.reading.side_tables import connection_row, error_row
from barnabas.pipeline.rows.columns import arrow
from barnabas.pipeline.rows.exchanges import batch
from barnabas.pipeline.rows.frames import frame_row
from barnabas.pipeline.rows.inside import REREAD, Internal, inside_row, internal
from barnabas.pipeline.tables.decoded_bodies import Bodies, portions
from barnabas.pipeline.tables.parquet import Batches, Part, Table, rows_of_kind
from barnabas.pipeline.tables.schemas import FOLDERS, ORDER, filed_columns
from barnabas.specs.jsonform import uuid_text

_DETAILS: Final = ["details", "section", "connection_key"]
"""Columns of outcomes that are no exchange: their details, and the key of their connection."""

_SIMPLE: Final[dict[str, tuple[str, Callable[[Any, Any, str], dict[str, Any]]]]] = {
    "errors": ("error", error_row),
    "frames": ("frame", frame_row),
    "connections": ("connection", connection_row),
}
"""Tables with a row for each outcome of a kind: the kind, and a function (details, the connection's number or
None, capture) that makes the row."""


@dataclass(frozen=True, slots=True)
class CaptureRows:
    """Makes the rows of one capture's tables. It can be pickled for tasks."""

    facts: Facts
    capture: str
    """The capture's name."""
    bodies: Bodies | None
    """How bodies are written; None: not at all."""

    def tables(self, kinds: Collection[str]) -> list[Table]:
        """Return the tables that have rows, if there are outcomes of these kinds."""
        tables = []
        if "exchange" in kinds:
            schema = self._exchanges_schema
            tables.append(Table("exchanges", schema, self.exchanges, FOLDERS[1:], ORDER))
        if "inside" in kinds or self._internal.names:
            tables.append(Table("inside", arrow(filed_columns("inside")), self.inside))
        return tables + [
            Table(name, arrow(filed_columns(name)), partial(self.simple, name))
            for name, (kind, _) in _SIMPLE.items()
            if kind in kinds
        ]

    def exchanges(self, part: Part) -> Batches:
        """Yield exchanges, with decoded bodies if bodies are written."""
        completion, schema = Completion(self.facts, self.capture), self._exchanges_schema
        for rows in rows_of_kind(part, "exchange"):
            if self.bodies is None:
                yield completion.complete(rows, filed_columns("exchanges"))
                continue
            for portion in portions(rows):
                whole = completion.complete(portion, ALL)
                yield self.bodies.decoded(whole, self.facts.topics, schema)

    def simple(self, table: str, part: Part) -> Batches:
        """Yield the rows of a table of _SIMPLE."""
        kind, make = _SIMPLE[table]
        numbers = self.facts.connections
        for outcomes in rows_of_kind(part, kind, _DETAILS):
            rows = (
                make(details, numbers.get(key), self.capture)
                for key, details in _keyed_details(outcomes)
            )
            yield batch(rows, filed_columns(table))

    def inside(self, part: Part) -> Batches:
        """Yield the contents of bytes fields.

        Exchanges with internal topics whose name their flow did not know are read again.
        """
        by_id, numbers = self._internal, self.facts.connections
        names = {uuid_text(topic): name for topic, name in self.facts.topics.items()}

        def keyed_rows() -> Iterator[Iterable[tuple[tuple[int, int], Mapping[str, Any]]]]:
            for outcomes in rows_of_kind(part, "inside", _DETAILS):
                yield (pair for pair in _keyed_details(outcomes) if not by_id.missed(pair[1]))
            if by_id.names:
                for exchanges in rows_of_kind(part, "exchange", [*REREAD, "topics"]):
                    yield by_id.rows(exchanges, self.facts.topics)

        for pairs in keyed_rows():
            rows = (inside_row(row, numbers[key], self.capture, names) for key, row in pairs)
            yield batch(rows, filed_columns("inside"))

    @property
    def _internal(self) -> Internal:
        return internal({} if self.bodies is None else self.facts.topics)

    @property
    def _exchanges_schema(self) -> pa.Schema:
        schema = arrow(filed_columns("exchanges"))
        return schema if self.bodies is None else self.bodies.schema(schema)


def _keyed_details(rows: pa.RecordBatch) -> Iterator[tuple[tuple[int, int], Mapping[str, Any]]]:
    """Yield details, each with section group and connection key."""
    for text, section, of in zip(*(rows[name].to_pylist() for name in _DETAILS), strict=True):
        yield (section, of), json.loads(text)
