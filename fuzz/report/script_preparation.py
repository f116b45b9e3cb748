"""The part of a script that makes what a finding needs on a fresh broker: the topic, and coordinators.

Each request goes to the broker before the first case, on its own connection, until it succeeds. A broker
without the API or version refuses it, and the script goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from barnabas.fuzz.sessions.session import TOPIC
from barnabas.specs import Frame, encode_frame
from barnabas.specs.keys import CREATE_TOPICS, FIND_COORDINATOR

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
        request = _request(CREATE_TOPICS, _TOPIC_VERSION, _TOPIC_BODY)
        yield _call(f"the topic {TOPIC}", request, _TOPIC_ERROR_AT, (0, _ALREADY_EXISTS))
    if in_session:
        for name, key_type in _COORDINATORS:
            body = {"key": "fuzz-group", "key_type": key_type}
            request = _request(FIND_COORDINATOR, _COORDINATOR_VERSION, body)
            yield _call(name, request, _COORDINATOR_ERROR_AT, (0,))


def _request(key: int, version: int, body: dict[str, Any]) -> bytes:
    header = {"correlation_id": 0, "client_id": "barnabas"}
    return encode_frame(Frame("request", key, version, header, body))


def _call(name: str, request: bytes, error_at: int, fine: Sequence[int]) -> str:
    return f'prepare(where, "{name}", "{request.hex()}", {error_at}, {tuple(fine)})'
