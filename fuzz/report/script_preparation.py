"""The part of a script that makes what a finding needs on a fresh broker: the topic, and coordinators.

Each request goes to the broker before the first case, on its own connection, until it succeeds. If the broker
refuses it, the script goes on; without the topic it does not conclude that the finding is not shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from barnabas.fuzz.sessions.session import TOPIC
from barnabas.specs import Frame, encode_frame
from barnabas.specs.keys import CREATE_TOPICS, FIND_COORDINATOR, METADATA

_TOPIC_BODY: Final[dict[str, Any]] = {
    "topics": [
        {
            "name": TOPIC,
            "num_partitions": 1,
            "replication_factor": 1,
            "assignments": [],
            "configs": [],
        }
    ],
    "timeout_ms": 5000,
    "validate_only": False,
}
_TOPIC_VERSION: Final = 2
"""Kafka 1.0 and all later releases have it."""
_TOPIC_ERROR_AT: Final = 4 + 4 + 4 + 2 + len(TOPIC)
"""Behind the correlation id, the throttle time, the number of topics, and the name."""

_METADATA_BODY: Final[dict[str, Any]] = {
    "topics": [{"name": TOPIC}],
    "allow_auto_topic_creation": True,
}
_METADATA_VERSION: Final = 4
"""The oldest with a wish to create topics; brokers that have no CreateTopics may create them so."""

_ALREADY_EXISTS: Final = 36
"""TOPIC_ALREADY_EXISTS."""

_COORDINATORS: Final = (("a coordinator of groups", 0), ("a coordinator of transactions", 1))
_COORDINATOR_VERSION: Final = 1
_COORDINATOR_ERROR_AT: Final = 4 + 4


def preparation(chunks: Sequence[bytes], *, in_session: bool) -> Iterator[str]:
    """Yield the lines of the script, without indentation; none if the cases need nothing.

    Args:
        chunks: The chunks of all cases.
        in_session: Whether a session leads to a case.
    """
    if in_session or any(TOPIC.encode() in chunk for chunk in chunks):
        create = _request(CREATE_TOPICS, _TOPIC_VERSION, _TOPIC_BODY)
        ask_for = _request(METADATA, _METADATA_VERSION, _METADATA_BODY)
        named = len(TOPIC).to_bytes(2) + TOPIC.encode()
        created = (create.hex(), _TOPIC_ERROR_AT, (0, _ALREADY_EXISTS))
        yield f"missing = {_call(f'the topic {TOPIC}', created, (ask_for.hex(), named, (0,)))}"
    if in_session:
        for name, key_type in _COORDINATORS:
            body = {"key": "fuzz-group", "key_type": key_type}
            request = _request(FIND_COORDINATOR, _COORDINATOR_VERSION, body)
            yield _call(name, (request.hex(), _COORDINATOR_ERROR_AT, (0,)))


def _request(key: int, version: int, body: dict[str, Any]) -> bytes:
    header = {"correlation_id": 0, "client_id": "barnabas"}
    return encode_frame(Frame("request", key, version, header, body))


def _call(name: str, *requests: tuple[str, int | bytes, tuple[int, ...]]) -> str:
    return f"prepare(where, {', '.join(map(repr, (name, *requests)))})"
