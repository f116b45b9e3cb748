"""Makes the rows of a capture's tables from outcomes: exchanges, and details of other kinds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from barnabas.pipeline.reading.facts import Completion, Facts
from barnabas.pipeline.reading.outcomes import ALL
from barnabas.pipeline.reading.side_tables import connection_row, error_row
from barnabas.pipeline.rows.columns import arrow
from barnabas.pipeline.rows.exchanges import batch
from barnabas.pipeline.rows.frames import frame_row
from barnabas.pipeline.rows.inside import REREAD, Internal, inside_row, internal
from barnabas.pipeline.tables.decoded_bodies import Bodies, portions
from barnabas.pipeline.tables.parquet import Batches, Table
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

    def tables(self) -> list[Table]:
        """Return the tables, each with the function that makes its rows."""
        if self._internal.names:  # some exchanges may be read again, so all are passed
            reads = [*{*_DETAILS, *REREAD, "topics"}]
            inside = Table("inside", None, arrow(filed_columns("inside")), reads, self.inside)
        else:
            inside = Table(
                "inside", "inside", arrow(filed_columns("inside")), _DETAILS, self.inside
            )
        make = self.exchanges if self.bodies is None else self.decoded_exchanges
        return [
            Table("exchanges", "exchange", self._schema, None, make, FOLDERS[1:], ORDER),
            inside,
            *(
                Table(name, kind, arrow(filed_columns(name)), _DETAILS, partial(self.simple, name))
                for name, (kind, _) in _SIMPLE.items()
            ),
        ]

    def exchanges(self, batches: Batches) -> Batches:
        """Yield exchanges without bodies."""
        completion = Completion(self.facts, self.capture)
        for rows in batches:
            yield completion.complete(rows, filed_columns("exchanges"))

    def decoded_exchanges(self, batches: Batches) -> Batches:
        """Yield exchanges with decoded bodies."""
        assert self.bodies is not None  # noqa: S101
        completion, schema = Completion(self.facts, self.capture), self._schema
        for portion in (part for whole in batches for part in portions(whole)):
            yield self.bodies.decoded(completion.complete(portion, ALL), self.facts.topics, schema)

    def simple(self, table: str, batches: Batches) -> Batches:
        """Yield the rows of a table of _SIMPLE."""
        make, numbers = _SIMPLE[table][1], self.facts.connections
        for outcomes in batches:
            rows = (
                make(details, numbers.get(key), self.capture)
                for key, details in _keyed_details(outcomes)
            )
            yield batch(rows, filed_columns(table))

    def inside(self, batches: Batches) -> Batches:
        """Yield the contents of bytes fields.

        Exchanges with internal topics whose name their flow did not know are read again.
        """
        by_id, numbers = self._internal, self.facts.connections
        names = {uuid_text(topic): name for topic, name in self.facts.topics.items()}
        for outcomes in batches:
            details = _keyed_details(outcomes.filter(pc.equal(outcomes["kind"], "inside")))
            rows = [(key, row) for key, row in details if not by_id.missed(row)]
            if by_id.names:
                exchanges = outcomes.filter(pc.equal(outcomes["kind"], "exchange"))
                rows += by_id.rows(exchanges, self.facts.topics)
            inside_rows = (inside_row(row, numbers[key], self.capture, names) for key, row in rows)
            yield batch(inside_rows, filed_columns("inside"))

    @property
    def _internal(self) -> Internal:
        return internal({} if self.bodies is None else self.facts.topics)

    @property
    def _schema(self) -> pa.Schema:
        schema = arrow(filed_columns("exchanges"))
        return schema if self.bodies is None else self.bodies.schema(schema)


def _keyed_details(rows: pa.RecordBatch) -> Iterator[tuple[tuple[int, int], Mapping[str, Any]]]:
    """Yield details, each with section group and connection key."""
    for text, section, of in zip(*(rows[name].to_pylist() for name in _DETAILS), strict=True):
        yield (section, of), json.loads(text)
