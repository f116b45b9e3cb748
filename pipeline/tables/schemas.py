"""The tables: their columns, the folders of their files, the order of their rows.

exchanges: one row each (EXCHANGES), and the decoded bodies as `body` VARIANT {request, response}. inside
(INSIDE): the contents of bytes fields. errors (ERRORS): unreadable data. connections, notes: see
`pipeline/reading/side_tables.py`. quality: the amount that was read. packets, frames: on request, since they
have the most rows.
"""

from __future__ import annotations

from typing import Final

from barnabas.pipeline.reading.packet_rows import WRITTEN
from barnabas.pipeline.reading.side_tables import CONNECTIONS, NOTES
from barnabas.pipeline.rows.columns import BODY_JSON, ERRORS, EXCHANGES, Column, ddl
from barnabas.pipeline.rows.frames import FRAMES
from barnabas.pipeline.rows.inside import INSIDE
from barnabas.pipeline.tables.quality import QUALITY

TABLES: Final[dict[str, tuple[Column, ...]]] = {
    "exchanges": EXCHANGES,
    "inside": INSIDE,
    "errors": ERRORS,
    "connections": CONNECTIONS,
    "notes": NOTES,
    "quality": QUALITY,
    "packets": WRITTEN,
    "frames": FRAMES,
}
"""By name; exchanges have `body` after their columns."""

FOLDERS: Final = ("capture", "day")
"""Columns by whose values the files of exchanges are in folders; other tables are in folders by capture only.
"""

ORDER: Final = ("api", "ts_ns")
"""Columns by which the exchanges of a file are sorted: a query for one API skips row groups of others."""


def folders_of(table: str) -> tuple[str, ...]:
    """Return the columns by whose values the files of a table are in folders."""
    return FOLDERS if table == "exchanges" else FOLDERS[:1]


def columns_of(table: str) -> tuple[Column, ...]:
    """Return the columns of a table without VARIANT: bodies are JSON text."""
    return (*TABLES[table], BODY_JSON) if table == "exchanges" else TABLES[table]


def ddl_of(table: str) -> str:
    """Return all columns of a table as Spark's DDL. Raises LookupError for an unknown table."""
    after = f", `body` variant, {ddl((BODY_JSON,))}" if table == "exchanges" else ""
    return ddl(TABLES[table]) + after


def filed_columns(table: str) -> tuple[Column, ...]:
    """Return the columns in a table's files: all but `capture`, which is in the name of their folder."""
    return tuple(column for column in TABLES[table] if column.name != "capture")
