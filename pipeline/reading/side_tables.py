"""The rows of the smaller tables: errors, connections, notes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from barnabas.pipeline.reading.facts import Facts
from barnabas.pipeline.reading.plan import Plan
from barnabas.pipeline.reading.shortfalls import forgotten
from barnabas.pipeline.rows.columns import Column

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
    Column("said", "string", "what a capture of ours says of it, as JSON"),
)
"""One row a connection."""

NOTES: Final = (
    Column("capture", "string", "name of the capture"),
    Column("ts", "timestamp", "when; null: not said"),
    Column(
        "kind",
        "string",
        "section (what a capture of ours says of itself), scenario, lost, text ...",
    ),
    Column("said", "string", "the remark, as JSON: a scenario, what the writer lost ..."),
)
"""What captures of ours say of themselves, and remarks on the whole capture."""


def error_row(said: Mapping[str, Any], connection: int | None, capture: str) -> dict[str, Any]:
    """A row of ERRORS out of what event_rows.py says. connection: its number in the table."""
    return {
        **dict.fromkeys(("file", "offset", "bytes", "direction", "ts_ns", "packet")),
        **said,
        "capture": capture,
        "connection": connection,
    }


def forgotten_rows(facts: Facts, capture: str) -> list[dict[str, Any]]:
    """A row of ERRORS if names that flows had learnt were too many."""
    lost = {"capture": capture, "kind": "forgotten", "reason": forgotten(facts.forgotten)}
    return [lost] if facts.forgotten else []


def fault_rows(made: Plan, capture: str) -> list[dict[str, Any]]:
    """Rows of ERRORS for what could not be read of the files."""
    return [
        error_row({"file": path, **fault._asdict()}, None, capture) for path, fault in made.faults
    ]


def connection_row(said: Mapping[str, Any], connection: int, capture: str) -> dict[str, Any]:
    """A row of CONNECTIONS out of what event_rows.py says. connection: its number in the table."""
    comment = said["comment"]
    return {
        "closed_ns": None,
        "reset": None,
        **said,
        "capture": capture,
        "connection": connection,
        "said": json.dumps(comment) if comment else None,
    }


def note_row(ts_ns: int, said: Mapping[str, Any], capture: str) -> dict[str, Any]:
    """A row of NOTES. ts_ns: 0 if nobody says when."""
    return {
        "capture": capture,
        "ts": datetime.fromtimestamp(ts_ns / 1e9, UTC) if ts_ns else None,
        "kind": str(said.get("barnabas", "text")),
        "said": json.dumps(said),
    }


def note_rows(made: Plan, capture: str) -> list[dict[str, Any]]:
    """Rows of NOTES."""
    return [note_row(ts_ns, said, capture) for ts_ns, said in made.notes]
