"""Makes the rows of a capture's tables from what travelled: exchanges, and what was said in addition."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from barnabas.pipeline.reading.completing import Completion
from barnabas.pipeline.reading.facts import Facts
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

_SAID: Final = ["said", "section_group", "of"]
"""Columns of what is said: the text, and which connection it is about."""

_SIMPLE: Final[dict[str, tuple[str, Callable[[Any, Any, str], dict[str, Any]]]]] = {
    "errors": ("error", error_row),
    "frames": ("frame", frame_row),
    "connections": ("connection", connection_row),
}
"""Tables with a row for each thing said of a kind, and what makes it: (what was said, the connection's number
or None, capture)."""


@dataclass(frozen=True, slots=True)
class CaptureRows:
    """Makes the rows of one capture's tables. Tasks are given it: it can be pickled."""

    facts: Facts
    capture: str
    """What the capture is called."""
    bodies: Bodies | None
    """How bodies are written; None: they are not."""

    def tables(self) -> list[Table]:
        """Return the tables, each with what makes its rows."""
        if self._internal.names:  # all exchanges are read: some may be read again
            reads = [*{*_SAID, *REREAD, "topics"}]
            inside = Table("inside", None, arrow(filed_columns("inside")), reads, self.inside)
        else:
            inside = Table("inside", "inside", arrow(filed_columns("inside")), _SAID, self.inside)
        make = self.exchanges if self.bodies is None else self.decoded_exchanges
        return [
            Table("exchanges", "exchange", self._schema, None, make, FOLDERS[1:], ORDER),
            inside,
            *(
                Table(name, kind, arrow(filed_columns(name)), _SAID, partial(self.simple, name))
                for name, (kind, _) in _SIMPLE.items()
            ),
        ]

    def exchanges(self, batches: Batches) -> Batches:
        """Yield exchanges without bodies."""
        completion = Completion(self.facts, self.capture)
        for one in batches:
            yield completion.complete(one, filed_columns("exchanges"))

    def decoded_exchanges(self, batches: Batches) -> Batches:
        """Yield exchanges with their bodies decoded."""
        assert self.bodies is not None  # noqa: S101
        completion, schema = Completion(self.facts, self.capture), self._schema
        for one in (part for whole in batches for part in portions(whole)):
            yield self.bodies.decoded(completion.complete(one, ALL), self.facts.topics, schema)

    def simple(self, table: str, batches: Batches) -> Batches:
        """Yield the rows of a table of _SIMPLE."""
        make, numbers = _SIMPLE[table][1], self.facts.connections
        for one in batches:
            made = (make(said, numbers.get(of), self.capture) for of, said in _said(one))
            yield batch(made, filed_columns(table))

    def inside(self, batches: Batches) -> Batches:
        """Yield what lies within bytes. Exchanges with internal topics that their flow did not know by name
        are read again."""
        by_id, numbers = self._internal, self.facts.connections
        names = {uuid_text(topic): name for topic, name in self.facts.topics.items()}
        for one in batches:
            said = _said(one.filter(pc.equal(one["kind"], "inside")))
            rows = [(of, row) for of, row in said if not by_id.missed(row)]
            if by_id.names:
                exchanges = one.filter(pc.equal(one["kind"], "exchange"))
                rows += by_id.rows(exchanges, self.facts.topics)
            made = (inside_row(row, numbers[of], self.capture, names) for of, row in rows)
            yield batch(made, filed_columns("inside"))

    @property
    def _internal(self) -> Internal:
        return internal({} if self.bodies is None else self.facts.topics)

    @property
    def _schema(self) -> pa.Schema:
        schema = arrow(filed_columns("exchanges"))
        return schema if self.bodies is None else self.bodies.schema(schema)


def _said(rows: pa.RecordBatch) -> Iterator[tuple[tuple[int, int], Mapping[str, Any]]]:
    """Yield what was said, each with section group and connection."""
    for text, section_group, of in zip(*(rows[name].to_pylist() for name in _SAID), strict=True):
        yield (section_group, of), json.loads(text)
