"""The rows of a share of a capture: exchanges, and the facts that complete the exchanges of all shares.

`kind` says what a row is. Rows other than exchanges have their values in `details`, as JSON.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from barnabas.pipeline.rows.columns import EXCHANGES, RAW, Column, fields

ALL: Final = (*EXCHANGES, *RAW)

LATER: Final = ("capture",)
"""Columns that are unknown at first: they are added when all facts are known."""


class Position(NamedTuple):
    """The time of an outcome in the order in which the sequential reader would yield it."""

    at: int
    """Four times the packet's number; higher for outcomes at the end of a section or file."""
    flow: int
    within: int


class Outcome(NamedTuple):
    """A row: the columns of an exchange, or other details."""

    kind: str
    """exchange, inside, error, frame, connection, flow, loss, topic, producer, broker, forgotten, unread or
    capture."""
    section: int
    """See CaptureReader.sections."""
    connection_key: int
    """The connection's key, which is not its number yet: see `facts.Completion`."""
    position: Position
    details: dict[str, Any]
    columns: dict[str, Any] | None = None
    """The columns of an exchange."""


HEAD: Final = fields(
    "kind string, section int, connection_key bigint, at bigint, flow bigint, "
    "within bigint, details string"
)
"""The columns of an Outcome, with those of its Position; `details` as JSON, null for an exchange."""


def travelling(columns: tuple[str, ...]) -> tuple[Column, ...]:
    """Return the columns of ALL with these names that are known at first."""
    return tuple(column for column in ALL if column.name in columns and column.name not in LATER)
