"""Committed offsets compared with fetches: offsets fetched twice, and skipped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from barnabas.pipeline.report.parts import Content, Row, Severity, Statement, table_of
from barnabas.pipeline.report.wording import listed, partition

SAYINGS: Final[tuple[tuple[str, Severity, str], ...]] = (
    ("gaps", "error", "offsets were skipped and never fetched in this capture"),
    ("refused", "warning", "commits of partitions, several in a request, were rejected"),
    ("duplicates", "warning", "offsets were fetched again"),
)
"""The columns that stand out if they are not 0, with what their sum means. Rewinds are left to the check."""


def draw(commits: Sequence[Row]) -> Content:
    """Draw a table with a row for each group and partition."""
    statements = [
        Statement(severity, _text(column, text, affected), affected)
        for column, severity, text in SAYINGS
        if (affected := [row for row in commits if row[column]])
    ]
    table = table_of(
        commits,
        "group, topic, partition, client_id, committed, fetched_to: fetched up to, "
        "lag: not committed, duplicates: again, gaps: skipped, refused: commits rejected, "
        "fenced: transactions fenced, rewinds: commits backwards",
    )
    return Content(statements, tables=[table])


def _text(column: str, text: str, affected: Sequence[Row]) -> str:
    partitions = listed(f"{partition(row)} ({row['group']})" for row in affected)
    return f"{sum(row[column] for row in affected):,} {text}: {partitions}"
