"""The clients that write and read each topic."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from barnabas.captures.kafka.wording import size
from barnabas.pipeline.report.grouping import grouped, present
from barnabas.pipeline.report.parts import STATEMENTS, Content, Row, Statement, table_of
from barnabas.pipeline.report.wording import client, listed, percent


def draw(clients: Sequence[Row]) -> Content:
    """Draw a table with a row for each client of a topic."""
    by_topic = grouped(clients, itemgetter("topic"))
    several = [topic for topic, rows in by_topic.items() if len(_names(rows, "write")) > 1]
    statements = [
        Statement("warning", _text(topic, by_topic[topic]), by_topic[topic])
        for topic in several[:STATEMENTS]
    ]
    table = table_of(
        clients,
        "topic, access, client_id, user, host, groups, partitions, records, bytes, share, start, "
        "end",
        {"bytes": size, "share": percent},
    )
    return Content(statements, tables=[table])


def _names(clients: Sequence[Row], access: str) -> list[str]:
    """Return the clients that write or read, each once, with their share of the bytes if it is known."""
    by_client = grouped((row for row in clients if row["access"] == access), client)
    return [
        f"{name} ({percent(sum(present(rows, 'share')))})" if present(rows, "bytes") else name
        for name, rows in by_client.items()
    ]


def _text(topic: str, clients: Sequence[Row]) -> str:
    written = sum(row["bytes"] for row in clients if row["access"] == "write")
    writers, readers = _names(clients, "write"), _names(clients, "read")
    text = f"{topic} has {len(writers)} writers: {listed(writers)} of {size(written)}"
    return f"{text}; read by {listed(readers)}" if readers else text
