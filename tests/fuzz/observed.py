"""Observations of brokers, written down: what tests of oracles judge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from barnabas.fuzz.cases.case import Case, Change, Recipe, Seed
from barnabas.fuzz.cases.observation import Observation
from barnabas.specs import Frame, encode_frame
from barnabas.specs.keys import METADATA


def request(key: int, version: int, body: Mapping[str, Any], correlation_id: int = 7) -> bytes:
    """A request with its size."""
    header = {
        "request_api_key": key,
        "request_api_version": version,
        "correlation_id": correlation_id,
        "client_id": "t",
    }
    return encode_frame(Frame("request", key, version, header, dict(body)))


def response(key: int, version: int, body: Mapping[str, Any], correlation_id: int = 7) -> bytes:
    """A response without its size."""
    header = {"correlation_id": correlation_id}
    return encode_frame(Frame("response", key, version, header, dict(body)))[4:]


ASK: Final = request(METADATA, 1, {"topics": None})
"""For all topics."""


def case(*chunks: bytes, number: int = 0, mutator: str = "nulls") -> Case:
    data = chunks[0]
    key, version = int.from_bytes(data[4:6]), int.from_bytes(data[6:8])
    seed = Seed(key, version, "request", data[4:], "test")
    return Case(number, Recipe(seed, (Change(mutator, "topics", 1),)), chunks)


def observed(sent: bytes, **seen: Any) -> Observation:
    """What was seen of a case that sent this."""
    return Observation(case(sent), (sent,), **seen)
