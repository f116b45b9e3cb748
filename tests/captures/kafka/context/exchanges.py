"""Make exchanges of field values, for tests of the context."""

from __future__ import annotations

import gzip
import json
import uuid
from collections.abc import Iterator
from typing import Any

from barnabas.captures.kafka.context import Context
from barnabas.captures.kafka.exchange import Exchange
from barnabas.captures.kafka.log_line import details
from barnabas.specs.frames import Direction
from barnabas.specs.registry import api
from tests.places import GOLDEN

ORDERS = uuid.UUID("6d1f0c38-3a8e-4a8c-9d3e-2f6f5a3c1b7e")
CLICKS = uuid.UUID("0b5ad3c1-61a5-4d4f-9f5e-2d0f4a7b9c11")

Body = dict[str, Any] | None


def exchange(
    name: str, version: int, request: Body, response: Body = None, *, broker: int | None = 1
) -> Exchange:
    """Make an exchange with these bodies; None: the body is unavailable."""
    declared = api(name)
    sent = None if request is None else declared.request.codec(version).encode(request)
    came = None if response is None else declared.response.codec(version).encode(response)
    return Exchange(
        *(0, 1, "a:1", "app", broker, declared.key, version, 1, 10),
        request_body=sent,
        response_body=came,
    )


def line(context: Context, found: Exchange) -> str:
    """Return the log line of an exchange after the context has learned from it."""
    context.learn(found)
    return details(found, context)


def metadata(**topics: uuid.UUID) -> Exchange:
    """Make a Metadata exchange with the ids of topics."""
    found = [{"name": name, "topic_id": topic} for name, topic in topics.items()]
    return exchange("Metadata", 12, {"topics": None}, {"topics": found})


def golden() -> Iterator[tuple[Direction, Exchange]]:
    """Each request and response that Apache Kafka has written, as half of an exchange."""
    with gzip.open(GOLDEN / "golden-a.jsonl.gz", "rt") as lines:
        for frame in map(json.loads, lines):
            if frame["key"] >= 0:
                one = Exchange(0, 1, "a:1", None, 1, frame["key"], frame["version"], 1, 10)
                setattr(one, f"{frame['direction']}_body", bytes.fromhex(frame["hex"]))
                yield frame["direction"], one
