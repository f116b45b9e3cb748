"""What a request must be to be one that no layout reads."""

from __future__ import annotations

import pytest

from barnabas.fuzz.observations.exchanges import wrong_request
from barnabas.fuzz.observations.requests import parse_requests
from barnabas.specs.keys import METADATA, PRODUCE
from tests.fuzz.observed import ASK, request

PLAIN = request(METADATA, 9, {"topics": [{"name": "t"}]})
NONE = b"\xff\xff\xff\xff\x0f"
"""-1 as an unsigned varint."""


def problem(frame: bytes) -> object:
    sized = (len(frame) - 4).to_bytes(4, "big") + frame[4:]
    return wrong_request(sized[4:], parse_requests((sized,)).requests[0])


def test_a_number_of_tags_below_zero_is_none() -> None:
    assert PLAIN.endswith(b"\0")
    header = 14 + int.from_bytes(PLAIN[12:14], "big", signed=True)
    assert PLAIN[header] == 0
    body = PLAIN[:-1] + NONE
    assert problem(body) is None
    assert problem(body[:header] + NONE + body[header + 1 :]) is None


@pytest.mark.parametrize("count", [b"\xff\xff\xff\xff\xff\x0f", b"\xff\xff\xff\xff\x07", b"\x05"])
def test_too_many_tags_are_not(count: bytes) -> None:
    assert problem(PLAIN[:-1] + count) is not None


QUIET = request(PRODUCE, 3, {"acks": 0, "timeout_ms": 1, "topic_data": []})


@pytest.mark.parametrize(
    ("chunks", "answers", "rest"),
    [
        ((ASK,), 1, ""),
        ((ASK, ASK), 2, ""),
        ((ASK + QUIET,), 1, ""),
        ((ASK[:-1],), 0, "partial"),
        ((ASK + b"\0\0",), 1, "partial"),
        ((b"\xff\xff\xff\xff" + ASK[4:],), 0, "nonsense"),
        ((b"\x7f\xff\xff\xff" + ASK[4:],), 0, "nonsense"),
        ((b"\0\0\0\x02ab",), 1, ""),
    ],
)
def test_what_a_broker_is_asked(chunks: tuple[bytes, ...], answers: int, rest: str) -> None:
    found = parse_requests(chunks)
    assert (found.answers, found.rest) == (answers, rest)
