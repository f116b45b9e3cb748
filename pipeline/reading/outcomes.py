"""The rows that the reading of flows results in: exchanges, and what completes the exchanges of all flows.

`kind` says what a row is; what is no exchange stands in `said`, as JSON.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import pyarrow as pa

from barnabas.pipeline.rows.columns import EXCHANGES, RAW, Column, arrow, fields

ALL: Final = (*EXCHANGES, *RAW)

LATER: Final = ("capture",)
"""Columns that nobody knows yet: they are added when all is known."""


class Place(NamedTuple):
    """When something happened, in the order in which the pure reader would have said it."""

    at: int
    """Four times the number of the packet; more in what the end of a section or file brings."""
    flow: int
    within: int


class Outcome(NamedTuple):
    """A row: an exchange's columns, or what is said."""

    kind: str
    """exchange, inside, error, frame, connection, flow, loss, topic, producer, broker."""
    section_group: int
    """See plan.SectionGroup."""
    of: int
    """Its connection, by a number that is none yet: see completing.py."""
    place: Place
    said: dict[str, Any]
    columns: dict[str, Any] | None = None
    """Of an exchange."""


HEAD: Final = fields(
    "kind string, section_group int, of bigint, at bigint, flow bigint, within bigint, said string"
)
"""The columns of an Outcome, with those of its Place; `said` as JSON, null of an exchange."""


def travelling(columns: tuple[str, ...]) -> tuple[Column, ...]:
    """The columns of ALL with these names, as far as they are known at first."""
    return tuple(column for column in ALL if column.name in columns and column.name not in LATER)


def schema(columns: tuple[str, ...]) -> pa.Schema:
    """Of rows with exchanges that have these columns."""
    return pa.schema([*arrow(HEAD), *arrow(travelling(columns))])
