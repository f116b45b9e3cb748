"""The rows that the reading of flows results in: exchanges, and what completes the exchanges of all flows.

`kind` says what a row is; what is no exchange stands in `said`, as JSON.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import pyarrow as pa

from barnabas.pipeline.rows.columns import EXCHANGES, RAW, Column, arrow

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
    section_group: int
    of: int
    place: Place
    said: dict[str, Any]
    columns: dict[str, Any] | None = None
    """Of an exchange."""


HEAD: Final = (
    Column(
        "kind",
        "string",
        "exchange, inside, error, frame, connection, flow, loss, topic, producer, broker",
    ),
    Column("section_group", "int", "see plan.SectionGroup"),
    Column("of", "bigint", "its connection, by a number that is none yet: see completing.py"),
    Column("at", "bigint", "see Place"),
    Column("flow", "bigint", "see Place"),
    Column("within", "bigint", "see Place"),
    Column("said", "string", "what it is, as JSON; null: an exchange"),
)


def travelling(columns: tuple[str, ...]) -> tuple[Column, ...]:
    """The columns of ALL with these names, as far as they are known at first."""
    return tuple(column for column in ALL if column.name in columns and column.name not in LATER)


def schema(columns: tuple[str, ...]) -> pa.Schema:
    """Of rows with exchanges that have these columns."""
    return pa.schema([*arrow(HEAD), *arrow(travelling(columns))])
