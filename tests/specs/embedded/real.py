"""What real brokers wrote and real clients sent: tests/golden/inside.jsonl, line by line."""

from __future__ import annotations

import json
from typing import Any

from tests.places import GOLDEN

Line = dict[str, Any]

with (GOLDEN / "inside.jsonl").open() as lines:
    LINES: list[Line] = [json.loads(line) for line in lines]

BATCHES = [line for line in LINES if line["kind"] == "batch"]
"""A batch of records, and what Kafka's own classes read in it."""

MESSAGES = [line for line in LINES if line["kind"] == "message"]
"""What a Java class wrote that is not made from a definition."""

FRAMES = [line for line in LINES if line["kind"] == "frame"]
"""The body of a frame that passed between a client and a broker."""


SUBSCRIPTION = bytes.fromhex("0000 00000001 000174 ffffffff")
"""A consumer's subscription in version 0: to a topic t, without user data."""


def name(line: Line) -> str:
    if line["kind"] == "frame":
        return f"{line['client']} {line['group']} {line['api']} {line['direction']}"
    return str(line.get("topic") or f"{line['message']} v{line['version']}")


def frame(group: str | None, api: str, direction: str) -> Line:
    (found,) = (
        line
        for line in FRAMES
        if (line["group"], line["api"], line["direction"]) == (group, api, direction)
    )
    return found


def batches(topic: str) -> bytes:
    """All batches of a topic, one behind the other, as Fetch has them."""
    return b"".join(bytes.fromhex(line["hex"]) for line in BATCHES if line["topic"] == topic)


def topics(found: dict[str, Any], field: str) -> list[tuple[str, list[int]]]:
    """The partitions of a revealed subscription or assignment, by topic."""
    partitions = found["values"][field]
    return [(t["topic"], t["partitions"]) for t in partitions]
