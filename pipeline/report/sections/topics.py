"""The clients that write and read each topic."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from barnabas.captures.kafka.wording import size
from barnabas.pipeline.report.marks import together
from barnabas.pipeline.report.parts import Content, Results, Row, Statement, Table, rows
from barnabas.pipeline.report.wording import listed, name

MOST: Final = 3
"""The most topics in statements: those with the most bytes."""


def draw(results: Results) -> Content:
    """Draw a table with a row for each client of a topic."""
    clients = sorted(rows(results, "topics"), key=lambda row: -row["bytes"])
    by_topic: defaultdict[str, list[Row]] = defaultdict(list)
    for row in clients:
        by_topic[row["topic"]].append(row)
    several = [topic for topic, of in by_topic.items() if len(_names(of, "write")) > 1]
    statements = [
        Statement("odd", _text(topic, by_topic[topic]), together(by_topic[topic]))
        for topic in several[:MOST]
    ]
    columns = {
        "topic": "topic",
        "access": "access",
        "client_id": "client",
        "user": "user",
        "host": "host",
        "groups": "groups",
        "partitions": "partitions",
        "records": "records",
        "bytes": "bytes",
        "share": "share",
        "start": "from",
        "end": "until",
    }
    formats = {"bytes": size, "share": _percent}
    return Content(statements, tables=[Table(columns, clients, formats)])


def _names(clients: Sequence[Row], access: str) -> list[str]:
    """Return the clients that write or read, each once, with their share of the bytes."""
    shares: defaultdict[str, float] = defaultdict(float)
    for row in clients:
        if row["access"] == access:
            shares[name(row["client_id"])] += row["share"] or 0
    return [f"{client} ({_percent(share)})" for client, share in shares.items()]


def _text(topic: str, clients: Sequence[Row]) -> str:
    written = sum(row["bytes"] for row in clients if row["access"] == "write")
    writers, readers = _names(clients, "write"), _names(clients, "read")
    text = f"{topic} has {len(writers)} writers: {listed(writers)} of {size(written)}"
    return f"{text}; read by {listed(readers)}" if readers else text


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"
