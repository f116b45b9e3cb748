"""The rows of the smaller tables (errors, connections, notes), and the reasons in the errors table."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from barnabas.captures.kafka.conversations import Conversations
from barnabas.pipeline.reading.facts import Facts
from barnabas.pipeline.reading.paths import SKIPPED
from barnabas.pipeline.rows.columns import Column
from barnabas.plural import plural


class Shortfall(NamedTuple):
    """Data of a connection that could not be read: the reason in a line, and bytes (None: unknown)."""

    kind: str
    reason: str
    bytes: int | None


def missing_reason(size: int) -> str:
    """Return the reason for missing bytes; 0 means that their number is unknown.

    >>> missing_reason(7), missing_reason(0)
    ('7 bytes are missing', 'the beginning of the connection was not captured')
    """
    if not size:
        return "the beginning of the connection was not captured"
    return f"{size} bytes are missing"


def shortfalls(conversations: Conversations, undecoded: int, skipped: int) -> Iterator[Shortfall]:
    """Yield the shortfalls of a connection that has just ended, given the earlier counts."""
    count = conversations.undecoded - undecoded
    if count:
        reason = f"{plural(count, 'frame')} of unknown APIs, without a header, or without a request"
        yield Shortfall("undecoded", reason, None)
    size = conversations.skipped - skipped
    if size:
        yield Shortfall("skipped", f"{plural(size, 'byte')} in which no frame was found", size)


CONNECTIONS: Final = (
    Column("capture", "string", "name of the capture"),
    Column("connection", "bigint", "its number within its capture, as in exchanges"),
    Column("client_address", "string", "the client's ip:port"),
    Column("server_address", "string", "where it connected, as ip:port"),
    Column("opened_ns", "bigint", "when it was opened, or its first packet, ns since the epoch"),
    Column("closed_ns", "bigint", "when it was closed; null: not within the capture"),
    Column("reset", "boolean", "whether it was reset; null: it was not closed"),
    Column("whole", "boolean", "whether the capture has its beginning"),
    Column("broker", "int", "node id of the broker, if the capture itself names it"),
    Column("said", "string", "what a capture of the proxy notes about it, as JSON"),
)
"""One row a connection."""

NOTES: Final = (
    Column("capture", "string", "name of the capture"),
    Column("ts", "timestamp", "when; null: not known"),
    Column("kind", "string", "section (notes of the proxy's capture about itself), scenario, "
        "lost, text ..."),
    Column("said", "string", "the remark, as JSON: a scenario, what the writer lost ..."),
)  # fmt: skip
"""Metadata of the proxy's captures, and remarks on the whole capture."""


def error_row(details: Mapping[str, Any], connection: int | None, capture: str) -> dict[str, Any]:
    """Return a row of ERRORS from the details in event_rows.py. `connection` is its number in the table."""
    return {
        **dict.fromkeys(("file", "offset", "bytes", "direction", "ts_ns", "packet")),
        **details,
        "capture": capture,
        "connection": connection,
    }


def fault_rows(facts: Facts, capture: str) -> list[dict[str, Any]]:
    """Return rows of ERRORS for what could not be read."""
    return [error_row(fault, None, capture) for fault in facts.faults]


def skipped_rows(skipped: Mapping[Path, str], capture: str) -> list[dict[str, Any]]:
    """Return rows of ERRORS for files that were left out. skipped: the reason by file."""
    return [
        error_row({"kind": SKIPPED, "file": str(path), "reason": reason}, None, capture)
        for path, reason in skipped.items()
    ]


def connection_row(details: Mapping[str, Any], connection: int, capture: str) -> dict[str, Any]:
    """Return a row of CONNECTIONS from the details in event_rows.py.

    `connection` is its number in the table.
    """
    comment = details["comment"]
    return {
        "closed_ns": None,
        "reset": None,
        **details,
        "capture": capture,
        "connection": connection,
        "said": json.dumps(comment) if comment else None,
    }


def note_row(ts_ns: int, content: Mapping[str, Any], capture: str) -> dict[str, Any]:
    """Return a row of NOTES. A `ts_ns` of 0 means that the time is unknown."""
    return {
        "capture": capture,
        "ts": datetime.fromtimestamp(ts_ns / 1e9, UTC) if ts_ns else None,
        "kind": str(content.get("barnabas", "text")),
        "said": json.dumps(content),
    }


def note_rows(facts: Facts, capture: str) -> list[dict[str, Any]]:
    """Return the rows of NOTES."""
    return [note_row(ts_ns, content, capture) for ts_ns, content in facts.notes]
